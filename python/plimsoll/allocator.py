"""The limit given to XLA's own allocator on GPUs, which then stops at it whatever happens."""

import os
from typing import Any

from plimsoll.device_memory import largest_gpu_bytes
from plimsoll.limits import ALLOCATOR_BLOCK, Limit
from plimsoll.log import logger

_OPTIONS = "jax_pjrt_client_create_options"
# What was set here before, which is not the user's.
_own_share: float | None = None


def limit_gpu_allocator(limit: Limit | None) -> None:
    """Asks XLA to take no more than `limit` of each GPU, if JAX has not started its devices.

    XLA takes the same share of every device: of one that is smaller than the largest it takes less
    than the limit.
    """
    total = None if limit is None else largest_gpu_bytes()
    if total is None:
        return
    size = limit.bytes if limit.percent is None else int(total * limit.percent / 100)
    if size >= total:
        return
    import jax

    # XLA rounds up to whole blocks: half a block less than whole ones comes out as those.
    share = max(size // ALLOCATOR_BLOCK - 0.5, 0) * ALLOCATOR_BLOCK / total

    global _own_share
    options = _as_dictionary(getattr(jax.config, _OPTIONS))
    # What the user's own options or environment allow may be less.
    asked = float(options.get("memory_fraction", 1))
    if asked != _own_share:
        share = min(share, asked)
    share = _own_share = min(share, _share_in_environment())
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
