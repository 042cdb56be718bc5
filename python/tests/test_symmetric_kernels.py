"""Kernels whose rows and columns are the same points: half of all pairs are computed."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plimsoll
from kernel_check import check, random
from test_kernels import gaussian, laplacian, matern

LIMIT = "3MB"
# Three blocks, the last of which is not whole.
POINTS = 1543


def products(x, y, v):
    squares = jnp.sum(x**2, 1)[:, None] + jnp.sum(y**2, 1)[None, :] - 2 * x @ y.T
    return jnp.exp(-0.1 * jnp.maximum(squares, 0)) @ v


def forces(x, y, v):
    separations = x[:, None, :] - y[None, :, :]
    squares = jnp.sum(separations**2, -1) + 0.1
    return jnp.einsum("ij,ijk->ik", v / squares**1.5, separations)


def largest(x, y, v):
    return jnp.max(v + jnp.sum(x[:, None, :] * y[None, :, :], -1), axis=1)


def together(function):
    return lambda x, v: function(x, x, v)


@pytest.mark.parametrize(
    "function", [gaussian, laplacian, matern, forces, largest], ids=lambda f: f.__name__
)
def test_of_few_dimensions(function):
    points, vector = random(POINTS, 3), random(POINTS, seed=1)
    check(together(function), points, vector, limit=LIMIT)
    check(function, points, points, vector, limit=LIMIT)


@pytest.mark.parametrize("columns", [1, 16, 19])
def test_products_with_several_vectors(columns):
    points, vectors = random(POINTS, 20), random(POINTS, columns, seed=1)
    check(together(products), points, vectors, limit=LIMIT)
    check(products, points, points, vectors, limit=LIMIT)


def test_gradient():
    def loss(x, v):
        return jnp.sum(jnp.sin(gaussian(x, x, v)))

    check(jax.grad(loss, argnums=(0, 1)), random(POINTS, 3), random(POINTS, seed=1), limit=LIMIT)


def test_other_points_are_not_taken_for_the_same():
    function = plimsoll.jit(gaussian, memory_limit=LIMIT)
    points, vector = random(POINTS, 3), random(POINTS, seed=1)
    others = points.at[-1, -1].add(1)
    for x, y in [(points, points), (points, others), (others, points), (points, points)]:
        expected = gaussian(x, y, vector)
        np.testing.assert_allclose(function(x, y, vector), expected, rtol=2e-5, atol=2e-5)


def test_is_the_same_from_run_to_run():
    function = plimsoll.jit(together(gaussian), memory_limit=LIMIT)
    points, vector = random(POINTS, 3), random(POINTS, seed=1)
    first = np.asarray(function(points, vector))
    for _ in range(3):
        np.testing.assert_array_equal(function(points, vector), first)
