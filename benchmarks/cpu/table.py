"""The rows of the table: the work, and how many times as fast as whom it shall be done."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

# In a quick run sizes of thousands are divided by this.
QUICK = 8
# Rows of a result that are compared with float64 where all of them would be too many.
COMPARED = 256


@dataclass(frozen=True)
class Work:
    # The ways in which people write it, the most exact first. With each, the fastest counts.
    forms: list[Callable]
    # NumPy's: nothing is on a device.
    arguments: list
    # From the arguments in float64 to the exact results or a part of them; None: the first form.
    exact: Callable | None = None
    # The part of the results that `exact` gives.
    part: Callable[[Any], Any] = lambda results: results


@dataclass(frozen=True)
class Row:
    name: str
    # What it is, for the table.
    title: str
    build: Callable[..., Work]
    # By whom the kernel is compared with: how many times as fast it shall be at least.
    goals: dict[str, float]
    sizes: dict[str, int] = field(default_factory=dict)
    # Another row, and how many times as fast as there the kernel shall be.
    against: tuple[str, float] | None = None
    # Sizes whose product is that of the value that must never be whole.
    never_whole: tuple[str, ...] = ()

    def built(self, is_quick: bool) -> Work:
        return self.build(**self._sizes(is_quick))

    def whole_bytes(self, is_quick: bool) -> int:
        """Of the value that must never be whole; 0 if there is none."""
        sizes = self._sizes(is_quick)
        if not self.never_whole:
            return 0
        return 4 * int(np.prod([sizes[name] for name in self.never_whole]))

    def _sizes(self, is_quick: bool) -> dict[str, int]:
        if not is_quick:
            return self.sizes
        return {name: size // QUICK if size >= 1000 else size for name, size in self.sizes.items()}


ROWS: dict[str, Row] = {}


def row(
    name: str,
    title: str,
    goals: dict[str, float],
    against: tuple[str, float] | None = None,
    never_whole: tuple[str, ...] = (),
    **sizes: int,
):
    """Adds a row that the decorated function builds from its sizes."""

    def add(build: Callable[..., Work]) -> Callable[..., Work]:
        if name in ROWS:
            raise ValueError(f"two rows are called {name}")
        ROWS[name] = Row(name, title, build, goals, sizes, against, never_whole)
        return build

    return add


def first_rows(results: Any) -> Any:
    """The rows that are compared, of a result or of each of several."""
    if isinstance(results, tuple):
        return tuple(one[:COMPARED] for one in results)
    return results[:COMPARED]
