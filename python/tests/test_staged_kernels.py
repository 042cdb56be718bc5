"""Kernels of several stages, such as attention: results, gradients, memory."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plimsoll
from kernel_check import KB, check, error_of, random


def stage_count(function, *arguments, limit):
    """How many stages the program's kernels have, and how many kernels of stages there are."""
    text = str(plimsoll.explain(function, *arguments, memory_limit=limit))
    return text.count("\n    stage "), text.count("\n    stages\n")


def attention(q, k, v):
    scores = jnp.einsum("...id,...jd->...ij", q, k) / np.sqrt(q.shape[-1])
    return jnp.einsum("...ij,...jd->...id", jax.nn.softmax(scores, axis=-1), v)


def causal(q, k, v):
    scores = jnp.einsum("...id,...jd->...ij", q, k)
    rows, columns = jnp.arange(q.shape[-2]), jnp.arange(k.shape[-2])
    scores = jnp.where(rows[:, None] >= columns, scores / np.sqrt(q.shape[-1]), -jnp.inf)
    return jnp.einsum("...ij,...jd->...id", jax.nn.softmax(scores, axis=-1), v)


def biased(q, k, v):
    scores = jnp.einsum("...id,...jd->...ij", q, k) + k[..., 0][..., None, :]
    return jnp.einsum("...ij,...jd->...id", jax.nn.softmax(scores, axis=-1), v)


def squashed(q, k, v):
    scores = 3 * jnp.tanh(jnp.einsum("...id,...jd->...ij", q, k) / 3)
    return jnp.einsum("...ij,...jd->...id", jax.nn.softmax(scores, axis=-1), v)


def gaussian(q, k, v):
    distances = jnp.sum((q[..., :, None, :2] - k[..., None, :, :2]) ** 2, axis=-1)
    return jnp.einsum("...ij,...jd->...id", jnp.exp(-distances), v)


def points(rows=601, columns=701, width=24, batch=(2,)):
    return (
        random(*batch, rows, width),
        random(*batch, columns, width, seed=1),
        random(*batch, columns, width, seed=2),
    )


@pytest.mark.parametrize("function", [attention, causal, biased, squashed, gaussian])
def test_forward(function):
    arguments = points()
    stages, kernels = stage_count(function, *arguments, limit=2500 * KB)
    assert stages >= 2
    assert kernels == 1
    check(function, *arguments, limit=2500 * KB)


@pytest.mark.parametrize("function", [attention, causal, squashed, gaussian])
def test_gradient(function):
    arguments = (*points(), random(2, 601, 24, seed=3))

    def gradient(q, k, v, w):
        result, backward = jax.vjp(function, q, k, v)
        return result, backward(w)

    stages, _ = stage_count(gradient, *arguments, limit=4000 * KB)
    assert stages >= 3
    check(gradient, *arguments, limit=4000 * KB)


# What the backward pass begins with is made of the forward pass's result.
def test_gradient_of_a_loss():
    arguments = points()

    def gradient(*given):
        return jax.grad(lambda *a: jnp.sum(jnp.sin(attention(*a))), argnums=(0, 1, 2))(*given)

    stages, kernels = stage_count(gradient, *arguments, limit=4000 * KB)
    assert stages >= 4
    assert kernels >= 2
    check(gradient, *arguments, limit=4000 * KB)


def test_attention_is_one_kernel():
    arguments = points()
    assert stage_count(attention, *arguments, limit=2500 * KB) == (3, 1)


# Sizes that no vector and no handful of rows divides.
@pytest.mark.parametrize(
    ("rows", "columns", "width", "limit"), [(997, 1009, 17, 4000 * KB), (1513, 2025, 19, 9000 * KB)]
)
def test_odd_sizes(rows, columns, width, limit):
    arguments = points(rows, columns, width, batch=())
    assert stage_count(attention, *arguments, limit=limit)[1] == 1
    check(attention, *arguments, limit=limit)


def test_grouped_heads():
    def grouped(q, k, v):
        scores = jnp.einsum("bihgd,bjhd->bhgij", q, k)
        return jnp.einsum("bhgij,bjhd->bihgd", jax.nn.softmax(scores, axis=-1), v)

    arguments = random(2, 301, 2, 3, 20), random(2, 401, 2, 20, seed=1), random(2, 401, 2, 20)
    assert stage_count(grouped, *arguments, limit=3500 * KB)[1] == 1
    check(grouped, *arguments, limit=3500 * KB)


def cross_entropy(x, w, labels):
    logits = x @ w.T
    chosen = jnp.sum(jnp.where(jnp.arange(w.shape[0]) == labels[:, None], logits, 0), axis=1)
    return jnp.mean(jax.nn.logsumexp(logits, axis=1) - chosen)


def test_cross_entropy():
    labels = jax.random.randint(jax.random.key(4), (701,), 0, 997)

    def loss(x, w):
        return cross_entropy(x, w, labels)

    arguments = random(701, 40), random(997, 40, seed=1) / 5
    for function in (loss, jax.grad(loss), jax.value_and_grad(loss, argnums=(0, 1))):
        check(function, *arguments, limit=4000 * KB)


@pytest.mark.parametrize("axis", [0, 1])
def test_logsumexp(axis):
    def total(x, y):
        return jax.nn.logsumexp(x @ y.T, axis=axis)

    arguments = random(701, 40), random(997, 40, seed=1) / 5
    assert stage_count(total, *arguments, limit=2400 * KB)[0] >= 2
    check(total, *arguments, limit=2400 * KB)


def test_doubles():
    with jax.enable_x64(True):
        arguments = [argument.astype(jnp.float64) for argument in points(401, 503)]
        assert stage_count(attention, *arguments, limit=3000 * KB)[1] == 1
        found = plimsoll.jit(attention, memory_limit=3000 * KB)(*arguments)
        assert error_of(found, jax.jit(attention)(*arguments)) < 1e-14


def test_halves():
    arguments = points()
    given = [argument.astype(jnp.bfloat16) for argument in arguments]
    assert stage_count(attention, *given, limit=3500 * KB)[1] == 1
    check(attention, *arguments, limit=3500 * KB, dtype=jnp.bfloat16)


def test_is_the_same_from_run_to_run():
    arguments = (*points(), random(2, 601, 24, seed=3))

    def gradient(q, k, v, w):
        return jax.vjp(attention, q, k, v)[1](w)

    function = plimsoll.jit(gradient, memory_limit=4000 * KB)
    first = function(*arguments)
    for _ in range(3):
        jax.tree.map(np.testing.assert_array_equal, first, function(*arguments))


def masked(mask, hidden):
    """Attention of rows to the columns that a mask of their positions shows."""

    def attend(q, k, v):
        rows, columns = jnp.arange(q.shape[-2])[:, None], jnp.arange(k.shape[-2])[None, :]
        scores = jnp.einsum("...id,...jd->...ij", q, k) / np.sqrt(q.shape[-1])
        weights = jax.nn.softmax(jnp.where(mask(rows, columns), scores, hidden), axis=-1)
        return jnp.einsum("...ij,...jd->...id", weights, v)

    return attend


MASKS = {
    "causal": lambda rows, columns: rows >= columns,
    "window": lambda rows, columns: (rows >= columns) & (rows - columns < 50),
    "groups": lambda rows, columns: rows // 150 == columns // 150,
    "later": lambda rows, columns: rows <= columns,
    "short": lambda rows, columns: (columns < 70) | (rows > 500),
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("hidden", [-jnp.inf, float(jnp.finfo("float32").min), -2.0])
def test_masks(mask, hidden):
    function = masked(MASKS[mask], hidden)

    def both(q, k, v):
        result, backward = jax.vjp(function, q, k, v)
        return result, *backward(jnp.cos(result))

    check(function, *points(601, 601), limit=2500 * KB)
    check(both, *points(601, 601, batch=()), limit=2500 * KB)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("hidden", [-jnp.inf, -2.0])
def test_masks_of_long_rows(mask, hidden):
    """There is no room for all columns of a few rows: columns come in slabs.

    What is hidden but finite are thousands of equal numbers in one sum.
    """
    function = masked(lambda rows, columns: MASKS[mask](25 * rows, columns // 2), hidden)

    def both(q, k, v):
        result, backward = jax.vjp(function, q, k, v)
        return result, *backward(jnp.cos(result))

    for given, width, limit in ((function, 64, 24_000 * KB), (both, 24, 45_000 * KB)):
        arguments = points(401, 20011, width=width, batch=())
        assert stage_count(given, *arguments, limit=limit)[0] >= 3
        check(given, *arguments, limit=limit)


def test_a_bias_of_each_head():
    """As ALiBi has it: the same for all of the batch, and made of numbers of the heads."""

    def attend(q, k, v, slopes):
        rows, columns = jnp.arange(q.shape[-2])[:, None], jnp.arange(k.shape[-2])[None, :]
        scores = jnp.einsum("bhid,bhjd->bhij", q, k) / np.sqrt(q.shape[-1])
        scores -= slopes[:, None, None] * jnp.abs(rows - columns)
        return jnp.einsum("bhij,bhjd->bhid", jax.nn.softmax(scores, axis=-1), v)

    def both(*given):
        result, backward = jax.vjp(attend, *given)
        return result, *backward(jnp.cos(result))[:3]

    arguments = *points(301, 401, batch=(2, 3)), jnp.array([0.5, 0.25, 0.125])
    for function in (attend, both):
        stages, kernels = stage_count(function, *arguments, limit=6000 * KB)
        assert stages >= 3
        assert kernels >= 1
        check(function, *arguments, limit=6000 * KB)


@pytest.mark.parametrize("number", [jnp.nan, jnp.inf])
def test_numbers_that_are_not_finite_behind_a_mask(number):
    """Zero times them is NaN, for plain XLA as well."""
    q, k, v = points(601, 601)
    v = v.at[:, 600, 0].set(number)
    found = plimsoll.jit(causal, memory_limit=2500 * KB)(q, k, v)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(jax.jit(causal)(q, k, v)))


def test_rows_that_see_nothing():
    def attend(q, k, v):
        return masked(lambda rows, columns: rows - 100 >= columns, -jnp.inf)(q, k, v)

    arguments = points(601, 601)
    found = plimsoll.jit(attend, memory_limit=2500 * KB)(*arguments)
    plain = jax.jit(attend)(*arguments)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(plain))
    np.testing.assert_allclose(found[:, 100:], plain[:, 100:], rtol=1e-4, atol=1e-5)
