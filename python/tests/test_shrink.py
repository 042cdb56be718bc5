"""Programs over their limit: cut, refused with the limit that works, bounded and explained."""

import gc
import json
import logging
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback

import plimsoll

# What kernels do instead is in test_kernels.py.
pytestmark = pytest.mark.usefixtures("without_kernels")

MB = 1_000_000
SIDE = 1500


def kernel_product(points, vector):
    kernel = jnp.exp(-jnp.sum((points[:, None] - points[None]) ** 2, axis=-1))
    return kernel @ vector


def kernel_gradient(points, vector):
    return jax.grad(lambda points: jnp.sum(kernel_product(points, vector) * vector))(points)


def softmax(points, vector):
    return jax.nn.softmax(points @ points.T, axis=-1) @ vector


def factor(points, vector):
    kernel = jnp.exp(-jnp.sum((points[:, None] - points[None]) ** 2, axis=-1))
    return jnp.linalg.cholesky(kernel + SIDE * jnp.eye(SIDE)) @ vector


def outer(points, vector):
    return jnp.tanh(vector[:, None] * vector[None, :])


def log_determinant(points, vector):
    kernel = jnp.exp(-jnp.sum((points[:, None] - points[None]) ** 2, axis=-1))
    return jnp.linalg.slogdet(kernel + jnp.eye(SIDE))[1] + jnp.sum(kernel @ vector)


PROGRAMS = [kernel_product, kernel_gradient, softmax, factor, outer, log_determinant]


def arguments():
    random = np.random.default_rng(0)
    points = random.standard_normal((SIDE, 3), np.float32)
    return jnp.asarray(points), jnp.asarray(random.standard_normal(SIDE, np.float32))


def fresh(function):
    """A function that JAX has never seen: it keeps what it compiled of those it knows."""

    def copy(points, vector):
        return function(points, vector)

    copy.__name__ = function.__name__
    return jax.jit(copy)


def assert_close(found, expected):
    error = np.linalg.norm(np.asarray(found) - np.asarray(expected))
    assert error <= 1e-5 * np.linalg.norm(np.asarray(expected))


@pytest.mark.parametrize("function", [kernel_product, kernel_gradient, softmax])
def test_a_program_over_its_limit_is_cut(function, caplog):
    points, vector = arguments()
    expected = fresh(function)(points, vector)
    with caplog.at_level(logging.INFO, "plimsoll"), plimsoll.memory_limit(6 * MB):
        found = fresh(function)(points, vector)
    assert_close(found, expected)
    (line,) = caplog.messages
    assert re.fullmatch(
        rf"{function.__name__} \d+\.\d MiB -> \d+\.\d [KM]iB \(limit 5\.7 MiB\): \d loops? over"
        r" axis 0 of \w+ \(test_shrink\.py:\d+[^)]*\).*; [234] compilations, \d+\.\d s",
        line,
    ), line
    record = plimsoll.report()[-1]
    assert record.is_changed and not record.is_refused
    assert record.before.total > 6 * MB >= record.need.total
    assert record.compilations >= 2
    assert record.as_json()["before"]["total"] == record.before.total


@pytest.mark.parametrize("function", PROGRAMS)
@pytest.mark.parametrize("limit", [50_000, 500_000, 3 * MB])
def test_the_limit_that_the_error_names_works(function, limit):
    points, vector = arguments()
    gc.collect()
    jitted = fresh(function)
    try:
        with plimsoll.memory_limit(limit):
            jitted(points, vector)
        return
    except plimsoll.MemoryLimitError as error:
        needed = error.needed
        text = str(error)
    assert needed > limit
    assert "what holds the memory" in text
    with plimsoll.memory_limit(needed):
        found = jitted(points, vector)
    assert_close(found, fresh(function)(points, vector))


def nearest(points, vector):
    return jnp.argmin(jnp.sum((points[:, None] - points[None] - 1) ** 2, axis=-1), axis=1)


def test_a_sum_that_xla_does_in_place_need_not_be_cut(caplog):
    points, vector = arguments()
    expected = fresh(nearest)(points, vector)
    with caplog.at_level(logging.INFO, "plimsoll"), plimsoll.memory_limit(6 * MB):
        found = fresh(nearest)(points, vector)
        text = str(plimsoll.explain(fresh(nearest), points, vector))
    np.testing.assert_array_equal(found, expected)
    record = plimsoll.report()[-1]
    assert record.is_changed and record.before.total > 6 * MB >= record.need.total
    if not record.plan["made"]:
        (line,) = caplog.messages
        assert "compiled without XLA's library for sums; 2 compilations" in line
        assert "; compiled without XLA's library for sums, it needs" in text


def test_a_long_program_is_cut():
    def long(points, vector):
        for number in range(60):
            vector = kernel_product(points + number, jnp.sort(vector))
        return vector

    with plimsoll.memory_limit(150 * MB):
        fresh(long).lower(*arguments()).compile()
    record = plimsoll.report()[-1]
    assert record.is_changed and record.before.total > 150 * MB >= record.need.total


def test_the_error_says_why_each_value_stays():
    points, vector = arguments()
    with plimsoll.memory_limit(6 * MB), pytest.raises(plimsoll.MemoryLimitError) as caught:
        fresh(factor)(points, vector)
    held = str(caught.value).split("what holds the memory\n")[1].split("what helps")[0]
    values = re.findall(r"^  (\S+ [KM]iB) (tensor<\S+>), (\S+):(\d+)$", held, re.MULTILINE)
    assert values[0][:3] == ("8.6 MiB", "tensor<1500x1500xf32>", "test_shrink.py")
    assert "only the batches of the custom call lapack_spotrf_ffi are known" in held


def test_a_value_is_no_larger_than_the_threshold(monkeypatch, caplog):
    points, vector = arguments()
    expected = fresh(softmax)(points, vector)
    assert not plimsoll.report()[-1].is_changed
    monkeypatch.setenv("PLIMSOLL_TENSOR_SIZE_THRESHOLD", "1MB")
    with caplog.at_level(logging.INFO, "plimsoll"):
        assert_close(fresh(softmax)(points, vector), expected)
    record = plimsoll.report()[-1]
    assert record.is_changed and record.need.temporaries < 3 * MB
    assert "over axis 0 of points" in caplog.messages[-1]
    # A program without such a value is as it was.
    jax.jit(lambda x: x * 3)(vector)
    assert not plimsoll.report()[-1].is_changed


def test_a_chunk_is_no_larger_than_the_split_size(monkeypatch):
    points, vector = arguments()
    monkeypatch.setenv("PLIMSOLL_TENSOR_SPLIT_SIZE", "60kB")
    with plimsoll.memory_limit(6 * MB):
        fresh(softmax)(points, vector)
    for cut in plimsoll.report()[-1].plan["made"]:
        assert cut["bytes"] // cut["blocks"] * cut["chunk"] <= 60_000


@pytest.mark.parametrize("text", ["much", "50%"])
def test_a_bound_that_is_no_size(monkeypatch, text):
    monkeypatch.setenv("PLIMSOLL_TENSOR_SIZE_THRESHOLD", text)
    with pytest.raises(plimsoll.PlimsollError, match="PLIMSOLL_TENSOR_SIZE_THRESHOLD: expected"):
        plimsoll.hook.xla_flags.bounds()


def test_effects_stay_once_and_in_order(capfd):
    seen = []

    def note(x):
        seen.append(float(x))
        return np.asarray(x)

    def noted(points, vector):
        first = io_callback(note, jax.ShapeDtypeStruct((), "float32"), vector[0], ordered=True)
        product = kernel_product(points, vector * first)
        jax.debug.print("sum {}", jnp.sum(product), ordered=True)
        shape = jax.ShapeDtypeStruct((), "float32")
        doubled = jax.pure_callback(
            lambda x: np.float32(2) * np.asarray(x), shape, jnp.max(product)
        )
        last = io_callback(note, shape, doubled, ordered=True)
        return kernel_product(points, product * last)

    points, vector = arguments()
    expected = jax.jit(noted)(points, vector)
    jax.effects_barrier()
    expected_notes, expected_text = list(seen), capfd.readouterr().out
    seen.clear()
    with plimsoll.memory_limit(6 * MB):
        found = fresh(noted)(points, vector)
    jax.effects_barrier()
    assert plimsoll.report()[-1].is_changed
    assert_close(found, expected)
    assert_close(seen, expected_notes)
    assert len(seen) == 2 and expected_text.count("sum ") == 1
    assert capfd.readouterr().out.count("sum ") == 1


def test_explain(caplog):
    points, vector = arguments()
    types = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in (points, vector)]
    with caplog.at_level(logging.INFO, "plimsoll"):
        explanation = plimsoll.explain(kernel_gradient, *types, memory_limit="6MB")
    assert caplog.messages == []
    assert explanation.outcome == "cut"
    text = str(explanation)
    assert text.startswith("jit_kernel_gradient needs ")
    assert re.search(r"^  temporaries +\S+ \S+ +\S+ \S+$", text, re.MULTILINE)
    assert re.search(
        r"^  \d loops? over axis 0 of points: \d+ turns, \d+ of 1500 at a time$", text, re.M
    )
    assert re.search(r"^    for \S+ MiB tensor<1500x1500\S*xf32>, test_shrink.py:\d+$", text, re.M)
    assert "    runs test_shrink.py:" in text
    data = json.loads(json.dumps(explanation.as_json()))
    assert data["outcome"] == "cut" and data["before"]["total"] > 6 * MB > data["need"]["total"]
    # It is what happens.
    with plimsoll.memory_limit("6MB"):
        fresh(kernel_gradient)(points, vector)
    record = plimsoll.report()[-1]
    assert record.plan["made"] == explanation.compilation.plan["made"]
    assert record.need.total == explanation.compilation.need.total


def test_explain_what_fits_and_what_cannot():
    points, vector = arguments()
    jitted = fresh(factor)
    fits = plimsoll.explain(jitted, points, vector, memory_limit="1GiB")
    assert fits.outcome == "fits"
    assert "the limit is 1.0 GiB: it fits, and goes to XLA as it is" in str(fits)
    with plimsoll.memory_limit(6 * MB):
        # Explained again, and called: nothing of it is kept.
        refused, again = (plimsoll.explain(jitted, points, vector) for _ in range(2))
        assert str(again) == str(refused)
        with pytest.raises(plimsoll.MemoryLimitError) as caught:
            jitted(points, vector)
    assert refused.outcome == "refused"
    assert refused.as_json()["needed"] == refused.error.needed == caught.value.needed
    assert "what holds the memory" in str(refused)


def test_explain_a_file(command, tmp_path):
    from jax import export

    points, vector = arguments()
    exported = export.export(jax.jit(kernel_product))(points, vector)
    (tmp_path / "program.mlirbc").write_bytes(exported.mlir_module_serialized)
    result = command("explain", "program.mlirbc", "--memory-limit", "6MB", text=True)
    assert result.returncode == 0, result.stderr
    assert "over axis 0 of points" in result.stdout and result.stderr == ""
    result = command("explain", "program.mlirbc", "--memory-limit", "1GiB", "--json", text=True)
    assert json.loads(result.stdout)["outcome"] == "fits"
    result = command("explain", "program.mlirbc", "--memory-limit", "much", text=True)
    assert result.returncode == 2 and result.stderr.startswith("plimsoll: PL204: --memory-limit")
    assert command("explain", "program.mlirbc", text=True).returncode == 2


def test_a_table_that_a_loop_reads_has_its_gradient():
    def loss(table, transitions, words):
        def one(sentence):
            def step(score, word):
                score = jax.nn.logsumexp(score[:, None] + transitions, 0) + table[:, word]
                return score, None

            score, _ = jax.lax.scan(step, jnp.zeros(31), sentence)
            return jax.nn.logsumexp(score)

        return jax.vmap(one)(words).sum()

    rng = np.random.default_rng(0)
    table, transitions = rng.standard_normal((31, 20)), rng.standard_normal((31, 31))
    words = jnp.asarray(rng.integers(0, 20, (97, 40)))
    arguments = (jnp.asarray(table, "float32"), jnp.asarray(transitions, "float32"), words)
    expected = jax.jit(jax.grad(loss, argnums=(0, 1)))(*arguments)
    with plimsoll.memory_limit(4 * MB):
        found = jax.jit(jax.grad(lambda *inputs: loss(*inputs), argnums=(0, 1)))(*arguments)
    assert plimsoll.report()[-1].is_changed
    for one, other in zip(found, expected, strict=True):
        assert_close(one, other)


def gram(x, scales):
    features = jnp.maximum(jnp.exp(-jnp.square(x[:, None])) * scales, 0)
    return features.T @ features


def test_sums_over_many_turns_are_as_exact_as_they_were():
    x = jnp.asarray(np.random.default_rng(0).standard_normal(1_000_003), "float32")
    scales = jnp.linspace(1.0, 2.0, 16, dtype="float32")
    wide = np.exp(-np.square(np.asarray(x, "float64")[:, None])) * np.asarray(scales, "float64")
    expected = wide.T @ wide
    own = np.max(np.abs(jax.jit(gram)(x, scales) - expected))
    with plimsoll.memory_limit(6 * MB):
        found = jax.jit(lambda *inputs: gram(*inputs))(x, scales)
    (cut,) = plimsoll.report()[-1].plan["made"]
    assert cut["blocks"] // cut["chunk"] > 32
    assert np.max(np.abs(found - expected)) <= 2 * own


def test_infinite_sums_over_many_turns_stay_infinite():
    x = jnp.linspace(-1.0, 1.0, 1_000_003, dtype="float32")
    scales = jnp.asarray(np.logspace(0, 19, 16), "float32")
    expected = jax.jit(gram)(x, scales)
    assert np.isinf(expected).any() and np.isfinite(expected).any()
    with plimsoll.memory_limit(6 * MB):
        found = jax.jit(lambda *inputs: gram(*inputs))(x, scales)
    assert plimsoll.report()[-1].is_changed
    np.testing.assert_array_equal(np.isinf(found), np.isinf(expected))
    assert not np.isnan(found).any()
