"""Factorisations, and random numbers."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from splitting.graph import Builder, Spec, is_float
from splitting.ops_elementwise import real_float
from splitting.ops_reducing import resized


def _matrices(spec: Spec) -> bool:
    return spec.rank >= 2 and spec.dtype in ("float32", "float64") and 0 < spec.shape[-1] <= 40


def _positive(u):
    """A well conditioned symmetric matrix out of any."""
    width = u.shape[-1]
    gram = jnp.einsum("...ki,...kj->...ij", u, u, precision=lax.Precision.HIGHEST)
    scale = jnp.asarray(1.0 / max(1, u.shape[-2]), u.dtype)
    return jnp.tanh(gram * scale) * jnp.asarray(0.5 / width, u.dtype) + jnp.eye(
        width, dtype=u.dtype
    )


def cholesky(g: Builder) -> None:
    x = g.pick(_matrices)
    g.add("cholesky", [x], lambda u: jnp.linalg.cholesky(_positive(u)), False, 2.0)


def triangular_solve(g: Builder) -> None:
    x = g.pick(_matrices)
    a = g.specs[x]
    y = g.pick(lambda s: s.dtype == a.dtype and s.size > 0)
    sides = g.dimension() or 1
    left, transpose, lower = g.chance(0.5), g.chance(0.5), g.chance(0.5)
    width = a.shape[-1]
    matrix = (width, sides) if left else (sides, width)

    def run(u, v):
        positive = _positive(u)
        right = resized(v, positive.shape[:-2] + matrix)
        return lax.linalg.triangular_solve(
            positive, right, left_side=left, lower=lower, transpose_a=transpose
        )

    name = f"triangular_solve(left {left}, transposed {transpose}, lower {lower})"
    g.add(name, [x, y], run, False, 2 * g.specs[y].bound)


def eigenvalues(g: Builder) -> None:
    x = g.pick(lambda s: _matrices(s) and s.shape[-1] <= 8)
    g.add("eigvalsh", [x], lambda u: jnp.linalg.eigvalsh(_positive(u)), False, 2.0)


def qr(g: Builder) -> None:
    x = g.pick(lambda s: _matrices(s) and s.shape[-1] <= 8)
    g.add("qr", [x], lambda u: jnp.linalg.qr(_positive(u), mode="r"), False, 2.0)


def random_numbers(g: Builder) -> None:
    seed = g.integer(0, 2**31 - 1)
    shape = tuple(g.dimension() for _ in range(g.integer(1, 2)))
    kind = g.choice(["normal", "uniform", "bits", "bernoulli", "randint"])
    indices = [i for i, s in g.specs.items() if s.dtype == "int32" and s.rank == 0]
    operands = [g.choice(indices)] if indices else []

    def run(*numbers):
        key = jax.random.key(seed)
        for number in numbers:
            key = jax.random.fold_in(key, number)
        if kind == "normal":
            return jax.random.normal(key, shape, "float32")
        if kind == "uniform":
            return jax.random.uniform(key, shape, "float32")
        if kind == "bits":
            return lax.bitcast_convert_type(jax.random.bits(key, shape, "uint32"), "int32")
        if kind == "bernoulli":
            return jax.random.bernoulli(key, 0.3, shape)
        return jax.random.randint(key, shape, -5, 50, dtype="int32")

    bound = {"normal": 8.0, "uniform": 1.0, "randint": 50.0, "bernoulli": 1.0}.get(kind)
    g.add(f"random {kind}", operands, run, kind in ("randint", "bernoulli"), bound)


def dropout(g: Builder) -> None:
    x = g.pick(real_float)
    a = g.specs[x]
    seed = g.integer(0, 2**31 - 1)

    def run(u):
        keep = jax.random.bernoulli(jax.random.key(seed), 0.5, u.shape)
        return jnp.where(keep, u * 2, jnp.zeros_like(u)) if is_float(u.dtype) else u

    g.add("dropout", [x], run, a.exact, 2 * a.bound)


OPS = [
    (cholesky, 1),
    (triangular_solve, 1.5),
    (eigenvalues, 0.5),
    (qr, 0.3),
    (random_numbers, 2),
    (dropout, 2),
]
