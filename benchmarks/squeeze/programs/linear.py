"""Linear algebra with one long side, and wide layers."""

import jax
import jax.numpy as jnp
from benchmarks.squeeze.table import normal, program, uniform
from jax.scipy.linalg import solve_triangular


@program("triangular solve with many right-hand sides: Mahalanobis distances")
def mahalanobis():
    def distances(x, mean, covariance):
        factor = jnp.linalg.cholesky(covariance)
        solved = solve_triangular(factor, (x - mean).T, lower=True)
        return jnp.sqrt(jnp.sum(solved**2, axis=0))

    root = normal(800, 800, scale=0.03)
    covariance = root @ root.T + jnp.eye(800)
    return distances, [normal(150_000, 800, seed=1), normal(800, seed=2), covariance]


@program("random Fourier features: normal equations of ridge regression")
def random_features():
    def fit(x, y, frequencies, phases):
        features = jnp.sqrt(2 / len(phases)) * jnp.cos(x @ frequencies + phases)
        gram = features.T @ features + 1e-1 * jnp.eye(len(phases))
        return jnp.linalg.solve(gram, features.T @ y)

    return fit, [normal(150_000, 10), normal(150_000, 3, seed=1), normal(10, 800), uniform(800)]


@program("wide network of one hidden layer: loss and gradient")
def wide_network():
    def loss(weights, x, y):
        hidden = jax.nn.silu(x @ weights["in"] + weights["bias"])
        return jnp.mean((hidden @ weights["out"] - y) ** 2)

    weights = {
        "in": normal(64, 50_000, scale=0.1),
        "bias": normal(50_000, scale=0.1),
        "out": normal(50_000, 8, scale=0.01),
    }
    return jax.value_and_grad(loss), [weights, normal(4096, 64), normal(4096, 8, seed=1)]


@program("polynomial features of degree two: standardised, then least squares gradient")
def polynomial_features():
    def loss(weights, x, y):
        products = x[:, :, None] * x[:, None, :]
        features = products.reshape(len(x), -1)
        features = (features - features.mean(0)) / (features.std(0) + 1e-6)
        return jnp.mean((features @ weights - y) ** 2)

    return jax.value_and_grad(loss), [
        normal(48 * 48, scale=0.01),
        normal(60_000, 48),
        normal(60_000, seed=1),
    ]


@program("factorisation of a dense table with missing entries: loss and gradient")
def factorisation():
    def loss(factors, table):
        users, items, user_bias, item_bias = factors
        known = ~jnp.isnan(table)
        predicted = users @ items.T + user_bias[:, None] + item_bias[None, :]
        errors = jnp.where(known, predicted - jnp.nan_to_num(table), 0.0)
        return jnp.sum(errors**2) / known.sum()

    table = jnp.where(uniform(20_000, 6000, seed=1) < 0.3, normal(20_000, 6000), jnp.nan)
    factors = (normal(20_000, 16, scale=0.1), normal(6000, 16, scale=0.1))
    return jax.value_and_grad(loss), [factors + (normal(20_000), normal(6000)), table]
