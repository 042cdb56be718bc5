"""Runs one program on random inputs in this process, which has to be a fresh one.

    python -m plimsoll.compare_child PROGRAM LIMIT SEED FOLDER

LIMIT is "none" for the program as it is. The results go to FOLDER as 0.npy and so on, and a line of
JSON to standard output: what it needs, and what it was measured to take.
"""

import ctypes
import gc
import json
import sys
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from plimsoll import device_memory, scope
from plimsoll.errors import MemoryLimitError
from plimsoll.explanation import compile_module
from plimsoll.limits import UNLIMITED, parse_limit
from plimsoll.load import load_module
from plimsoll.need import need_of
from plimsoll.run import main_arguments, random_inputs


def main() -> None:
    path, limit, seed, folder = sys.argv[1:]
    # The program says what its types are.
    jax.config.update("jax_enable_x64", True)
    module = load_module(path)
    inputs = main_arguments(module)
    make = random_inputs(inputs, int(seed))
    asked = UNLIMITED if limit == "none" else parse_limit(limit, "--memory-limit")
    arrays = [jax.device_put(make(one.index)) for one in inputs]
    jax.block_until_ready(arrays)
    _warm_up()
    try:
        with scope.entered(asked):
            executable = compile_module(module)
    except MemoryLimitError as error:
        print(json.dumps({"refused": error.message}))
        return
    need = need_of(executable)
    available = device_memory.host_available()
    if limit == "none" and available is not None and need.total > available:
        print(json.dumps({"need": need.total, "available": available}))
        return
    results, peak, seconds = _measure(executable, arrays)
    for number, result in enumerate(results):
        array = np.asarray(result)
        # Files of numpy do not know the types that it does not have itself.
        np.save(Path(folder) / f"{number}.npy", array.view(_plain(array.dtype)))
    print(
        json.dumps(
            {
                "need": need.total,
                "measured": need.arguments + peak,
                "seconds": seconds,
                "types": [result.dtype.name for result in results],
            }
        )
    )


def _plain(dtype: np.dtype) -> np.dtype:
    return dtype if dtype.isbuiltin == 1 else np.dtype(f"u{dtype.itemsize}")


def _measure(executable: Any, arrays: list[Any]) -> tuple[list[Any], int, float]:
    """The results, the largest memory over what was there before, and the seconds of the run."""
    device = executable.local_devices()[0]
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    # So that the largest resident size starts anew.
    Path("/proc/self/clear_refs").write_text("5")
    before = _resident("VmRSS")
    started = time.perf_counter()
    results = jax.block_until_ready(executable.execute(arrays))
    seconds = time.perf_counter() - started
    peak = _resident("VmHWM") - before
    if device.platform != "cpu":
        statistics = device_memory.allocator_statistics(device) or {}
        peak = statistics.get("peak_bytes_in_use", 0)
    return results, peak, seconds


def _warm_up() -> None:
    """Starts the thread pool and the libraries that every process loads once."""
    jax.block_until_ready(jax.jit(lambda x: (jnp.exp(x) @ x).sum())(jnp.ones((512, 512))))
    # JAX looks for LAPACK when it lowers the first program that needs it, and a file is lowered.
    jax.block_until_ready(jnp.linalg.cholesky(jnp.eye(2)))


def _resident(key: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"no {key} in /proc/self/status")


if __name__ == "__main__":
    main()
