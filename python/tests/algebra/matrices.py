"""Makes matrices of which something is known, from arguments or from nothing."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np

import plimsoll
from algebra.build import INDEX, Builder, Unfit


def of_shape(g: Builder, shape: tuple[int, ...]) -> int:
    """A value of this shape: one that is there, or a new one."""
    found = [i for i, spec in g.specs.items() if spec.shape == shape and spec.dtype == g.dtype]
    if found and g.chance(0.6):
        return g.choice(found[-4:])
    if len(shape) == 2 and min(shape) > 0 and g.chance(0.6):
        makers = [low_rank, outer, kronecker, broadcast, pieces, constant, one_hot]
        if shape[0] == shape[1]:
            makers += [any_square] * len(makers)
        for _ in range(3):
            try:
                return g.choice(makers)(g, shape)
            except Unfit:
                continue
    return g.input(shape)


def invertible(g: Builder) -> int:
    """A well conditioned matrix: one that is there, or a new one."""
    if g.chance(0.5):
        try:
            return g.tagged("invertible")
        except Unfit:
            pass
    size = g.choice(size for size in g.sizes if size > 0)
    return any_invertible(g, (size, size))


def vector(g: Builder, size: int) -> int:
    return of_shape(g, (size,))


def low_rank(g: Builder, shape) -> int:
    rank = g.integer(1, 3)
    u, v = g.input((shape[0], rank)), g.input((shape[1], rank))
    return g.add("u @ v.T", [u, v], lambda u, v: u @ v.T, math.sqrt(rank))


def outer(g: Builder, shape) -> int:
    u, v = vector(g, shape[0]), vector(g, shape[1])
    if g.chance(0.5):
        return g.add("outer", [u, v], jnp.outer, g.scale(u, v))
    return g.add("u[:, None] * v", [u, v], lambda u, v: u[:, None] * v, g.scale(u, v))


def kronecker(g: Builder, shape) -> int:
    parts = [g.choice([d for d in range(1, n + 1) if n % d == 0]) for n in shape]
    a = g.input(parts)
    b = g.input([n // d for n, d in zip(shape, parts, strict=True)])
    return g.add("kron", [a, b], jnp.kron)


def broadcast(g: Builder, shape) -> int:
    axis = g.integer(0, 1)
    x = vector(g, shape[axis])
    column = (slice(None), None) if axis == 0 else (None, slice(None))
    return g.add(
        f"broadcast along {1 - axis}",
        [x],
        lambda v: jnp.broadcast_to(v[column], shape),
        g.scale(x),
    )


def pieces(g: Builder, shape) -> int:
    axis = g.integer(0, 1)
    if shape[axis] < 2:
        raise Unfit
    cut = g.integer(1, shape[axis] - 1)
    left, right = list(shape), list(shape)
    left[axis], right[axis] = cut, shape[axis] - cut
    operands = [g.input(left), g.input(right)]
    return g.add(f"concatenate({axis})", operands, lambda *v: jnp.concatenate(v, axis))


def constant(g: Builder, shape) -> int:
    if math.prod(shape) > 4000:
        raise Unfit
    kind = g.choice(["numbers", "zeros", "ones", "one number"])
    numbers = g.rng.integers(-3, 4, shape)
    numbers = {"zeros": 0 * numbers, "ones": 0 * numbers + 1, "one number": 0 * numbers + 2}.get(
        kind, numbers
    )
    scale = max(1.0, float(np.abs(numbers).mean())) if numbers.size else 1.0
    return g.add(f"constant {kind}", [g.like()], lambda x: jnp.asarray(numbers, x.dtype), scale)


def one_hot(g: Builder, shape) -> int:
    places = g.rng.integers(0, shape[1], shape[0]).astype(INDEX)

    def run(x):
        return (places[:, None] == jnp.arange(shape[1])).astype(x.dtype)

    return g.add("one-hot", [g.like()], run, 1 / math.sqrt(shape[1]))


def symmetric(g: Builder, shape) -> int:
    if g.chance(0.3) and g.depth == 0 and not g.is_integer and not g.is_complex:
        x = g.input(shape, "symmetric")
        return g.add("assume symmetric", [x], lambda a: plimsoll.assume(a, "symmetric"), 1.4)
    x = of_shape(g, shape)
    return g.add("a + a.T", [x], lambda a: a + a.T, 1.4 * g.scale(x))


def identity(g: Builder, shape) -> int:
    n = shape[0]
    run = g.choice([lambda x: jnp.eye(n, dtype=x.dtype), lambda x: jnp.identity(n, x.dtype)])
    return g.add("eye", [g.like()], run, 1 / math.sqrt(n), ["invertible", "definite"])


def permutation(g: Builder, shape) -> int:
    order = g.rng.permutation(shape[0]).astype(INDEX)
    is_first = g.chance(0.5)

    def run(x):
        eye = jnp.eye(shape[0], dtype=x.dtype)
        return eye[order] if is_first else eye[:, order]

    return g.add("permutation", [g.like()], run, 1 / math.sqrt(shape[0]), ["invertible"])


def _away_from_zero(v):
    return v if jnp.issubdtype(v.dtype, jnp.integer) else 1.5 + jnp.tanh(v)


def diagonal(g: Builder, shape) -> int:
    n = shape[0]
    x = vector(g, n)
    scale = 1.5 / math.sqrt(n)
    tags = [] if g.is_complex or g.is_integer else ["invertible", "definite"]
    if g.chance(0.5):
        return g.add("diag(v)", [x], lambda v: jnp.diag(_away_from_zero(v)), scale, tags)

    def run(v):
        return jnp.eye(n, dtype=v.dtype) * _away_from_zero(v)

    return g.add("eye * v", [x], run, scale, tags)


def triangular(g: Builder, shape) -> int:
    n = shape[0]
    x = g.input(shape)
    cut, tag = g.choice([(jnp.tril, "lower"), (jnp.triu, "upper")])
    if g.is_integer:
        return g.add(cut.__name__, [x], cut)

    def run(a):
        return cut(a) / n + 2 * jnp.eye(n, dtype=a.dtype)

    return g.add(f"{cut.__name__} + 2 eye", [x], run, 3 / math.sqrt(n), ["invertible", tag])


def definite(g: Builder, shape) -> int:
    n = shape[0]
    if g.chance(0.2) and g.depth == 0 and not g.is_complex:
        x = g.input(shape, "definite")

        def stated(a):
            return plimsoll.assume(a, "positive definite")

        return g.add("assume definite", [x], stated, 2 / math.sqrt(n), ["invertible", "definite"])
    x = g.input((n, g.choice([1, 3, n])))
    width = g.shape(x)[1]
    run = g.choice(
        [
            lambda a: a @ a.conj().T / width / 2 + jnp.eye(n, dtype=a.dtype),
            lambda a: jnp.eye(n, dtype=a.dtype) * 1.25 + (a / width / 2) @ a.conj().T,
        ]
    )
    return g.add("a @ a.T + eye", [x], run, 1 / math.sqrt(width), ["invertible", "definite"])


def factor(g: Builder, shape) -> int:
    x = definite(g, shape)
    scale = 1 / math.sqrt(shape[0])
    return g.add("cholesky", [x], jnp.linalg.cholesky, scale, ["invertible", "lower"])


def orthogonal(g: Builder, shape) -> int:
    x = g.input(shape)
    scale = 1 / math.sqrt(shape[0])
    return g.add("qr", [x], lambda a: jnp.linalg.qr(a)[0], scale, ["invertible"])


def near_identity(g: Builder, shape) -> int:
    n = shape[0]
    u, v = g.input((n, 2)), g.input((n, 2))

    def run(u, v):
        return jnp.eye(n, dtype=u.dtype) + u @ v.T / (4 * n)

    return g.add("eye + u @ v.T", [u, v], run, 1 / math.sqrt(n), ["invertible"])


def full(g: Builder, shape) -> int:
    n = shape[0]
    x = g.input(shape)

    def run(a):
        return a / n + 2 * jnp.eye(n, dtype=a.dtype)

    return g.add("a + 2 eye", [x], run, 2 / math.sqrt(n), ["invertible"])


OF_INTEGERS = (symmetric, identity, permutation, diagonal, triangular)
INVERTIBLE = (
    *(identity, permutation, diagonal, triangular, definite, definite, factor),
    *(orthogonal, near_identity, full, full),
)


def any_invertible(g: Builder, shape) -> int:
    return g.choice(OF_INTEGERS if g.is_integer else INVERTIBLE)(g, shape)


def any_square(g: Builder, shape) -> int:
    return symmetric(g, shape) if g.chance(0.2) else any_invertible(g, shape)
