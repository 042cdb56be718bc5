"""eXLA's flags, which XLA itself does not know and would end the process for.

They are taken out of XLA_FLAGS before XLA reads it, and kept in variables of Plimsoll's own.
"""

import os
import shlex
from collections.abc import MutableMapping

from plimsoll.errors import PlimsollError
from plimsoll.limits import parse_limit

VARIABLES = {
    "--xla_tensor_size_threshold": "PLIMSOLL_TENSOR_SIZE_THRESHOLD",
    "--xla_tensor_split_size": "PLIMSOLL_TENSOR_SPLIT_SIZE",
}
# What the planner calls them.
_BOUNDS = {
    "PLIMSOLL_TENSOR_SIZE_THRESHOLD": "most_value",
    "PLIMSOLL_TENSOR_SPLIT_SIZE": "most_chunk",
}


def take_own_flags(environment: MutableMapping[str, str] = os.environ) -> dict[str, str]:
    """Moves eXLA's flags from XLA_FLAGS to variables of our own, and returns those moved."""
    text = environment.get("XLA_FLAGS", "")
    if not any(flag in text for flag in VARIABLES):
        return {}
    taken = {}
    kept = []
    for word in shlex.split(text, posix=False):
        name, _, value = word.partition("=")
        if name not in VARIABLES:
            kept.append(word)
            continue
        _size(value, f"XLA_FLAGS: {name}")
        taken[VARIABLES[name]] = value
    environment["XLA_FLAGS"] = " ".join(kept)
    environment.update(taken)
    return taken


def bounds() -> dict[str, int]:
    """What our variables allow, for the planner: bytes of a single value and of a chunk."""
    found = {}
    for variable, name in _BOUNDS.items():
        if text := os.environ.get(variable, "").strip():
            found[name] = _size(text, variable)
    return found


def _size(text: str, origin: str) -> int:
    limit = parse_limit(text, origin)
    if limit.bytes is None:
        raise PlimsollError("PL204", f"{origin}: expected a size such as 500MB, found {text!r}")
    return limit.bytes
