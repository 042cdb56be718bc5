"""Streaming kernels: XLA calls them where a plan has put them."""

import functools
import os

from plimsoll._native import lib
from plimsoll.log import logger

# Kernels are used if this is 1. They are new, and the choice between them and loops is not measured
# yet.
KERNELS = "PLIMSOLL_KERNELS"
# What the core calls the kernels (kernels/insert_kernels.h).
_TARGET = "plimsoll_kernel"


def are_there(platform: str) -> bool:
    """True if programs may call kernels; XLA knows them from then on."""
    return platform == "cpu" and os.environ.get(KERNELS) == "1" and _register()


def options(platform: str) -> dict[str, int]:
    """What the planner takes: how many threads kernels run on, if there are kernels at all."""
    return {"kernel_threads": len(os.sched_getaffinity(0))} if are_there(platform) else {}


def key() -> str:
    """What of it belongs into the persistent cache's key."""
    return os.environ.get(KERNELS, "")


@functools.cache
def _register() -> bool:
    """Tells XLA where the kernels are; False if this JAX has no such way."""
    from jax import ffi

    try:
        capsule = ffi.pycapsule(lib.plimsoll_kernel_handler)
        ffi.register_ffi_target(_TARGET, capsule, platform="cpu")
    except Exception as error:
        logger.debug("no kernels: %s: %s", type(error).__name__, error)
        return False
    return True
