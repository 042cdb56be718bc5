"""Rows or columns of big values that are reduced by their labels, in programs under a limit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import ops

import plimsoll
from kernel_check import KB, check, error_of, random

LIMIT = 3000 * KB
ROWS, COLUMNS, SEGMENTS = 1009, 997, 37


def kernel(x, y):
    return jnp.exp(-0.5 * jnp.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=-1))


def labels(count, least=-5, end=SEGMENTS + 5):
    """Some of them are of no segment."""
    return jnp.asarray(np.random.default_rng(3).integers(least, end, count), jnp.int32)


def points(width=3, rows=ROWS, columns=COLUMNS):
    return random(rows, width), random(columns, width, seed=1)


def by_rows(x, y, rows, columns):
    return ops.segment_sum(kernel(x, y), rows, SEGMENTS)


def by_columns(x, y, rows, columns):
    return ops.segment_sum(kernel(x, y).T, columns, SEGMENTS)


def both(x, y, rows, columns):
    matrix = kernel(x, y)
    return by_rows(x, y, rows, columns), ops.segment_max(matrix.T, columns, 5), matrix.sum(1)


def least(x, y, rows, columns):
    return ops.segment_min(kernel(x, y), rows, SEGMENTS)


def product(x, y, rows, columns):
    return ops.segment_prod(1 + kernel(x, y) / 64, rows, SEGMENTS)


def added_to_rows(x, y, rows, columns):
    """Negative labels count from the end here."""
    start = jnp.arange(SEGMENTS * COLUMNS, dtype=x.dtype).reshape(SEGMENTS, COLUMNS) / 1000
    return start.at[rows].add(kernel(x, y))


def added_to_columns(x, y, rows, columns):
    return jnp.ones((ROWS, SEGMENTS), x.dtype).at[:, columns].add(kernel(x, y))


def several_numbers(x, y, rows, columns):
    differences = x[:, None, :3] - y[None, :, :3]
    return ops.segment_sum(differences * kernel(x, y)[..., None], rows, SEGMENTS)


def of_one_segment(x, y, rows, columns):
    return ops.segment_sum(kernel(x, y), jnp.where(rows < 9, 0, rows), 1)


def computed(x, y, rows, columns):
    """What a row belongs to is found out in the same program."""
    return ops.segment_sum(kernel(x, y), jnp.argmin(kernel(x, y[:11]), axis=1), 11)


PROGRAMS = [by_rows, by_columns, both, least, product, added_to_rows, added_to_columns]
PROGRAMS += [several_numbers, of_one_segment, computed]


def uses_kernels(function, *arguments, limit=LIMIT):
    text = str(plimsoll.explain(function, *arguments, memory_limit=limit))
    return " r by %" in text


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("width", [3, 40])
def test_forward(function, width):
    x, y = points(width)
    arguments = x / width**0.5, y / width**0.5, labels(ROWS), labels(COLUMNS)
    assert uses_kernels(function, *arguments)
    check(function, *arguments, limit=LIMIT)


@pytest.mark.parametrize("function", [by_rows, by_columns, added_to_rows], ids=lambda f: f.__name__)
def test_gradient(function):
    def gradient(*given):
        return jax.grad(lambda *a: jnp.sum(jnp.sin(function(*a))), argnums=(0, 1))(*given)

    check(gradient, *points(), labels(ROWS), labels(COLUMNS), limit=LIMIT)


@pytest.mark.parametrize(("rows", "columns"), [(2, 300_007), (31, 30_011), (4001, 251)])
@pytest.mark.parametrize("segments", [1, 2, 5, 41])
def test_sizes(rows, columns, segments):
    """Also more segments than rows."""

    def function(x, y, labels):
        return ops.segment_sum(kernel(x, y), labels, segments)

    arguments = *points(3, rows, columns), labels(rows, end=segments + 1)
    check(function, *arguments, limit=4 * columns * (segments + 20) + LIMIT)


@pytest.mark.parametrize("rows", [0, 1])
def test_hardly_any_rows(rows):
    arguments = *points(3, rows), labels(rows)
    function = limited(lambda x, y, rows: by_rows(x, y, rows, None))
    np.testing.assert_allclose(function(*arguments), by_rows(*arguments, None), rtol=1e-5)


def limited(function):
    return plimsoll.jit(function, memory_limit=LIMIT)


def test_labels_of_no_segment_add_nothing():
    x, y = points()
    for label in (-1, -SEGMENTS, SEGMENTS, 2**31 - 1, -(2**31)):
        found = limited(by_rows)(x, y, jnp.full(ROWS, label, jnp.int32), labels(COLUMNS))
        assert not found.any()


def test_negative_labels_count_from_the_end_where_jax_says_so():
    x, y = points()
    last = limited(added_to_rows)(x, y, jnp.full(ROWS, -1, jnp.int32), labels(COLUMNS))
    start = np.arange(SEGMENTS * COLUMNS, dtype=np.float32).reshape(SEGMENTS, COLUMNS) / 1000
    np.testing.assert_allclose(last[:-1], start[:-1], rtol=1e-6)
    np.testing.assert_allclose(last[-1], start[-1] + kernel(x, y).sum(0), rtol=1e-5)


@pytest.mark.parametrize("dtype", [jnp.int32, jnp.uint8])
@pytest.mark.parametrize("reduce", [ops.segment_sum, ops.segment_max, ops.segment_prod])
def test_integers_have_the_same_bits(reduce, dtype):
    def function(x, y, rows):
        return reduce(x[:, None] * y[None, :] - x[:, None], rows, SEGMENTS)

    x = jnp.asarray(np.random.default_rng(0).integers(0, 50, ROWS), dtype)
    y = jnp.asarray(np.random.default_rng(1).integers(0, 50, 3989), dtype)
    assert uses_kernels(function, x, y, labels(ROWS), limit=LIMIT)
    found = plimsoll.jit(function, memory_limit=LIMIT)(x, y, labels(ROWS))
    np.testing.assert_array_equal(found, jax.jit(function)(x, y, labels(ROWS)))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64])
def test_doubles_by_labels_of_any_type(dtype):
    with jax.enable_x64(True):
        x, y = (a.astype(jnp.float64) for a in points(3, 701, 503))
        rows = labels(701, least=0 if np.dtype(dtype).kind == "u" else -5).astype(dtype)

        def function(x, y, rows):
            return by_rows(x, y, rows, None)

        assert uses_kernels(function, x, y, rows)
        found = limited(function)(x, y, rows)
        assert error_of(found, jax.jit(function)(x, y, rows)) < 1e-14


def test_halves_are_added_in_single_precision():
    given = *(a.astype(jnp.bfloat16) for a in points()), labels(ROWS), labels(COLUMNS)
    found = limited(by_rows)(*given)
    assert found.dtype == jnp.bfloat16
    exact = by_rows(*(a.astype(jnp.float32) for a in given[:2]), *given[2:])
    assert error_of(found, exact) < 0.02
    check(by_rows, *given, limit=LIMIT, dtype=jnp.bfloat16)


def test_not_a_number_stays_where_it_is():
    x, y = points()
    rows = labels(ROWS)
    x = x.at[7].set(jnp.nan)
    for function in (by_rows, least):
        found = limited(function)(x, y, rows, labels(COLUMNS))
        assert np.isnan(found[rows[7]]).all()
        assert np.isnan(found).sum() == COLUMNS


@pytest.mark.parametrize("has_labels", [False, True])
def test_batches(has_labels):
    function = jax.vmap(
        lambda x, y, rows: by_rows(x, y, rows, None), in_axes=(0, None, 0 if has_labels else None)
    )
    rows = labels(3 * 401).reshape(3, 401)
    arguments = random(3, 401, 2), random(503, 2, seed=1), rows if has_labels else rows[0]
    assert uses_kernels(function, *arguments)
    check(function, *arguments, limit=LIMIT)


def test_rows_and_columns_may_be_the_same_points():
    def function(x, rows):
        return ops.segment_sum(kernel(x, x), rows, SEGMENTS)

    arguments = random(ROWS, 3), labels(ROWS)
    assert uses_kernels(function, *arguments)
    check(function, *arguments, limit=LIMIT)


def test_is_the_same_from_run_to_run():
    arguments = *points(), labels(ROWS), labels(COLUMNS)
    first = limited(both)(*arguments)
    for _ in range(3):
        jax.tree.map(np.testing.assert_array_equal, limited(both)(*arguments), first)


def test_explain_tells_why_there_is_no_kernel():
    def pairs(x, y, rows, columns):
        return jnp.zeros((SEGMENTS, SEGMENTS)).at[rows[:, None], columns].add(kernel(x, y))

    arguments = *points(), labels(ROWS), labels(COLUMNS)
    text = str(plimsoll.explain(pairs, *arguments, memory_limit=LIMIT))
    assert "needed whole by a scatter by more than one number" in text
