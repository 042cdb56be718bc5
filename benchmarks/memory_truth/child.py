"""Measures one program in this process, which has to be a fresh one.

    python -m benchmarks.memory_truth.child TABLE NAME [FILE]

Prints a line of JSON, and writes the optimized HLO into the file if there is one. The peak is that
of the resident memory while the program runs once, over what was resident before it; what the
executable holds between its runs (constants, code) is what becomes free when it is dropped.
"""

import importlib
import json
import sys
import time
from pathlib import Path

import jax
from benchmarks.resident import peak_of_run, resident, tidy, warm_up

from plimsoll.need import need_of


def main() -> None:
    table, name = sys.argv[1:3]
    program = importlib.import_module(table).PROGRAMS[name]
    if program.x64:
        jax.config.update("jax_enable_x64", True)
    function, arguments = program.build()
    jax.block_until_ready(arguments)
    warm_up()
    compiled = (function if hasattr(function, "lower") else jax.jit(function)).lower(*arguments)
    compiled = compiled.compile()
    executable = compiled.runtime_executable()
    need = need_of(executable)
    devices = len(executable.local_devices())
    if len(sys.argv) > 3:
        Path(sys.argv[3]).write_text(executable.hlo_modules()[0].to_string())

    results, peak = peak_of_run(compiled, arguments)
    del results
    # Another thread gives back the temporaries, a little after the results are ready.
    time.sleep(0.3)
    tidy()
    held = resident("VmRSS")
    del compiled, executable
    jax.clear_caches()
    tidy()
    held = max(0, held - resident("VmRSS"))
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


if __name__ == "__main__":
    main()
