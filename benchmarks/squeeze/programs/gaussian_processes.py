"""Gaussian processes, exact and sparse, written in plain JAX."""

import jax
import jax.numpy as jnp
from benchmarks.squeeze.programs.kernels import ard_parameters, matern52, rbf
from benchmarks.squeeze.table import normal, program
from jax.scipy.linalg import cho_solve, solve_triangular
from jax.scipy.sparse.linalg import cg


def sgpr_loss(parameters, inducing, x, y):
    """Titsias' bound, negative: K_uf is inducing points by data."""
    noise = jnp.exp(parameters["log_noise"])
    kernel_uu = rbf(parameters, inducing, inducing) + 1e-3 * jnp.eye(len(inducing))
    kernel_uf = rbf(parameters, inducing, x)
    factor = jnp.linalg.cholesky(kernel_uu)
    a = solve_triangular(factor, kernel_uf, lower=True) / jnp.sqrt(noise)
    b_factor = jnp.linalg.cholesky(a @ a.T + jnp.eye(len(inducing)))
    c = solve_triangular(b_factor, a @ y, lower=True) / jnp.sqrt(noise)
    count = len(x)
    bound = -0.5 * count * jnp.log(2 * jnp.pi * noise) - jnp.sum(jnp.log(jnp.diag(b_factor)))
    bound += -0.5 * jnp.sum(y**2) / noise + 0.5 * jnp.sum(c**2)
    trace = count * jnp.exp(parameters["log_variance"]) / noise - jnp.sum(a**2)
    return -(bound - 0.5 * trace) / count


def regression_data(count, dimensions):
    x = normal(count, dimensions)
    return x, jnp.sin(2 * x).sum(1) + 0.1 * normal(count, seed=1)


@program("sparse Gaussian process (SGPR) with ARD: bound and gradient")
def sgpr():
    x, y = regression_data(100_000, 6)
    parameters = ard_parameters(6) | {"log_noise": jnp.asarray(-2.0)}
    return jax.value_and_grad(sgpr_loss, argnums=(0, 1)), [parameters, normal(400, 6, seed=2), x, y]


@program("exact Gaussian process: marginal likelihood by Cholesky, and gradient")
def gp_likelihood():
    def loss(parameters, x, y):
        kernel = matern52(parameters, x, x)
        kernel += jnp.exp(parameters["log_noise"]) * jnp.eye(len(x))
        factor = jnp.linalg.cholesky(kernel)
        fit = 0.5 * y @ cho_solve((factor, True), y)
        return (fit + jnp.sum(jnp.log(jnp.diag(factor)))) / len(x)

    x, y = regression_data(3500, 4)
    parameters = ard_parameters(4) | {"log_noise": jnp.asarray(-2.0)}
    return jax.value_and_grad(loss), [parameters, x, y]


@program("Gaussian process: mean and variance at many points, by triangular solves")
def gp_predict():
    def predict(parameters, x, y, points):
        kernel = rbf(parameters, x, x) + 0.1 * jnp.eye(len(x))
        factor = jnp.linalg.cholesky(kernel)
        cross = rbf(parameters, x, points)
        solved = solve_triangular(factor, cross, lower=True)
        mean = solved.T @ solve_triangular(factor, y, lower=True)
        return mean, jnp.exp(parameters["log_variance"]) - jnp.sum(solved**2, axis=0)

    x, y = regression_data(1000, 5)
    return predict, [ard_parameters(5), x, y, normal(150_000, 5, seed=3)]


@program("Gaussian process: conjugate gradients on a kernel matrix made before the loop")
def gp_conjugate_gradients():
    def solve(parameters, x, y):
        kernel = rbf(parameters, x, x)
        solution, _ = cg(lambda v: kernel @ v + v, y, maxiter=10, tol=0.0)
        return solution

    x, y = regression_data(12_000, 8)
    return solve, [ard_parameters(8), x, y]


@program("variational Gaussian process classifier: expected log-likelihood and gradient")
def svgp():
    def loss(parameters, inducing, mean, root, x, labels):
        kernel_uu = rbf(parameters, inducing, inducing) + 1e-3 * jnp.eye(len(inducing))
        factor = jnp.linalg.cholesky(kernel_uu)
        a = solve_triangular(factor, rbf(parameters, inducing, x), lower=True)
        f_mean = a.T @ mean
        f_variance = jnp.exp(parameters["log_variance"]) - jnp.sum(a**2, axis=0)
        f_variance += jnp.sum((jnp.tril(root).T @ a) ** 2, axis=0)
        # Gauss-Hermite points of order 3.
        nodes = jnp.array([-(3.0**0.5), 0.0, 3.0**0.5])
        weights = jnp.array([1.0, 4.0, 1.0]) / 6.0
        f = f_mean[:, None] + jnp.sqrt(jnp.maximum(f_variance, 1e-6))[:, None] * nodes
        likelihood = jnp.mean(jax.nn.log_sigmoid(labels[:, None] * f) @ weights)
        diagonal = jnp.diag(root)
        divergence = jnp.sum(jnp.tril(root) ** 2) + mean @ mean - jnp.sum(jnp.log(diagonal**2))
        return 0.5 * divergence / len(x) - likelihood

    x, y = regression_data(80_000, 4)
    arguments = [ard_parameters(4), normal(300, 4, seed=2), normal(300, seed=3)]
    arguments += [jnp.eye(300) + normal(300, 300, seed=4, scale=0.01), x, jnp.sign(y)]
    return jax.value_and_grad(loss, argnums=(0, 1, 2, 3)), arguments
