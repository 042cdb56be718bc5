"""Limits as people write them, and the one that is in force.

The narrowest scope wins: `plimsoll.jit` and `plimsoll.memory_limit` over `set_memory_limit`, that
over the environment variable, and that over what the device has.
"""

import os
import re
from dataclasses import dataclass, field

from plimsoll.errors import PlimsollError
from plimsoll.log import warn_once
from plimsoll.units import byte_text

ENVIRONMENT_VARIABLE = "PLIMSOLL_MEMORY_LIMIT"
ALLOCATOR_BLOCK = 2**21

_UNITS = {"": 1, "b": 1}
for _power, _letter in enumerate("kmgtpe", start=1):
    _UNITS |= {
        _letter: 1000**_power,
        f"{_letter}b": 1000**_power,
        f"{_letter}i": 1024**_power,
        f"{_letter}ib": 1024**_power,
    }
_SIZE = re.compile(r"([0-9]+\.?[0-9]*(?:e\+?[0-9]+)?|\.[0-9]+(?:e\+?[0-9]+)?)\s*([a-z]*|%)")
_EXPECTED = "expected a size such as 2GiB, 500MB, 1.5e9 or 75%"


@dataclass(frozen=True)
class Limit:
    """A limit as it was asked for. Two are equal if they allow the same."""

    bytes: int | None
    """How much is allowed on each device; None if it is a share of the device, or no limit."""
    percent: float | None
    """The share of what the device has; None if the limit is a number of bytes, or no limit."""
    text: str = field(compare=False)
    """As the user wrote it."""
    origin: str = field(compare=False)
    """Where it comes from, for messages."""

    @property
    def key(self) -> str:
        """What of it decides how a program is compiled."""
        if self.bytes is not None:
            return str(self.bytes)
        return "none" if self.percent is None else f"{self.percent!r}%"

    def __str__(self) -> str:
        return f"{self.origin}={self.text}"


UNLIMITED = Limit(None, None, "none", "plimsoll.inspect")


def parse_limit(value: str | int | float, origin: str) -> Limit:
    """Reads a limit: a number of bytes, or text such as "2GiB", "500MB", "1.5e9" or "75%"."""
    # A bool is an int to Python, and certainly a mistake here.
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _bad_limit(origin, f"{_EXPECTED}, found {value!r}")
    text = value.strip() if isinstance(value, str) else repr(value)
    found = _SIZE.fullmatch(text.lower())
    if found is None or (found[2] != "%" and found[2] not in _UNITS):
        is_negative = text.startswith("-")
        raise _bad_limit(
            origin,
            f"a limit cannot be negative, found {text}"
            if is_negative
            else f"{_EXPECTED}, found {text!r}",
        )
    number = float(found[1])
    if found[2] == "%":
        if not 0 < number <= 100:
            raise _bad_limit(origin, f"a share must be more than 0% and at most 100%, found {text}")
        return Limit(None, number, text, origin)
    # Whole numbers are exact, whatever their size.
    size = int(found[1]) if found[1].isdecimal() else number
    if size * _UNITS[found[2]] >= 2**63:
        raise _bad_limit(origin, f"{text} is more than any device has")
    size = int(size * _UNITS[found[2]])
    if size == 0:
        raise _bad_limit(origin, f"a limit of nothing leaves no room for anything, found {text}")
    return Limit(size, None, text, origin)


def _bad_limit(origin: str, message: str) -> PlimsollError:
    return PlimsollError("PL204", f"{origin}: {message}")


def environment_limit() -> Limit | None:
    """The limit in the environment variable; None if there is none."""
    text = os.environ.get(ENVIRONMENT_VARIABLE, "").strip()
    return parse_limit(text, ENVIRONMENT_VARIABLE) if text else None


@dataclass(frozen=True)
class Allowance:
    """What a limit comes to on one device."""

    bytes: int
    limit: Limit | None
    """The limit that was asked for; None if it is what the device has."""

    def __str__(self) -> str:
        if self.limit is None:
            return f"{byte_text(self.bytes)} (what the device has)"
        return f"{byte_text(self.bytes)} ({self.limit})"


def allowance_on(
    limit: Limit | None, total: int | None, allocator: int | None = None
) -> Allowance | None:
    """What `limit` comes to on a device that has `total` bytes, of which its allocator may take
    `allocator`, as far as these are known. None if nothing is known to stop at.
    """
    if limit == UNLIMITED:
        return None
    known = [size for size in (total, allocator) if size is not None]
    most = min(known, default=None)
    if limit is None:
        return None if most is None else Allowance(most, None)
    if limit.bytes is not None:
        size = limit.bytes
    elif total is not None:
        size = int(total * limit.percent / 100)
    else:
        warn_once(f"{limit}: it is not known what the device has, so there is no limit")
        return None
    if most is not None and size > most:
        # XLA's allocator has whole blocks, of the limit that it was given itself too.
        if size - most > ALLOCATOR_BLOCK:
            warn_once(
                f"{limit} is more than the {byte_text(most)} that the device has; the limit is what"
                " it has"
            )
        return Allowance(most, limit)
    return Allowance(size, limit)


def warn_if_wider(inner: Limit, outer: Limit | None) -> None:
    """Says once that a narrower scope allows more than the one around it."""
    if outer is None or inner.bytes is None or outer.bytes is None or inner.bytes <= outer.bytes:
        return
    warn_once(f"{inner} is more than {outer} around it; the narrower scope wins")
