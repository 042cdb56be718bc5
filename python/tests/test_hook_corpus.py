"""Programs of the corpus in JAX, each taken through the graph and back on its way to XLA."""

import jax
import numpy as np
import pytest

import corpus
import plimsoll
from corpus.program import configured, staged
from plimsoll import roundtrip

# Each is compiled twice; these are others than those that run on the engine.
CHOSEN = [program for program in corpus.programs() if program.runnable][1::16]


def run(program) -> list[np.ndarray]:
    with configured(program):
        results = staged(program)(*program.args)
    return [np.asarray(result) for result in jax.tree.leaves(results)]


@pytest.mark.parametrize("program", CHOSEN, ids=str)
def test_the_round_trip_gives_the_same_bits(program, monkeypatch):
    expected = run(program)
    monkeypatch.setattr(roundtrip, "is_forced", lambda: True)
    # Another limit, so that JAX compiles it anew.
    with plimsoll.memory_limit("64GiB"):
        found = run(program)
    assert any(one.is_changed for one in plimsoll.report()[-50:])
    assert len(found) == len(expected)
    for one, other in zip(expected, found, strict=True):
        assert other.dtype == one.dtype and other.shape == one.shape
        assert other.tobytes() == one.tobytes()
