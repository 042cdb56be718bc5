"""Kernel matrices times vectors, and their gradient."""

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from benchmarks.arrays import normal
from benchmarks.cpu.table import COMPARED, Work, first_rows, row

# Rows of points at a time of the exact gradient.
BLOCK = 500

PRODUCT = {"xla": 8, "loop": 1.7, "keops": 18, "hand": 0.95}


def squared_differences(x, y):
    return jnp.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=-1)


def squared_distances(x, y):
    squares = jnp.sum(x**2, axis=1)[:, None] + jnp.sum(y**2, axis=1)[None, :]
    return jnp.maximum(squares - 2 * x @ y.T, 0)


# Both are written for few dimensions: the first is exact, the second is a product of matrices.
SQUARES = [squared_differences, squared_distances]


def product_work(
    kernels: list[Callable], n: int, dimensions: int, *columns: int, is_same: bool = True
) -> Work:
    """With the same points on both sides, or others on each."""
    forms = [lambda x, y, v, kernel=kernel: kernel(x, y) @ v for kernel in kernels]

    def exact(x, y, v):
        return forms[0](x[:COMPARED], y, v)

    scale = np.sqrt(np.float32(dimensions))
    points = normal(n, dimensions) / scale
    others = points if is_same else normal(n, dimensions, seed=2) / scale
    return Work(forms, [points, others, normal(n, *columns, seed=1)], exact, first_rows)


def rbf_of(squares):
    return lambda x, y: jnp.exp(-0.5 * squares(x, y))


@row("rbf_large", "RBF × vector, d=3, n=10⁵", PRODUCT, n=100_000)
@row("rbf", "RBF × vector, d=3, n=2·10⁴", PRODUCT, n=20_000)
def rbf(n: int) -> Work:
    return product_work([rbf_of(squares) for squares in SQUARES], n, 3)


@row("rbf_others", "the same with other points on each side, n=2·10⁴", PRODUCT, n=20_000)
def rbf_others(n: int) -> Work:
    return product_work([rbf_of(squares) for squares in SQUARES], n, 3, is_same=False)


@row("laplacian_large", "Laplacian × vector, d=3, n=10⁵", PRODUCT, n=100_000)
@row("laplacian", "Laplacian × vector, d=3, n=2·10⁴", PRODUCT, n=20_000)
def laplacian(n: int) -> Work:
    def kernel(x, y):
        return jnp.exp(-jnp.sum(jnp.abs(x[:, None, :] - y[None, :, :]), axis=-1))

    return product_work([kernel], n, 3)


@row("matern", "Matérn-3/2 × vector, d=3, n=2·10⁴", {"xla": 6, "loop": 1.3}, n=20_000)
def matern(n: int) -> Work:
    def kernel(squares, x, y):
        distance = jnp.sqrt(3 * squares(x, y))
        return (1 + distance) * jnp.exp(-distance)

    return product_work([functools.partial(kernel, squares) for squares in SQUARES], n, 3)


WIDE = {"xla": 2.3, "keops": 20}


@row("rbf_d64", "RBF × 16 vectors, d=64, n=2·10⁴", WIDE, n=20_000)
def rbf_d64(n: int) -> Work:
    return product_work([rbf_of(squared_distances)], n, 64, 16)


@row("rbf_d64_others", "the same with other points on each side", WIDE, n=20_000)
def rbf_d64_others(n: int) -> Work:
    return product_work([rbf_of(squared_distances)], n, 64, 16, is_same=False)


@row("rbf_gradient", "gradient of RBF × vector, d=3, n=2·10⁴", {"xla": 8, "loop": 2.5}, n=20_000)
def rbf_gradient(n: int) -> Work:
    """By the points, the lengthscales and the vector."""

    def gradient(squares):
        def form(points, scales, v, w):
            x = points / scales
            return w @ (rbf_of(squares)(x, x) @ v)

        return jax.grad(form, argnums=(0, 1, 2))

    def part_of_form(points, scales, v, w, start):
        x = points / scales
        rows = jax.lax.dynamic_slice_in_dim(x, start, BLOCK)
        weights = jax.lax.dynamic_slice_in_dim(w, start, BLOCK)
        return weights @ (rbf_of(squared_differences)(rows, x) @ v)

    def exact(*arguments):
        part = jax.jit(jax.grad(part_of_form, argnums=(0, 1, 2)))
        parts = [part(*arguments, start) for start in range(0, n, BLOCK)]
        return jax.tree.map(lambda *values: sum(values), *parts)

    arguments = [normal(n, 3), 1 + 0.1 * normal(3, seed=1), normal(n, seed=2), normal(n, seed=3)]
    return Work([gradient(squares) for squares in SQUARES], arguments, exact)
