"""The largest values that a compiled program really makes, in memory."""

import json
from typing import Any

from plimsoll._native import lib, take_string


def largest_values(executable: Any, count: int) -> list[dict[str, Any]]:
    """At most `count` values of a jaxlib LoadedExecutable, largest first.

    Each has "bytes", "type" ("f32[8,3]"), "op" (what makes it) and "source", the user's line or "".
    """
    modules = executable.hlo_modules()
    if not modules:
        return []
    text = modules[0].to_string().encode()
    return json.loads(take_string(lib.plimsoll_largest_values(text, len(text), count)))
