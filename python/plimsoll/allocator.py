"""The limit given to XLA's own allocator on GPUs, which then stops at it whatever happens."""

import ctypes
import os
from typing import Any

from plimsoll.limits import Limit
from plimsoll.log import logger

_OPTIONS = "jax_pjrt_client_create_options"


def limit_gpu_allocator(limit: Limit | None) -> None:
    """Asks XLA to take no more than `limit` of each GPU, if JAX has not started its devices."""
    total = None if limit is None else largest_gpu_bytes()
    if total is None:
        return
    import jax

    share = limit.percent / 100 if limit.percent is not None else limit.bytes / total
    options = _as_dictionary(jax.config.read(_OPTIONS))
    # What the user's own options or environment allow may be less.
    share = min(share, float(options.get("memory_fraction", 1)), _share_in_environment(), 1.0)
    options["memory_fraction"] = share
    jax.config.update(_OPTIONS, options)
    logger.debug("XLA's GPU allocator may take %.4f of the device", share)


def _share_in_environment() -> float:

    for name in ("XLA_CLIENT_MEM_FRACTION", "XLA_PYTHON_CLIENT_MEM_FRACTION"):
        try:
            return float(os.environ[name])
        except (KeyError, ValueError):
            continue
    return 1.0


def _as_dictionary(options: Any) -> dict[str, Any]:
    """JAX takes a dictionary, or text such as "name:value;name:value"."""
    if not isinstance(options, str):
        return dict(options or {})
    return dict(option.split(":", 1) for option in options.split(";") if ":" in option)


def largest_gpu_bytes() -> int | None:
    """What the largest CUDA device of this machine has; None if there is none.

    XLA takes the same share of every device, so on a smaller one it takes less than the limit.
    """
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    count = ctypes.c_int()
    if cuda.cuInit(0) != 0 or cuda.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return None
    sizes = []
    for index in range(count.value):
        device = ctypes.c_int()
        size = ctypes.c_size_t()
        if (
            cuda.cuDeviceGet(ctypes.byref(device), index) == 0
            and cuda.cuDeviceTotalMem_v2(ctypes.byref(size), device) == 0
        ):
            sizes.append(size.value)
    return max(sizes, default=None)
