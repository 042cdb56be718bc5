"""The resident memory of this process, for benchmarks that measure what a program takes."""

import ctypes
import gc
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp


def warm_up() -> None:
    """Starts the thread pool and the libraries that every process loads once."""
    square = jnp.ones((512, 512))
    jax.block_until_ready(jax.jit(lambda x: (jnp.exp(x) @ x).sum())(square))


def peak_of_run(run: Callable, arguments: Sequence) -> tuple[Any, int]:
    """What `run` returns, and how far it took the resident memory over what it was before."""
    tidy()
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = resident("VmRSS")
    results = jax.block_until_ready(run(*arguments))
    return results, resident("VmHWM") - before


def tidy() -> None:
    """Gives back what nobody uses, so that it is not counted."""
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)


def resident(key: str) -> int:
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith(key + ":"):
                return int(line.split()[1]) * 1024
    raise RuntimeError(f"no {key} in /proc/self/status")
