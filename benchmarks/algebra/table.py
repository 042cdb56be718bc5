"""The tables of programs."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass

# In a quick run sizes are divided by this.
QUICK = 16


@dataclass(frozen=True)
class Program:
    name: str
    # From sizes to a function and its arguments, which are NumPy's: nothing is on a device.
    build: Callable[..., tuple[Callable, list]]
    # What it is, for the table.
    title: str
    group: str
    # The same function as one would write it by hand, whose error is the measure; None if what the
    # program says is that.
    by_hand: Callable | None = None

    def built(self, is_quick: bool) -> tuple[Callable, list]:
        sizes = {}
        if is_quick:
            parameters = inspect.signature(self.build).parameters.values()
            sizes = {one.name: -(-one.default // QUICK) for one in parameters}
        return self.build(**sizes)


PROGRAMS: dict[str, Program] = {}


def program(group: str, title: str, by_hand: Callable | None = None):
    """Adds the decorated function to the table, under its own name. Its parameters are sizes."""

    def add(build: Callable) -> Callable:
        name = build.__name__
        if name in PROGRAMS:
            raise ValueError(f"two programs are called {name}")
        PROGRAMS[name] = Program(name, build, title, group, by_hand)
        return build

    return add
