"""Streaming kernels: XLA calls them where a plan has put them."""

import functools
import json
import os
from typing import Any

from plimsoll import switches
from plimsoll._native import check, lib, take_string
from plimsoll.errors import PlimsollError
from plimsoll.log import logger

# What switches them off in PLIMSOLL_DISABLE.
NAME = "kernels"
# What the core calls the kernels (kernels/insert_kernels.h).
_TARGET = "plimsoll_kernel"


def are_there(platform: str) -> bool:
    """True if programs may call kernels; XLA knows them from then on."""
    return platform == "cpu" and NAME not in switches.disabled() and _register()


def options(platform: str) -> dict[str, int]:
    """What the planner takes: how many threads kernels run on, if there are kernels at all."""
    if not are_there(platform):
        return {}
    _calibrate()
    return {"kernel_threads": len(os.sched_getaffinity(0))}


def made() -> list[dict[str, Any]]:
    """The kernels of this process: "program", "seconds" of making its code, "from_disk"."""
    return _times()["made"]


def _times() -> dict[str, Any]:
    return json.loads(take_string(lib.plimsoll_kernel_times()))


def with_times(plan: dict[str, Any]) -> dict[str, Any]:
    """A plan or a simplification whose kernels have what they took, if they ran in this process."""
    times = {(time["program"], time["seconds"]): time for time in _times()["calls"]}
    kernels = []
    for kernel in plan["kernels"]:
        time = times.get((kernel["program"], kernel["seconds"]), {})
        kernels.append(
            kernel | {"calls": time.get("calls", 0), "measured_seconds": time.get("least_seconds")}
        )
    return plan | {"kernels": kernels}


@functools.cache
def _calibrate() -> None:
    """Estimates of time are those of this machine from now on."""
    try:
        check(lib.plimsoll_calibrate())
    except PlimsollError as error:
        logger.debug("the machine could not be measured: %s", error)


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
