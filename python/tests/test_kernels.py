"""Streaming kernels in programs under a limit: results, gradients, memory."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import plimsoll
from kernel_check import KB, check, error_of, random

LIMIT = 1200 * KB


def gaussian(x, y, v):
    differences = x[:, None, :] - y[None, :, :]
    return jnp.exp(-0.5 * jnp.sum(differences**2, axis=-1)) @ v


def laplacian(x, y, v):
    return jnp.exp(-jnp.sum(jnp.abs(x[:, None, :] - y[None, :, :]), axis=-1)) @ v


def matern(x, y, v):
    squared = jnp.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=-1)
    distance = jnp.sqrt(3 * squared + 1e-12)
    return ((1 + distance) * jnp.exp(-distance)) @ v


def periodic(x, y, v):
    angles = jnp.sin(x[:, None, :] - y[None, :, :]) ** 2
    return jnp.exp(-2 * angles.sum(-1)) @ v


def scores(x, y, v):
    return jax.nn.softmax(x @ y.T, axis=-1) @ v


def entropy(x, y, v):
    return jax.nn.logsumexp(x @ y.T + v, axis=1)


def masked(x, y, v):
    matrix = jnp.tanh(x @ y.T)
    rows = lax.broadcasted_iota(jnp.int32, matrix.shape, 0)
    columns = lax.broadcasted_iota(jnp.int32, matrix.shape, 1)
    return jnp.where(rows >= columns, matrix, 0) @ v


PROGRAMS = [gaussian, laplacian, matern, periodic, scores, entropy, masked]


def uses_kernels(function, *arguments, limit=LIMIT):
    text = str(plimsoll.explain(function, *arguments, memory_limit=limit))
    return "\nkernels\n  one without " in text


def limited(function):
    return plimsoll.jit(function, memory_limit=LIMIT)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("width", [3, 40])
def test_forward(function, width):
    arguments = random(701, width), random(997, width, seed=1) / 3, random(997, seed=2)
    assert uses_kernels(function, *arguments)
    check(function, *arguments, limit=LIMIT)


def test_a_matrix_that_a_loop_reads_is_made_in_its_kernel():
    """Each turn makes it anew, and it is nowhere whole."""

    def power_iteration(x, v):
        squares = jnp.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=-1)
        matrix = jnp.exp(-0.5 * jnp.maximum(squares, 0))

        def step(_, v):
            product = matrix @ v
            return product / jnp.linalg.norm(product)

        return lax.fori_loop(0, 4, step, v)

    arguments = random(997, 3), jnp.abs(random(997, seed=1))
    text = str(plimsoll.explain(power_iteration, *arguments, memory_limit=LIMIT))
    assert "\nkernels\n  one without " in text
    assert "computed anew in each turn of the loops that read it" in text
    assert "\nloops\n" not in text
    check(power_iteration, *arguments, limit=LIMIT)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient(function):
    arguments = random(701, 3), random(997, 3, seed=1) / 3, random(997, seed=2)

    def gradient(*given):
        return jax.grad(lambda *a: jnp.sum(jnp.sin(function(*a))), argnums=(0, 1, 2))(*given)

    assert uses_kernels(gradient, *arguments)
    check(gradient, *arguments, limit=LIMIT)


def squared_distances(x, y):
    return jnp.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=-1)


@pytest.mark.parametrize("width", [2, 30])
@pytest.mark.parametrize("count", [1, 10])
def test_nearest_neighbours(width, count):
    def neighbours(x, y):
        distances, places = lax.top_k(-squared_distances(x, y), count)
        return -distances, places

    points, others = random(600, width), random(997, width, seed=1)
    assert uses_kernels(neighbours, points, others)
    distances, places = limited(neighbours)(points, others)
    assert places.dtype == jnp.int32
    exact = np.asarray(squared_distances(*(np.asarray(a, np.float64) for a in (points, others))))
    np.testing.assert_allclose(distances, np.sort(exact, axis=1)[:, :count], rtol=2e-6)
    np.testing.assert_allclose(
        distances, np.take_along_axis(exact, np.asarray(places), axis=1), rtol=2e-6
    )


def test_of_equal_values_the_first_is_taken():
    def best(x, y):
        matrix = jnp.round(x[:, None] * y[None, :])
        return jnp.argmax(matrix, 1), jnp.argmin(matrix, 1), lax.top_k(matrix, 5)

    arguments = random(700), random(997, seed=1)
    assert uses_kernels(best, *arguments)
    found, plain = limited(best)(*arguments), jax.jit(best)(*arguments)
    jax.tree.map(np.testing.assert_array_equal, found, plain)


def least_position(x, y, positions, first=0):
    """The best column of each row; of equal ones, the one with the least position."""

    def better(a, b):
        wins = lax.lt(a[0], b[0]) | lax.ne(a[0], a[0])
        comes_first = wins | (lax.eq(a[0], b[0]) & lax.lt(a[1], b[1]))
        return lax.select(wins, a[0], b[0]), lax.select(comes_first, a[1], b[1])

    matrix = jnp.round(jnp.sum((x[:, None] - y[None, :]) ** 2, axis=-1))
    everywhere = jnp.broadcast_to(positions, matrix.shape)
    start = jnp.float32(np.inf), positions.dtype.type(first)
    return lax.reduce((matrix, everywhere), start, better, (1,))


@pytest.mark.parametrize("dtype", [jnp.int32, jnp.uint32])
def test_positions_need_not_be_in_order(dtype):
    positions = jnp.asarray(np.random.default_rng(0).permutation(997), dtype)
    # The last rows have nothing that is better than no column at all.
    arguments = random(700, 2).at[-9:].set(np.inf), random(997, 2, seed=1), positions
    assert uses_kernels(least_position, *arguments)
    found, plain = limited(least_position)(*arguments), jax.jit(least_position)(*arguments)
    jax.tree.map(np.testing.assert_array_equal, found, plain)


def test_positions_that_begin_elsewhere_are_no_kernel():
    arguments = random(700, 2), random(997, 2, seed=1), jnp.arange(997)
    assert not uses_kernels(lambda *given: least_position(*given, first=5), *arguments)


def test_clusters():
    def step(x, centres):
        nearest = jnp.argmin(squared_distances(x, centres), axis=1)
        return jax.ops.segment_sum(x, nearest, len(centres)), nearest

    points, centres = random(5000, 4), random(97, 4, seed=1)
    assert uses_kernels(step, points, centres)
    found, plain = limited(step)(points, centres), jax.jit(step)(points, centres)
    assert np.mean(np.asarray(found[1]) != np.asarray(plain[1])) < 0.001


def test_is_the_same_from_run_to_run():
    arguments = random(1001, 3), random(1003, 3, seed=1), random(1003, seed=2)
    function = limited(gaussian)
    first = function(*arguments)
    for _ in range(5):
        np.testing.assert_array_equal(first, function(*arguments))


def test_in_loops_and_branches():
    points, vector = random(700, 3), random(700, seed=1)

    def iterate(x, v):
        def step(_, v):
            w = lax.cond(v[0] > 0, lambda w: gaussian(x, x, w), lambda w: laplacian(x, x, w), v)
            return w / jnp.linalg.norm(w)

        return lax.fori_loop(0, 5, step, v)

    assert uses_kernels(iterate, points, vector)
    check(iterate, points, vector, limit=LIMIT)


def test_batches():
    function = jax.vmap(gaussian, in_axes=(0, None, 0))
    arguments = random(3, 401, 2), random(503, 2, seed=1), random(3, 503, seed=2)
    assert uses_kernels(function, *arguments)
    check(function, *arguments, limit=LIMIT)


@pytest.mark.parametrize("rows, columns", [(1009, 40009), (40009, 1009), (10007, None)])
@pytest.mark.parametrize("axis", [0, 1, None])
def test_sums_of_equal_numbers(rows, columns, axis):
    """Each is rounded to the same side, and the sum keeps its digits nevertheless."""
    x = random(rows, 3)
    y = x if columns is None else random(columns, 3, seed=1)
    sizes = len(x), len(y)

    def sums(x, y, numbers):
        return jnp.sum(jnp.where(squared_distances(x, y) < 1e4, numbers, 0), axis=axis)

    shape = [size if axis is not None and i != axis else 1 for i, size in enumerate(sizes)]
    numbers = jax.random.uniform(jax.random.key(2), shape, minval=0.5)
    assert uses_kernels(sums, x, y, numbers, limit=4000 * KB)
    found = plimsoll.jit(sums, memory_limit=4000 * KB)(x, y, numbers)
    count = np.prod(sizes) if axis is None else sizes[axis]
    exact = np.asarray(numbers, np.float64).reshape(np.shape(found)) * count
    assert np.max(np.abs(np.asarray(found) / exact - 1)) <= 4 * jnp.finfo("float32").eps


def test_halves_are_added_in_single_precision():
    arguments = random(701, 3), random(997, 3, seed=1), random(997, seed=2)
    given = [argument.astype(jnp.bfloat16) for argument in arguments]
    found = limited(gaussian)(*given)
    assert found.dtype == jnp.bfloat16
    exact = gaussian(*(argument.astype(jnp.float32) for argument in given))
    assert error_of(found, exact) < 0.02


def test_doubles():
    with jax.enable_x64(True):
        arguments = [
            argument.astype(jnp.float64)
            for argument in (random(501, 3), random(703, 3, seed=1), random(703, seed=2))
        ]
        assert uses_kernels(gaussian, *arguments)
        found = limited(gaussian)(*arguments)
        assert error_of(found, jax.jit(gaussian)(*arguments)) < 1e-14


def noisy(x, y, v, seed):
    matrix = jnp.exp(-jnp.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=-1))
    noise = jax.random.normal(jax.random.key(seed), matrix.shape, jnp.float32)
    return (matrix * (1 + 0.1 * noise.astype(matrix.dtype))) @ v


def dropout(x, y, v, seed):
    weights = jax.nn.softmax(x @ y.T, axis=-1)
    keep = jax.random.uniform(jax.random.key(seed), weights.shape, jnp.float32) < 0.9
    return jnp.where(keep, weights / 0.9, 0) @ v


@pytest.mark.parametrize("function", [noisy, dropout])
@pytest.mark.parametrize("sizes", [(601, 701), (1021, 514)])
def test_random_bits_are_made_in_kernels(function, sizes):
    rows, columns = sizes
    arguments = random(rows, 7), random(columns, 7, seed=1), random(columns, 5, seed=2)

    def both(*given):
        result, backward = jax.vjp(lambda *points: function(*points, given[3]), *given[:3])
        return result, *backward(jnp.cos(result))

    for given, limit in ((function, 1200 * KB), (both, 4000 * KB)):
        assert uses_kernels(given, *arguments, jnp.int32(7), limit=limit)
        check(given, *arguments, jnp.int32(7), limit=limit)


def test_random_bits_are_those_of_jax():
    def drawn(x, seed):
        bits = jax.random.bits(jax.random.key(seed), (601, 701))
        smallest = jnp.min(bits ^ x[:, None], axis=1)
        return smallest, jnp.max(bits, axis=0), jnp.sum(bits & x[:, None], axis=1)

    arguments = jnp.arange(601, dtype=jnp.uint32), jnp.int32(11)
    assert uses_kernels(drawn, *arguments)
    jax.tree.map(np.testing.assert_array_equal, limited(drawn)(*arguments), drawn(*arguments))


def test_rounds_that_no_kernel_needs_stay_a_loop():
    """XLA may take minutes for them one after the other."""

    def drawn(x, seed):
        bits = jax.random.bits(jax.random.key(seed), (1001, 701))
        return gaussian(x, x, x[:, 0]), bits[::-1]

    arguments = random(4001, 3), jnp.int32(11)
    text = str(plimsoll.explain(drawn, *arguments, memory_limit=28_000 * KB))
    assert "\nkernels\n  one without " in text
    # Once for all values of a line, and of a type.
    assert text.count("\n    nothing reduces it") <= 2
    found = plimsoll.jit(drawn, memory_limit=28_000 * KB)(*arguments)
    np.testing.assert_array_equal(found[1], drawn(*arguments)[1])


def test_leaves_alone_what_nothing_reduces():
    def matrix(x, y):
        return jnp.exp(-jnp.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=-1))

    assert not uses_kernels(matrix, random(701, 3), random(997, 3), limit=3000 * KB)


def test_for_speed_without_a_limit(monkeypatch):
    monkeypatch.setenv("PLIMSOLL_OPTIMIZE", "speed")
    arguments = random(1409, 3), random(1999, 3, seed=1) / 3, random(1999, seed=2)
    explanation = plimsoll.explain(gaussian, *arguments)
    assert explanation.outcome == "fits"
    assert "it fits, and is made faster" in str(explanation)
    assert "\nkernels\n  one without " in str(explanation)
    assert explanation.compilation.need.temporaries < 200 * KB
    x, y, v = (np.asarray(argument, np.float64) for argument in arguments)
    exact = np.exp(-0.5 * np.sum((x[:, None] - y) ** 2, axis=-1)) @ v
    assert error_of(jax.jit(gaussian)(*arguments), exact) < 1e-5


def test_what_is_small_goes_to_xla_for_speed(monkeypatch):
    monkeypatch.setenv("PLIMSOLL_OPTIMIZE", "speed")
    arguments = random(31, 3), random(29, 3, seed=1), random(29, seed=2)
    assert "goes to XLA as it is" in str(plimsoll.explain(gaussian, *arguments))


def test_explain_tells_what_kernels_took():
    arguments = random(1009, 3), random(1013, 3, seed=1), random(1013, seed=2)

    def kernels():
        explanation = plimsoll.explain(gaussian, *arguments, memory_limit=LIMIT)
        return explanation.as_json()["plan"]["kernels"], str(explanation)

    (kernel,), text = kernels()
    assert kernel["calls"] == 0
    assert kernel["measured_seconds"] is None
    assert " ms expected\n" in text
    for _ in range(2):
        limited(gaussian)(*arguments)
    (kernel,), text = kernels()
    assert kernel["calls"] == 2
    assert 0 < kernel["measured_seconds"] < 10
    assert " ms measured (least of 2 calls)\n" in text


def test_explain_tells_why_there_is_no_kernel():
    def medians(x, y):
        return jnp.median(jnp.abs(x @ y.T), axis=1)

    arguments = random(1009, 3), random(1013, 3, seed=1)
    explanation = plimsoll.explain(medians, *arguments, memory_limit=2000 * KB)
    plan = explanation.as_json()["plan"]
    assert not plan["kernels"]
    assert plan["refused_kernels"][0]["reason"]
    assert "\nconsidered for a kernel and left out\n  3.9 MiB " in str(explanation)
