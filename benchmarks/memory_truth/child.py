"""Measures one program in this process, which has to be a fresh one.

    python -m benchmarks.memory_truth.child TABLE NAME [FILE]

Prints a line of JSON, and writes the optimized HLO into the file if there is one. The peak is that
of the resident memory while the program runs once, over what was resident before it; what the
executable holds between its runs (constants, code) is what becomes free when it is dropped.
"""

import ctypes
import gc
import importlib
import json
import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp

from plimsoll.need import need_of


def main() -> None:
    table, name = sys.argv[1:3]
    program = importlib.import_module(table).PROGRAMS[name]
    if program.x64:
        jax.config.update("jax_enable_x64", True)
    function, arguments = program.build()
    jax.block_until_ready(arguments)
    _warm_up()
    compiled = (function if hasattr(function, "lower") else jax.jit(function)).lower(*arguments)
    compiled = compiled.compile()
    executable = compiled.runtime_executable()
    need = need_of(executable)
    devices = len(executable.local_devices())
    if len(sys.argv) > 3:
        Path(sys.argv[3]).write_text(executable.hlo_modules()[0].to_string())

    _tidy()
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = _resident("VmRSS")
    results = jax.block_until_ready(compiled(*arguments))
    peak = _resident("VmHWM") - before

    del results
    # Another thread gives back the temporaries, a little after the results are ready.
    time.sleep(0.3)
    _tidy()
    held = _resident("VmRSS")
    del compiled, executable
    jax.clear_caches()
    _tidy()
    held = max(0, held - _resident("VmRSS"))
    print(
        json.dumps(
            {
                "name": name,
                "measured": need.arguments * devices + peak + held,
                "peak": peak,
                "held": held,
                "devices": devices,
                "need": vars(need) | {"total": need.total},
            }
        )
    )


def _warm_up() -> None:
    """Starts the thread pool and the libraries that every process loads once."""
    square = jnp.ones((512, 512))
    jax.block_until_ready(jax.jit(lambda x: (jnp.exp(x) @ x).sum())(square))


def _tidy() -> None:
    """Gives back what nobody uses, so that it is not counted."""
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)


def _resident(key: str) -> int:
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith(key + ":"):
                return int(line.split()[1]) * 1024
    raise RuntimeError(f"no {key} in /proc/self/status")


if __name__ == "__main__":
    main()
