"""Compiling for a GPU under a limit.

XLA tries out kernels on the GPU while it compiles. That takes more memory than the program itself,
and where the allocator has less it fails with an error of XLA's own, after pages of its log. So a
program that may be over the limit is compiled without trying out anything first, and one for which
there is no room to try out kernels stays without.
"""

from collections.abc import Callable
from typing import Any

from plimsoll import roundtrip
from plimsoll.check import allowance_of
from plimsoll.compile_options import overriding
from plimsoll.errors import PlimsollError
from plimsoll.limits import Limit
from plimsoll.log import logger

_WITHOUT_TUNING = ("xla_gpu_autotune_level", "0")


def compile_within(
    compile_program: Callable[[], Any],
    options: Any,
    fits: Callable[[Any], bool],
    *,
    may_be_over: bool,
) -> Any:
    """The program as XLA compiles it, tuned if it fits and there is room for that.

    `options` are those that `compile_program` uses.
    """

    def compile_untuned() -> Any:
        with overriding(options, *_WITHOUT_TUNING):
            return compile_program()

    untuned = compile_untuned() if may_be_over else None
    if untuned is not None and not fits(untuned):
        return untuned
    try:
        tuned = compile_program()
    except Exception as error:
        # XLA's errors come as one kind; only their text tells them apart.
        if "RESOURCE_EXHAUSTED" not in str(error):
            raise
        logger.info(
            "a program is compiled without trying out kernels, which takes more than is allowed"
        )
        return untuned if untuned is not None else compile_untuned()
    return tuned if untuned is None or fits(tuned) else untuned


def may_be_over(backend: Any, module: Any, limit: Limit) -> bool:
    """True if a program could need more than `limit` on a device, by the sum of all its values."""
    devices = backend.local_devices()
    allowance = allowance_of(devices[0], limit) if devices else None
    if allowance is None:
        return False
    try:
        summary = roundtrip.graph_of(module).summary(0)
    except PlimsollError:
        # What the core cannot read may be anything.
        return True
    return bool(summary["unknown_sizes"]) or summary["total_bytes"] > allowance.bytes
