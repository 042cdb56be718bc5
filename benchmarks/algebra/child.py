"""Measures one program in this process, which has to be a fresh one: a line of JSON.

python -m benchmarks.algebra.child NAME [--quick]
"""

import argparse
import contextlib
import json
import os
from collections.abc import Callable, Iterator
from typing import Any

import benchmarks.algebra.programs  # noqa: F401 (fills the table)
import jax
import numpy as np
from benchmarks.algebra.rules import RULES
from benchmarks.algebra.table import PROGRAMS
from benchmarks.timing import fastest

import plimsoll
from plimsoll import ir, roundtrip
from plimsoll.need import need_of

# Of timing.
SECONDS, QUICK_SECONDS = 3.0, 0.05
ALL_RULES = [rule["name"] for rule in ir.rules()]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    program = PROGRAMS[options.name]
    function, arguments = program.built(options.quick)
    seconds = QUICK_SECONDS if options.quick else SECONDS
    others = [name for name in ALL_RULES if name != program.name]
    disabled = others if program.group == RULES else []
    row = measured(function, arguments, seconds, disabled)
    if program.by_hand is not None:
        by_hand = _compiled(program.by_hand, arguments)
        [row["error_by_hand"]] = _errors(function, jax.device_put(arguments), [by_hand])
    print(json.dumps(row), flush=True)


def measured(
    function: Callable, arguments: list, seconds: float, disabled: list[str]
) -> dict[str, Any]:
    shapes = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), arguments)
    # Nothing is on the device yet: limits are those of the program alone.
    plain = _compiled(function, shapes)
    with _environment(PLIMSOLL_OPTIMIZE="speed", PLIMSOLL_DISABLE=",".join(disabled)):
        faster = _compiled(function, shapes)
        is_changed = plimsoll.report()[-1].is_changed
    graph = roundtrip.graph_of(jax.jit(function).lower(*shapes).compiler_ir())
    report = graph.simplify(disabled=disabled)[1]
    need = need_of(plain.runtime_executable())
    least = need.total - need.temporaries - need.scratch
    with _environment(PLIMSOLL_DISABLE=",".join(ALL_RULES)):
        limit_without = _smallest_limit(function, shapes, least)
    with _environment(PLIMSOLL_DISABLE=",".join(disabled)):
        limit_with = _smallest_limit(function, shapes, least)
    arguments = jax.block_until_ready(jax.device_put(arguments))
    plain_error, error = _errors(function, arguments, [plain, faster])
    plain_seconds, faster_seconds = fastest([plain, faster], arguments, seconds)
    return {
        "is_changed": is_changed,
        "rules": sorted({rule["rule"] for rule in report["rules"]}),
        "flops": [report["flops_before"], report["flops_after"]],
        "fixed": least,
        "temporaries": [_temporaries(plain), _temporaries(faster)],
        "seconds": [plain_seconds, faster_seconds],
        "errors": [plain_error, error],
        "limits": [limit_without, limit_with],
    }


def _compiled(function: Callable, shapes: list) -> Any:
    # A jit of its own, so that nothing compiled before is found.
    return jax.jit(lambda *arguments: function(*arguments)).lower(*shapes).compile()


def _temporaries(compiled: Any) -> int:
    """With the scratch of library calls, which XLA's statistics leave out."""
    need = need_of(compiled.runtime_executable())
    return need.temporaries + need.scratch


def _smallest_limit(function: Callable, shapes: list, least: int) -> int:
    """What is said to be needed at least, after asking for as good as nothing for temporaries."""

    def program(*arguments):
        return function(*arguments)

    explanation = plimsoll.explain(program, *shapes, memory_limit=least + 1)
    if explanation.error is not None:
        return explanation.error.needed
    return explanation.compilation.need.total


def _errors(function: Callable, arguments: list, compiled: list) -> list[float]:
    """The largest error of each program against float64, relative to the result's largest."""
    results = [_numbers(one(*arguments)) for one in compiled]
    with jax.enable_x64(True):
        wide = jax.tree.map(_widened, arguments)
        truth = _numbers(jax.jit(lambda *arguments: function(*arguments))(*wide))
    return [
        max(
            float(np.max(np.abs(x - t), initial=0) / (np.max(np.abs(t), initial=0) or 1))
            for x, t in zip(one, truth, strict=True)
        )
        for one in results
    ]


def _numbers(results: Any) -> list[np.ndarray]:
    return [np.asarray(result) for result in jax.tree.leaves(results)]


def _widened(x: Any) -> Any:
    return np.asarray(x).astype(np.float64) if x.dtype == np.float32 else np.asarray(x)


@contextlib.contextmanager
def _environment(**variables: str) -> Iterator[None]:
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            del os.environ[name]


if __name__ == "__main__":
    main()
