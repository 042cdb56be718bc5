"""Pieces of programs as people write them: what the others would seldom come to."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from splitting.graph import EXACT_LIMITS, Builder, Spec, Unfit
from splitting.ops_elementwise import real_float
from splitting.ops_indexing import is_index
from splitting.ops_reducing import resized, without_nan


def _rows(spec: Spec) -> bool:
    return real_float(spec) and spec.rank == 2 and spec.size > 0 and spec.shape[1] <= 64


def _paired_rows(g: Builder) -> tuple[int, int, int]:
    """A matrix with few enough rows for one number of each pair of them; rows and columns."""
    x = g.pick(_rows)
    n, width = g.specs[x].shape
    if n * n > g.most_elements:
        raise Unfit
    return x, n, width


def _tamed(u):
    return jnp.tanh(without_nan(u))


def _scaled(u):
    """Sums of many gradients, brought to the size of one."""
    return jnp.tanh(u / jnp.asarray(max(1.0, u.size**0.5), u.dtype))


def layers(g: Builder) -> None:
    """A training step through a scan over layers: gradients add up over the rows."""
    x = g.pick(_rows)
    y = g.pick(real_float)
    n, width = g.specs[x].shape
    count = g.integer(1, 4)
    if count * width * width > g.most_elements or g.specs[y].size == 0:
        raise Unfit
    has_norm, has_dropout, has_checkpoint = g.chance(0.4), g.chance(0.4), g.chance(0.3)
    is_mean = g.chance(0.5)
    seed = g.integer(0, 1000)

    def run(u, v):
        weights = _tamed(resized(v, (count, width, width)).astype(u.dtype)) / width**0.5
        biases = jnp.linspace(-1, 1, count * width, dtype="float32").reshape(count, width)
        biases = biases.astype(u.dtype)

        def layer(h, both):
            weight, bias = both
            h = jnp.dot(h, weight, precision=lax.Precision.HIGHEST) + bias
            if has_norm:
                h = h - jnp.mean(h, -1, keepdims=True)
                h = h * lax.rsqrt(jnp.mean(h * h, -1, keepdims=True) + 0.1)
            if has_dropout:
                keep = jax.random.bernoulli(jax.random.key(seed), 0.5, h.shape)
                h = jnp.where(keep, h, jnp.zeros_like(h))
            return jnp.tanh(h), None

        def loss(some, other, rows):
            body = jax.checkpoint(layer) if has_checkpoint else layer
            h, _ = lax.scan(body, rows, (some, other))
            return (jnp.mean if is_mean else jnp.sum)(h * h)

        value, slopes = jax.value_and_grad(loss, (0, 1, 2))(weights, biases, _tamed(u))
        return [_scaled(s) for s in (*slopes, value)]

    g.add(f"layers[{count} of {width}]", [x, y], run, False, 1.0)


def recurrence(g: Builder) -> None:
    """A network over time, with inputs and outputs of each step, and its gradient."""
    x = g.pick(lambda s: real_float(s) and s.rank == 3 and s.size > 0 and s.shape[2] <= 40)
    time, batch, width = g.specs[x].shape
    if time > 40:
        raise Unfit
    backwards = g.chance(0.3)

    def run(u):
        weight = jnp.cos(jnp.arange(width * width, dtype="float32")).reshape(width, width)
        weight = (weight / width).astype(u.dtype)

        def loss(some, sequence):
            def step(h, inputs):
                h = jnp.tanh(jnp.dot(h, some, precision=lax.Precision.HIGHEST) + inputs)
                return h, jnp.sum(h, -1)

            zero = jnp.zeros((batch, width), u.dtype)
            last, sums = lax.scan(step, zero, sequence, reverse=backwards)
            return jnp.sum(last) + jnp.sum(sums * sums), sums

        (_, sums), slopes = jax.value_and_grad(loss, (0, 1), has_aux=True)(weight, _tamed(u))
        return [_scaled(s) for s in (*slopes, sums)]

    g.add(f"recurrence[{width}]", [x], run, False, 1.0)


def attention(g: Builder) -> None:
    x, n, width = _paired_rows(g)
    is_causal, has_slope = g.chance(0.5), g.chance(0.5)

    def run(u):
        def attend(rows):
            scores = jnp.einsum("id,jd->ij", rows, rows, precision=lax.Precision.HIGHEST)
            scores = scores / jnp.asarray(width**0.5, rows.dtype)
            if is_causal:
                places = [lax.broadcasted_iota("int32", (n, n), d) for d in (0, 1)]
                scores = jnp.where(places[0] >= places[1], scores, jnp.finfo(rows.dtype).min / 2)
            return jnp.dot(jax.nn.softmax(scores, -1), rows, precision=lax.Precision.HIGHEST)

        rows = _tamed(u)
        if not has_slope:
            return attend(rows)
        return _scaled(jax.grad(lambda v: jnp.sum(attend(v) ** 2))(rows))

    g.add(f"attention[causal {is_causal}, gradient {has_slope}]", [x], run, False, 1.0)


def contrast(g: Builder) -> None:
    """A loss with a softmax along both axes of one matrix."""
    x, n, _ = _paired_rows(g)

    def run(u):
        def loss(a):
            scores = jnp.einsum("id,jd->ij", a, jnp.sin(a), precision=lax.Precision.HIGHEST)
            rows = jax.nn.log_softmax(scores, 1)
            columns = jax.nn.log_softmax(scores, 0)
            return -jnp.mean(jnp.diagonal(rows) + jnp.diagonal(columns))

        value, slope = jax.value_and_grad(loss)(_tamed(u))
        return [_scaled(value), _scaled(slope)]

    g.add("contrast[]", [x], run, False, 1.0)


def neighbours(g: Builder) -> None:
    """The nearest of many, exactly: places and distances."""
    x = g.pick(lambda s: _rows(s) and s.exact and s.bound <= 64)
    a = g.specs[x]
    n, width = a.shape
    bound = max(4 * width * a.bound**2, float(n))
    # Places are exact only if all distances are.
    if n * n > g.most_elements or bound > EXACT_LIMITS.get(a.dtype, math.inf):
        raise Unfit
    k = g.integer(1, min(n, 12))

    def run(u):
        u = jnp.where(jnp.isfinite(u), u, jnp.zeros_like(u))
        distances = jnp.sum(jnp.square(u[:, None] - u[None]), -1)
        values, places = lax.top_k(-distances, k)
        return values, places, jnp.argmin(distances, 0).astype("int32")

    g.add(f"neighbours({k})", [x], run, True, bound)


def clusters(g: Builder) -> None:
    """To which centre each row belongs, and the sums of each cluster."""
    x = g.pick(lambda s: _rows(s) and s.exact and s.bound <= 64)
    a = g.specs[x]
    n, width = a.shape
    bound = max(4 * width * a.bound**2, n * a.bound)
    if bound > EXACT_LIMITS.get(a.dtype, math.inf):
        raise Unfit
    count = g.integer(1, min(n, 20))

    def run(u):
        u = jnp.where(jnp.isfinite(u), u, jnp.zeros_like(u))
        distances = jnp.sum(jnp.square(u[:, None] - u[None, :count]), -1)
        nearest = jnp.argmin(distances, 1)
        sums = jax.ops.segment_sum(u, nearest, count)
        return sums, nearest.astype("int32"), jnp.min(distances, 1)

    g.add(f"clusters({count})", [x], run, True, bound)


def embedding(g: Builder) -> None:
    """Rows of a table by their numbers, a loss with the right class of each, and the gradient."""
    y = g.pick(lambda s: is_index(s) and s.rank == 1)
    x = g.pick(_rows)
    rows, width = g.specs[x].shape

    def run(u, i):
        places = jnp.remainder(i.astype("int32"), rows)
        classes = jnp.remainder(i.astype("int32"), width)

        def loss(table):
            scores = jax.nn.log_softmax(table[places] * 2, -1)
            return -jnp.mean(jnp.take_along_axis(scores, classes[:, None], -1))

        value, slope = jax.value_and_grad(loss)(_tamed(u))
        return [_scaled(value), _scaled(slope)]

    g.add("embedding[]", [x, y], run, False, 1.0)


def convolutions(g: Builder) -> None:
    """A small convolutional network with pooling, and its gradient."""
    x = g.pick(lambda s: real_float(s) and s.rank == 3 and s.size > 0 and min(s.shape[1:]) >= 4)
    n, height, width = g.specs[x].shape
    channels = g.integer(1, 4)
    if n * height * width * channels > g.most_elements:
        raise Unfit

    def run(u):
        kernel = jnp.sin(jnp.arange(9 * channels, dtype="float32")).reshape(3, 3, 1, channels)

        def loss(weight, images):
            h = lax.conv_general_dilated(
                images[..., None],
                weight,
                (1, 1),
                "SAME",
                dimension_numbers=("NHWC", "HWIO", "NHWC"),
                precision=lax.Precision.HIGHEST,
            )
            h = jnp.tanh(h)
            h = h - jnp.mean(h, (0, 1, 2))
            h = h * lax.rsqrt(jnp.mean(h * h, (0, 1, 2)) + 0.1)
            window = (1, 2, 2, 1)
            h = lax.reduce_window(h, np.zeros((), h.dtype), lax.add, window, window, "VALID")
            return jnp.mean(h * h)

        value, slopes = jax.value_and_grad(loss, (0, 1))(kernel.astype(u.dtype), _tamed(u))
        return [_scaled(s) for s in (*slopes, value)]

    g.add(f"convolutions[{channels}]", [x], run, False, 1.0)


def per_example(g: Builder) -> None:
    """The gradient of each row on its own, and sums of their squares."""
    x = g.pick(_rows)
    n, width = g.specs[x].shape

    def run(u):
        weight = jnp.cos(jnp.arange(width * width, dtype="float32")).reshape(width, width)
        weight = (weight / width).astype(u.dtype)

        def loss(some, row):
            return jnp.sum(jnp.tanh(jnp.dot(row, some, precision=lax.Precision.HIGHEST)) ** 2)

        slopes = jax.vmap(jax.grad(loss), (None, 0))(weight, _tamed(u))
        return _scaled(jnp.sum(jnp.square(slopes), (1, 2))), _scaled(jnp.mean(slopes, 0))

    if n * width * width > 4 * g.most_elements:
        raise Unfit
    g.add("per_example[]", [x], run, False, 1.0)


def sinkhorn(g: Builder) -> None:
    """A matrix that a loop reads by rows and by columns."""
    x, n, _ = _paired_rows(g)
    turns = g.integer(1, 3)

    def run(u):
        rows = _tamed(u)
        costs = jnp.sum(jnp.square(rows[:, None] - rows[None]), -1)

        def turn(_, both):
            f, h = both
            f = -jax.nn.logsumexp(h[None, :] - costs, 1)
            return f, -jax.nn.logsumexp(f[:, None] - costs, 0)

        zero = jnp.zeros((n,), rows.dtype)
        f, h = lax.fori_loop(0, turns, turn, (zero, zero))
        return jnp.tanh(f), jnp.tanh(h), jnp.tanh(jnp.sum(jnp.exp(f[:, None] + h - costs) * costs))

    g.add(f"sinkhorn[{turns}]", [x], run, False, 1.0)


OPS = [
    (layers, 2.5),
    (recurrence, 1.5),
    (attention, 2),
    (contrast, 1.5),
    (neighbours, 2),
    (clusters, 1.5),
    (embedding, 1.5),
    (convolutions, 1.5),
    (per_example, 1),
    (sinkhorn, 1),
]
