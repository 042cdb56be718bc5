"""What programs need on a GPU, against the peak of the allocator itself.

    python -m benchmarks.memory_truth.gpu [--json FILE]

Prints a table. XLA tries out kernels on the GPU while it compiles, and that takes memory as well;
so each program is compiled in one process and measured in another one, which finds it in JAX's
persistent cache.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

PROGRAMS = (
    "exp(x) + 1",
    "softmax of rows",
    "matmul f32",
    "matmul bf16",
    "batched matmul",
    "RBF kernel times vector, difference form",
    "RBF gradient, product form",
    "nearest neighbours",
    "attention 4 x 4096 x 64",
    "attention gradient 4 x 2500 x 64",
    "transformer training step",
    "transformer training step, donated",
    "convolution 3x3",
    "convolution's weight gradient",
    "sort",
    "top 1000 of rows",
    "fft of rows",
    "Cholesky",
    "eigh",
    "scan with stacked results",
    "while loop",
    "segment sum",
    "normal numbers",
)


def measure(name: str) -> dict[str, Any]:
    """Runs one program in this process."""
    import jax
    from benchmarks.memory_truth.programs import PROGRAMS as TABLE

    from plimsoll.need import need_of

    program = TABLE[name]
    jax.config.update("jax_enable_x64", program.x64)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    # Made on the CPU, so that making them leaves no trace in the GPU's peak.
    with jax.default_device(jax.local_devices(backend="cpu")[0]):
        function, arguments = program.build()
    device = jax.local_devices()[0]
    arguments = jax.block_until_ready(jax.device_put(arguments, device))
    jitted = function if hasattr(function, "lower") else jax.jit(function)
    compiled = jitted.lower(*arguments).compile()
    need = need_of(compiled.runtime_executable())
    held = device.memory_stats()["bytes_in_use"]
    before = device.memory_stats()["peak_bytes_in_use"]
    jax.block_until_ready(compiled(*arguments))
    peak = device.memory_stats()["peak_bytes_in_use"]
    return {
        "name": name,
        "need": need.total,
        # Without what is held besides the arguments.
        "measured": peak - held + need.arguments,
        "while compiling": before - held + need.arguments,
        "device": device.device_kind,
        "jax": jax.__version__,
    }


def measure_apart(name: str, cache: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.memory_truth.gpu", "--measure", name]
    environment = os.environ | {"JAX_COMPILATION_CACHE_DIR": cache}
    first, second = (
        json.loads(
            subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout
        )
        for _ in range(2)
    )
    return second | {"while compiling": first["while compiling"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--measure", metavar="NAME", help="measure one program in this process")
    options = parser.parse_args()
    if options.measure is not None:
        print(json.dumps(measure(options.measure)))
        return
    rows = []
    print("| program | need, MB | allocator's peak, MB | difference | peak while compiling, MB |")
    print("|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as cache:
        for name in PROGRAMS:
            row = measure_apart(name, cache)
            rows.append(row)
            more = row["need"] / row["measured"] - 1
            figures = (row["need"] / 1e6, row["measured"] / 1e6, more, row["while compiling"] / 1e6)
            print("| {} | {:.1f} | {:.1f} | {:+.1%} | {:.1f} |".format(name, *figures), flush=True)
    under = max(row["measured"] - row["need"] for row in rows)
    print(
        f"\n{rows[0]['device']}, JAX {rows[0]['jax']}: {len(rows)} programs,"
        f" at most {under / 1e6:.1f} MB under"
    )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
