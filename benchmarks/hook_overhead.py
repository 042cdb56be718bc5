"""What Plimsoll costs a program that fits: hooked against unhooked JAX, in one run.

    python benchmarks/hook_overhead.py [--repeat N] [--json FILE]

Compiling eager ops and the training step of a 12-layer transformer, and calling a compiled
function. An unhooked compilation calls JAX's own function, which the hook keeps. Times are the
minimum of several runs, hooked and unhooked in turns.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import pathlib
import time
from collections.abc import Callable, Iterator

import jax
import jax.numpy as jnp
from jax._src import compiler
from read_speed import lower_transformer_step

import plimsoll
from plimsoll import hook


@contextlib.contextmanager
def unhooked() -> Iterator[None]:
    """JAX as it is without Plimsoll."""
    names = ("backend_compile_and_load", "compile_or_get_cached")
    hooked = {name: getattr(compiler, name) for name in names}
    for name, function in hooked.items():
        setattr(compiler, name, function.__wrapped__)
    try:
        yield
    finally:
        for name, function in hooked.items():
            setattr(compiler, name, function)


def seconds(function: Callable[[], object]) -> float:
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def eager_op(repeat: int) -> dict[str, float]:
    """The first `x * y` of a shape: JAX compiles it, and runs it."""
    best = {"hooked": float("inf"), "unhooked": float("inf")}
    for number in range(repeat):
        for kind in best:
            x = jnp.ones((number + 2, 3 if kind == "hooked" else 5)).block_until_ready()
            with unhooked() if kind == "unhooked" else contextlib.nullcontext():
                best[kind] = min(best[kind], seconds(lambda x=x: jnp.multiply(x, x)))
    return best


def training_step(repeat: int) -> dict[str, float]:
    best = {"hooked": float("inf"), "unhooked": float("inf"), "in Plimsoll": float("inf")}
    for _ in range(repeat):
        for kind in ("hooked", "unhooked"):
            lowered = lower_transformer_step()
            with unhooked() if kind == "unhooked" else contextlib.nullcontext():
                best[kind] = min(best[kind], seconds(lowered.compile))
        best["in Plimsoll"] = min(best["in Plimsoll"], plimsoll.report()[-1].seconds)
    return best


def call(repeat: int) -> dict[str, float]:
    """One call of a compiled function, of a thousand in a row."""
    x = jnp.ones(8)
    best = {}
    for kind in ("hooked", "unhooked"):
        with unhooked() if kind == "unhooked" else contextlib.nullcontext():
            function = jax.jit(lambda x: x + x)
            function(x)

            def thousand_calls(function=function):
                for _ in range(1000):
                    function(x)

            best[kind] = min(seconds(thousand_calls) for _ in range(repeat)) / 1000
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=2, help="runs of the training step (2)")
    parser.add_argument("--json", type=pathlib.Path, help="write the figures to this file")
    options = parser.parse_args()
    jax.local_devices()
    assert hook.state() == "installed", hook.state()

    op = eager_op(50)
    one_call = call(20)
    step = training_step(options.repeat)
    share = step["in Plimsoll"] / step["unhooked"]
    print(f"{'':40}{'unhooked':>12}{'hooked':>12}{'more':>12}")
    for name, figures, unit, factor in (
        ("compile and run an eager op", op, "ms", 1e3),
        ("call a compiled function", one_call, "us", 1e6),
        ("compile the training step", step, "s", 1),
    ):
        more = (figures["hooked"] - figures["unhooked"]) * factor
        print(
            f"{name:40}{figures['unhooked'] * factor:9.3f} {unit:2}"
            f"{figures['hooked'] * factor:9.3f} {unit:2}{more:9.3f} {unit:2}"
        )
    print(
        f"of the training step's compilation {share:.2%} ({step['in Plimsoll'] * 1e3:.1f} ms)"
        " are spent in Plimsoll"
    )
    if options.json:
        figures = {"eager op": op, "call": one_call, "training step": step, "share": share}
        options.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
