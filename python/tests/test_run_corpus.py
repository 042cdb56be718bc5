"""Programs of the corpus on plimsoll's engine, against JAX's own results."""

import os

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import corpus
import plimsoll.ir
from corpus.program import configured, staged
from plimsoll.engine import Engine

RUNNABLE = [p for p in corpus.programs() if p.runnable]
# Each is compiled twice: a quarter of them is enough for every day.
CHOSEN = RUNNABLE if os.environ.get("PLIMSOLL_RUN_ALL") else RUNNABLE[::4]

# The engine's XLA and jaxlib's are not the same, so floats may differ in their last digits.
TOLERANCE = {"bfloat16": 1e-2, "float16": 2e-3, "float32": 2e-5, "complex64": 2e-5}


@pytest.fixture(scope="session")
def engine() -> Engine:
    return Engine()


def compare(expected: np.ndarray, found: np.ndarray) -> None:
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    if expected.dtype.kind in "biu":
        np.testing.assert_array_equal(found, expected)
        return
    tolerance = TOLERANCE.get(expected.dtype.name, 1e-12)
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(
        found.astype(wide), expected.astype(wide), rtol=tolerance, atol=tolerance
    )


def test_there_are_enough_programs():
    assert len(CHOSEN) >= 100


@pytest.mark.parametrize("program", CHOSEN, ids=str)
def test_the_engine_agrees_with_jax(program, engine):
    # JAX drops arguments that are not used; kept, they are the same on both sides.
    module = corpus.lower(program, keep_unused=True)
    executable = engine.compile(str(plimsoll.ir.parse(corpus.artifact(module))))
    with configured(program):
        results = staged(program, keep_unused=True)(*program.args)
        # Python's own numbers become what JAX makes of them.
        arguments = [np.asarray(jnp.asarray(leaf)) for leaf in jax.tree.leaves(program.args)]
    expected = [np.asarray(result) for result in jax.tree.leaves(results)]
    found = executable(*arguments)
    assert len(found) == len(expected)
    for one, other in zip(expected, found, strict=True):
        compare(one, other)
