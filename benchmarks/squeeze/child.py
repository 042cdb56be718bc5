"""Does one thing with one program in this process, which has to be a fresh one.

    python -m benchmarks.squeeze.child plain NAME --outputs FILE
    python -m benchmarks.squeeze.child float64 NAME --outputs FILE
    python -m benchmarks.squeeze.child limited NAME --limit BYTES --outputs FILE [--seconds S]
    python -m benchmarks.squeeze.child ask NAME --limits LOW,HIGH --steps N

Each answer is a line of JSON. `ask` compiles only, and prints a line for each limit it asks for, so
that those are not lost if a later one ends the process.
"""

import argparse
import contextlib
import json
import os
import time
from collections.abc import Callable
from typing import Any

import benchmarks.squeeze.programs  # noqa: F401 (fills the table)
import jax
import jax.numpy as jnp
import numpy as np
from benchmarks.kernel_calls import kernel_calls
from benchmarks.resident import peak_of_run, warm_up
from benchmarks.squeeze.table import PROGRAMS, Program
from benchmarks.timing import fastest

import plimsoll
from plimsoll.live import bytes_in_use
from plimsoll.need import need_of

# Elements of each result that are compared.
MOST_ELEMENTS = 100_000
# What takes longer than this, in seconds, runs once.
LONG_RUN = 15
# Bytes of arrays that a trace makes and keeps, such as constants.
LEFT_BY_TRACING = 1024


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("action", choices=("plain", "float64", "limited", "ask"))
    parser.add_argument("name")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--limits", type=lambda text: [int(part) for part in text.split(",")])
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--outputs")
    parser.add_argument("--seconds", type=float, default=6.0, help="for timing")
    options = parser.parse_args()
    program = PROGRAMS[options.name]
    # If memory runs out, this process is to blame.
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
    if options.action == "plain":
        plain(program, options.outputs)
    elif options.action == "float64":
        float64(program, options.outputs)
    elif options.action == "limited":
        limited(program, options.limit, options.outputs, options.seconds)
    else:
        ask(program, *options.limits, options.steps)


def plain(program: Program, outputs: str) -> None:
    """What XLA takes without a limit."""
    function, arguments = _built(program)
    warm_up()
    compiled, seconds = _compiled(program.name, function, arguments)
    # Tracing can leave arrays behind as well.
    held = bytes_in_use(jax.local_devices()[0])
    results, peak = peak_of_run(compiled, arguments)
    _save(outputs, results)
    del results
    need = need_of(compiled.runtime_executable())
    _answer(
        need=vars(need) | {"total": need.total},
        held=max(0, held - need.arguments),
        peak=peak,
        compile_seconds=seconds,
        run_seconds=fastest([compiled], arguments, 0.0)[0],
    )


def float64(program: Program, outputs: str) -> None:
    """The results in twice the precision, of the same arguments."""
    function, arguments = _built(program)
    jax.config.update("jax_enable_x64", True)
    compiled, _ = _compiled(program.name, function, jax.tree.map(_widened, arguments))
    _save(outputs, jax.block_until_ready(compiled(*jax.tree.map(_widened, arguments))))
    _answer()


def limited(program: Program, limit: int, outputs: str, seconds: float) -> None:
    """The peak of the first run under a limit; then the time, in turns with XLA's own program and,
    where there are kernels, with what comes of it without them."""
    function, arguments = _built(program)
    warm_up()
    answer, compiled = _asked(program.name, function, arguments, limit)
    if compiled is None:
        _answer(**answer)
        return
    answer["kernels"] = kernel_calls(compiled.as_text())
    started = time.perf_counter()
    results, peak = peak_of_run(compiled, arguments)
    first = time.perf_counter() - started
    _save(outputs, results)
    del results
    plain, plain_seconds = _compiled(program.name, function, arguments)
    contenders = {"run_seconds": compiled, "plain_run_seconds": plain}
    if answer["kernels"] and seconds:
        os.environ["PLIMSOLL_DISABLE"] = "kernels"
        _, loops = _asked(program.name, function, arguments, limit)
        contenders |= {"loops_run_seconds": loops} if loops else {}
    if first > LONG_RUN:
        del contenders["run_seconds"]
        answer["run_seconds"] = first
        seconds = 0.0
    times = fastest(list(contenders.values()), arguments, seconds)
    _answer(
        **answer,
        peak=peak,
        plain_compile_seconds=plain_seconds,
        **dict(zip(contenders, times, strict=True)),
    )


def ask(program: Program, low: int, high: int, steps: int) -> None:
    """Looks for the smallest limit that is held, over `low`; `high` is known to be held."""
    function, arguments = _built(program)
    base = low
    answer, _ = _asked(program.name, function, arguments, low)
    _answer(**answer)
    if answer["is_held"]:
        return
    if low < answer["needed"] < high:
        # The error says that this limit works, but for what tracing left on the device since.
        claimed, _ = _asked(program.name, function, arguments, answer["needed"] + LEFT_BY_TRACING)
        _answer(**claimed, is_claimed=True)
        low, high = (low, claimed["limit"]) if claimed["is_held"] else (claimed["limit"], high)
    for _ in range(steps):
        # What is over the base can span three powers of ten.
        least = max(low - base, (high - base) // 1000, 1)
        middle = base + int((least * (high - base)) ** 0.5)
        if middle - low < 0.1 * (high - base):
            return
        answer, _ = _asked(program.name, function, arguments, middle)
        _answer(**answer)
        low, high = (low, middle) if answer["is_held"] else (middle, high)


def _built(program: Program) -> tuple[Callable, list]:
    function, arguments = program.build()
    return function, jax.block_until_ready(arguments)


def _compiled(name: str, function: Callable, arguments: list) -> tuple[Any, float]:
    # A jit of its own, so that nothing compiled for another limit is found.
    def program(*arguments):
        return function(*arguments)

    program.__name__ = name
    lowered = jax.jit(program).lower(*arguments)
    started = time.perf_counter()
    compiled = lowered.compile()
    return compiled, time.perf_counter() - started


def _asked(
    name: str, function: Callable, arguments: list, limit: int
) -> tuple[dict[str, Any], Any]:
    """Compiles under a limit: what came of it, and the compiled program or None."""
    started = time.perf_counter()
    try:
        with plimsoll.memory_limit(limit):
            compiled, seconds = _compiled(name, function, arguments)
    except plimsoll.MemoryLimitError as error:
        return {
            "limit": limit,
            "is_held": False,
            "needed": error.needed,
            "message": str(error),
            "compile_seconds": time.perf_counter() - started,
        }, None
    need = need_of(compiled.runtime_executable())
    answer = {
        "limit": limit,
        "is_held": True,
        "need": vars(need) | {"total": need.total},
        "compile_seconds": seconds,
    }
    return answer | _of_record(), compiled


def _of_record() -> dict[str, Any]:
    """What Plimsoll's report says of the latest compilation, if it says it."""
    record = plimsoll.report()[-1].as_json()
    wanted = ("is_changed", "compilations", "planning_seconds", "seconds")
    return {name: record[name] for name in wanted if name in record}


def _widened(leaf: Any) -> Any:
    is_float = hasattr(leaf, "dtype") and leaf.dtype == np.float32
    return jnp.asarray(np.asarray(leaf), dtype=np.float64) if is_float else leaf


def _save(path: str, results: Any) -> None:
    """Keeps evenly spaced elements of each result."""
    samples = {}
    for index, leaf in enumerate(jax.tree.leaves(results)):
        flat = np.asarray(leaf).reshape(-1)
        samples[str(index)] = flat[:: -(-flat.size // MOST_ELEMENTS) or 1]
    np.savez(path, **samples)


def _answer(**fields: Any) -> None:
    print(json.dumps(fields), flush=True)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
