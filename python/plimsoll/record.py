"""The record of all compilations of this process: `plimsoll.report()`."""

import atexit
import collections
import contextlib
import fcntl
import json
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from plimsoll.log import logger
from plimsoll.need import Need
from plimsoll.show import count_text, section
from plimsoll.units import byte_text

# A process that compiles for days must not fill its memory with records of it.
_MOST_RECORDS = 10_000


@dataclass(frozen=True)
class Compilation:
    """One program that was compiled, or refused."""

    name: str
    """The module's name, such as "jit_step"."""
    source: str
    """The user's own line that made JAX compile it, such as "train.py:41"; "" if unknown."""
    platform: str
    need: Need | None
    """What it needs on each device; None if XLA does not say, or was not asked."""
    before: Need | None
    """What it needed as JAX made it; None if it was not cut."""
    at_most: int | None
    """No less than what it needs on each device: where that fits, XLA is not asked, because it
    takes long to answer for a large program. None if it is not known."""
    held: int | None
    """What the process held on the device besides the arguments; None if it was not looked at,
    because even all that the process holds would have left room."""
    allowed: int | None
    """What was allowed; None if nothing is known that would limit it."""
    limit: str | None
    """The limit that was asked for and where; None if it is what the device has."""
    is_changed: bool
    """True if XLA got another program than JAX made."""
    is_refused: bool
    """True if it was over the limit."""
    from_cache: bool
    """True if it came from JAX's persistent cache."""
    compilations: int
    """How often XLA compiled it or an attempt to make it fit."""
    plan: dict[str, Any] | None
    """What was cut and what could not be; None if nothing was tried."""
    simplification: dict[str, Any] | None
    """What algebra did to make it faster; None if that was not asked for."""
    seconds: float
    """The time that Plimsoll took for it, without XLA's."""

    def as_json(self) -> dict[str, Any]:
        fields = asdict(self)
        for name in ("need", "before"):
            if fields[name] is not None:
                fields[name]["total"] = getattr(self, name).total
        return fields


class Report(Sequence[Compilation]):
    """All compilations so far, oldest first. As text it is a table."""

    def __init__(self, compilations: Sequence[Compilation], count: int):
        self._compilations = compilations
        self.forgotten = count - len(compilations)
        """How many older ones are not kept."""

    def __getitem__(self, index):
        return self._compilations[index]

    def __len__(self) -> int:
        return len(self._compilations)

    def as_json(self) -> dict[str, Any]:
        return {
            "process": os.getpid(),
            "command": sys.argv,
            "forgotten": self.forgotten,
            "compilations": [compilation.as_json() for compilation in self],
        }

    def __str__(self) -> str:
        rows = [("program", "needs", "allowed", "changed", "time", "line")]
        for one in self:
            changed = "refused" if one.is_refused else "yes" if one.is_changed else "no"
            need = byte_text(one.need.total if one.need else one.at_most)
            rows.append(
                (
                    one.name,
                    need if one.need or not one.at_most else f"< {need}",
                    byte_text(one.allowed),
                    changed,
                    f"{one.seconds * 1e3:.2f} ms",
                    one.source,
                )
            )
        return section(count_text(len(self), "compilation"), rows if self else [], "lrrlrl")


_compilations: collections.deque[Compilation] = collections.deque(maxlen=_MOST_RECORDS)
_count = 0


_thread = threading.local()


def add(compilation: Compilation) -> None:
    global _count
    _count += 1
    _compilations.append(compilation)
    for seen in getattr(_thread, "watchers", []):
        seen.append(compilation)


@contextlib.contextmanager
def watched() -> Iterator[list[Compilation]]:
    """Gives the list of what this thread compiles inside."""
    seen: list[Compilation] = []
    if not hasattr(_thread, "watchers"):
        _thread.watchers = []
    _thread.watchers.append(seen)
    try:
        yield seen
    finally:
        _thread.watchers.remove(seen)


def is_wanted() -> bool:
    """True if the user asked for the report, and with it for what each program needs."""
    return "PLIMSOLL_REPORT" in os.environ or os.environ.get("PLIMSOLL_EXPLAIN") == "1"


def report() -> Report:
    """The record of all compilations of this process so far."""
    return Report(list(_compilations), _count)


def _forget() -> None:
    global _count
    _compilations.clear()
    _count = 0


@contextlib.contextmanager
def _locked(path: str) -> Iterator[Any]:
    with open(path, "a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file


def write(path: str) -> None:
    """Adds this process's report to the file `path`, which other processes may write to as well."""
    with _locked(path) as file:
        file.seek(0)
        text = file.read()
        processes = json.loads(text)["processes"] if text.strip() else []
        processes.append(report().as_json())
        file.seek(0)
        file.truncate()
        json.dump({"processes": processes}, file, indent=1)
        file.write("\n")


def _at_exit() -> None:
    if path := os.environ.get("PLIMSOLL_REPORT"):
        try:
            write(path)
        except (OSError, ValueError, KeyError) as error:
            logger.error(f"the report {path} cannot be written: {error}")
    if os.environ.get("PLIMSOLL_EXPLAIN") == "1":
        print(report(), file=sys.stderr)


atexit.register(_at_exit)
# A fork has compiled nothing yet.
os.register_at_fork(after_in_child=_forget)
