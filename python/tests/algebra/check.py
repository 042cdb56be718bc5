"""Runs a function as it is and as algebra makes it, and compares both with float64."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from plimsoll import roundtrip
from splitting.check import compile_in_place_of

# How much less exact than XLA a result may be, and what is never too much: in units of the last
# place of the largest element.
MOST_WORSE = 2
FEW_ULPS = 4


@dataclass
class Compared:
    report: dict[str, Any]
    errors: list[float]
    """Of each result, as a part of its largest element."""
    plain_errors: list[float]

    @property
    def fired(self) -> set[str]:
        return {rule["rule"] for rule in self.report["rules"]}

    @property
    def refused(self) -> set[str]:
        return {rule["rule"] for rule in self.report["refused_rules"]}


def compare(function: Callable, arguments: Sequence[Any], **options: Any) -> Compared:
    """What algebra made of the function, and how exact both are. Fails if it is not exact enough.

    `options` are those of `ir.Module.simplify`.
    """
    arguments = [jnp.asarray(argument) for argument in arguments]
    lowered = jax.jit(function).lower(*arguments)
    program, report = roundtrip.graph_of(lowered.compiler_ir()).simplify(**options)
    program.verify()
    # Another function, or JAX would find what it has compiled.
    other = jax.jit(lambda *arguments: function(*arguments)).lower(*arguments)
    simplified = compile_in_place_of(other, program.text_bytes())
    results = _numbers(simplified(*arguments))
    plain = _numbers(lowered.compile()(*arguments))
    with jax.enable_x64(True):
        reference = _numbers(jax.jit(function)(*(_widened(argument) for argument in arguments)))
    compared = Compared(report, [], [])
    for result, expected, exact in zip(results, plain, reference, strict=True):
        assert result.shape == expected.shape and result.dtype == expected.dtype
        largest = np.max(np.abs(exact), initial=0) or 1
        compared.errors.append(float(np.max(np.abs(result - exact), initial=0) / largest))
        compared.plain_errors.append(float(np.max(np.abs(expected - exact), initial=0) / largest))
        if not np.issubdtype(result.dtype, np.inexact):
            np.testing.assert_array_equal(result, expected)
            continue
        allowed = MOST_WORSE * compared.plain_errors[-1] + FEW_ULPS * np.finfo(result.dtype).eps
        assert compared.errors[-1] <= allowed, (compared, allowed)
    return compared


def with_gradient(function: Callable) -> Callable:
    """The function's result, and the gradient of a sum of it with weights that differ."""

    def both(*arguments):
        def total(*arguments):
            result = function(*arguments)
            weights = jnp.cos(jnp.arange(result.size, dtype=result.dtype)).reshape(result.shape)
            return jnp.sum(weights * result)

        return function(*arguments), jax.grad(total, tuple(range(len(arguments))))(*arguments)

    return both


def _numbers(results: Any) -> list[np.ndarray]:
    return [np.asarray(result) for result in jax.tree.leaves(results)]


def _widened(x: Any) -> Any:
    wide = {"f": np.float64, "c": np.complex128}.get(np.dtype(x.dtype).kind)
    return x if wide is None else np.asarray(x).astype(wide)
