"""eXLA's flags, which XLA itself does not know and would end the process for.

They are taken out of XLA_FLAGS before XLA reads it, and kept in variables of Plimsoll's own.
"""

import os
import shlex
from collections.abc import MutableMapping

from plimsoll.limits import parse_limit

VARIABLES = {
    "--xla_tensor_size_threshold": "PLIMSOLL_TENSOR_SIZE_THRESHOLD",
    "--xla_tensor_split_size": "PLIMSOLL_TENSOR_SPLIT_SIZE",
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
        parse_limit(value, f"XLA_FLAGS: {name}")
        taken[VARIABLES[name]] = value
    environment["XLA_FLAGS"] = " ".join(kept)
    environment.update(taken)
    return taken
