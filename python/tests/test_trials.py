"""`PLIMSOLL_TUNE=1`: ways to change a program are tried out, and the fastest is kept."""

import json
import os
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback

import plimsoll

LIMIT = 1_500_000


@pytest.fixture
def choices(tmp_path, monkeypatch):
    """The folder of what was tried out."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PLIMSOLL_TUNE", "1")
    return tmp_path / "plimsoll" / "choices"


def product(points, vector):
    kernel = jnp.exp(-jnp.sum((points[:, None] - points[None]) ** 2, axis=-1))
    return kernel @ vector


def arguments(count=900):
    points = jax.random.normal(jax.random.key(0), (count, 3))
    return points, points[:, 0]


def limited(function, limit=LIMIT):
    """A function of its own, so that JAX does not find what another test has compiled."""
    return plimsoll.jit(lambda *given: function(*given), memory_limit=limit)


def explained(function):
    return str(plimsoll.explain(lambda *given: function(*given), *arguments(), memory_limit=LIMIT))


def kept(choices: Path) -> list[dict]:
    return [json.loads(path.read_text()) for path in choices.iterdir()] if choices.exists() else []


def test_the_fastest_is_kept(choices):
    found = limited(product)(*arguments())
    (choice,) = kept(choices)
    assert len(choice["seconds"]) >= 2
    assert choice["fastest"] == min(choice["seconds"], key=choice["seconds"].get)
    assert "without kernels" in choice["seconds"]
    np.testing.assert_allclose(found, product(*arguments()), rtol=1e-4, atol=1e-4)


def test_what_is_kept_is_used(choices, monkeypatch):
    limited(product)(*arguments())
    (path,) = choices.iterdir()
    monkeypatch.delenv("PLIMSOLL_TUNE")
    for way, word in (("without kernels", "\nloops\n"), ("as planned", "\nkernels\n")):
        path.write_text(json.dumps({"fastest": way}))
        assert word in explained(product)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"fastest": 3}', '{"fastest": "another"}'])
def test_a_damaged_file_is_ignored(choices, text, monkeypatch):
    limited(product)(*arguments())
    (path,) = choices.iterdir()
    monkeypatch.delenv("PLIMSOLL_TUNE")
    path.write_text(text)
    assert "\nkernels\n" in explained(product)


def test_sizes_and_limits_are_told_apart(choices):
    limited(product)(*arguments())
    limited(product)(*arguments(901))
    limited(product, LIMIT + 8)(*arguments())
    assert len(kept(choices)) == 3


def test_the_same_program_is_tried_once(choices):
    limited(product)(*arguments())
    (path,) = choices.iterdir()
    before = path.stat().st_mtime_ns
    limited(product)(*arguments())
    (path,) = choices.iterdir()
    assert path.stat().st_mtime_ns == before


def test_nothing_is_run_that_talks_to_the_host(choices):
    calls = []

    def talks(points, vector):
        result = product(points, vector)
        io_callback(lambda x: calls.append(float(x)), None, result[0], ordered=True)
        return result

    jax.block_until_ready(limited(talks)(*arguments()))
    jax.effects_barrier()
    assert len(calls) == 1
    assert kept(choices) == []


def test_nothing_is_run_that_may_never_end(choices):
    def searches(points, vector):
        def step(state):
            return state[0] + 1, product(points, state[1])

        return jax.lax.while_loop(lambda state: jnp.sum(state[1]) < 1e30, step, (0, vector))[0]

    limited(searches)(*arguments())
    assert kept(choices) == []


def test_explaining_runs_nothing(choices):
    plimsoll.explain(product, *arguments(), memory_limit=LIMIT)
    assert kept(choices) == []


def test_a_folder_that_cannot_be_written_to(choices, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    found = limited(product)(*arguments())
    np.testing.assert_allclose(found, product(*arguments()), rtol=1e-4, atol=1e-4)


def test_donated_arguments(choices):
    donating = jax.jit(product, donate_argnums=1)
    points, vector = arguments()
    expected = np.asarray(product(points, vector))
    with plimsoll.memory_limit(LIMIT):
        found = donating(points, vector)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    assert len(kept(choices)) >= 1


def test_for_speed(choices, monkeypatch):
    monkeypatch.setenv("PLIMSOLL_OPTIMIZE", "speed")

    def explained():
        return plimsoll.explain(lambda *given: product(*given), *arguments(1500))

    compiled = jax.jit(lambda *given: product(*given))
    expected = np.asarray(product(*arguments(1500)))
    np.testing.assert_allclose(compiled(*arguments(1500)), expected, rtol=1e-4, atol=1e-4)
    chosen = [one for one in choices.iterdir() if "as it is" in one.read_text()]
    assert chosen
    for path in chosen:
        path.write_text(json.dumps({"fastest": "as it is"}))
    assert not explained().compilation.is_changed
    for path in chosen:
        path.write_text(json.dumps({"fastest": "changed"}))
    assert explained().compilation.is_changed
