"""`PLIMSOLL_DISABLE`: what the user has switched off, by name."""

import os

DISABLE = "PLIMSOLL_DISABLE"


def disabled() -> set[str]:
    """Rules of algebra by name, and "kernels"."""
    return {name.strip() for name in os.environ.get(DISABLE, "").split(",") if name.strip()}
