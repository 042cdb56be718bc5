"""Kernel methods and Gaussian processes, as their formulas are written."""

import jax
import jax.numpy as jnp
from benchmarks.algebra.table import program
from benchmarks.arrays import integers, normal

KERNELS = "kernel methods"
PROCESSES = "Gaussian processes"


def rbf(x, y, scale=1.0):
    squares = jnp.sum(x**2, 1)[:, None] + jnp.sum(y**2, 1)[None, :] - 2 * x @ y.T
    return jnp.exp(-0.5 * jnp.maximum(squares, 0) / scale**2)


def distances(x, y):
    return jnp.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=-1)


@program(KERNELS, "RBF kernel by differences, times a vector")
def rbf_times_vector(n=3000, d=8):
    return (lambda x, v: jnp.exp(-0.5 * distances(x, x)) @ v), [normal(n, d), normal(n, seed=1)]


@program(KERNELS, "linear kernel matrix times a vector")
def linear_kernel(n=6000, d=64):
    return (lambda x, v: (x @ x.T) @ v), [normal(n, d), normal(n, seed=1)]


@program(KERNELS, "kernel ridge regression by an inverse")
def kernel_ridge(n=1500, d=8):
    def predict(x, y, points):
        return rbf(points, x) @ jnp.linalg.inv(rbf(x, x) + jnp.eye(len(x))) @ y

    return predict, [normal(n, d), normal(n, seed=1), normal(n, d, seed=2)]


@program(KERNELS, "Nyström approximation of a kernel, times a vector")
def nystrom(n=5000, m=500, d=8):
    def product(x, landmarks, v):
        across = rbf(x, landmarks)
        inner = rbf(landmarks, landmarks) + jnp.eye(len(landmarks))
        return (across @ jnp.linalg.inv(inner) @ across.T) @ v

    return product, [normal(n, d), normal(m, d, seed=1), normal(n, seed=2)]


@program(KERNELS, "independence criterion (HSIC): a trace with centring matrices")
def independence(n=1500, d=4):
    def criterion(x, y):
        centring = jnp.eye(len(x)) - 1 / len(x)
        return jnp.trace(rbf(x, x) @ centring @ rbf(y, y) @ centring) / (len(x) - 1) ** 2

    return criterion, [normal(n, d), normal(n, d, seed=1)]


@program(KERNELS, "maximum mean discrepancy of linear kernels")
def discrepancy(n=6000, d=32):
    def squared(x, y):
        return jnp.mean(x @ x.T) + jnp.mean(y @ y.T) - 2 * jnp.mean(x @ y.T)

    return squared, [normal(n, d), normal(n, d, seed=1) + 0.1]


@program(KERNELS, "random Fourier features [cos, sin] times weights, and the gradient")
def random_features(n=20_000, m=256, d=8):
    def loss(weights, x, frequencies, y):
        angles = x @ frequencies
        features = jnp.concatenate([jnp.cos(angles), jnp.sin(angles)], axis=1)
        return jnp.mean((features @ jnp.concatenate(weights) - y) ** 2)

    weights = (normal(m), normal(m, seed=1))
    arguments = [weights, normal(n, d, seed=2), normal(d, m, seed=3), normal(n, seed=4)]
    return jax.value_and_grad(loss), arguments


@program(PROCESSES, "posterior mean and variances with inv(K)")
def posterior(n=1200, m=1200, d=4):
    def predict(x, y, points):
        inverse = jnp.linalg.inv(rbf(x, x) + 0.5 * jnp.eye(len(x)))
        across = rbf(points, x)
        covariance = rbf(points, points) - across @ inverse @ across.T
        return across @ inverse @ y, jnp.diag(covariance)

    return predict, [normal(n, d), normal(n, seed=1), normal(m, d, seed=2)]


def likelihood(scale, x, y):
    kernel = rbf(x, x, scale) + 0.5 * jnp.eye(len(x))
    fit = y @ jnp.linalg.inv(kernel) @ y
    return 0.5 * fit + 0.5 * jnp.linalg.slogdet(kernel)[1]


@program(PROCESSES, "log likelihood with inv(K) and a determinant")
def log_likelihood(n=1500, d=4):
    return likelihood, [normal() * 0 + 1, normal(n, d), normal(n, seed=1)]


@program(PROCESSES, "log likelihood and its gradient")
def log_likelihood_gradient(n=1000, d=4):
    return jax.value_and_grad(likelihood), [normal() * 0 + 1, normal(n, d), normal(n, seed=1)]


@program(PROCESSES, "log likelihood by solve and log(det)")
def log_likelihood_solve(n=1000, d=4):
    def value(x, y):
        kernel = x @ x.T / x.shape[1] + jnp.eye(len(x))
        return 0.5 * y @ jnp.linalg.solve(kernel, y) + jnp.sum(
            jnp.log(jnp.diag(jnp.linalg.cholesky(kernel)))
        )

    return value, [normal(n, d), normal(n, seed=1)]


@program(PROCESSES, "kernel on a grid: kron(K1, K2) times a vector")
def grid(n=64, m=48, d=2):
    def product(x, y, v):
        return jnp.kron(rbf(x, x), rbf(y, y)) @ v

    return product, [normal(n, d), normal(m, d, seed=1), normal(n * m, seed=2)]


@program(PROCESSES, "Bayesian linear regression: the posterior and its predictions")
def bayesian_regression(n=20_000, d=400, m=2000):
    def predict(x, y, points):
        precision = x.T @ x / 0.1 + jnp.eye(x.shape[1])
        covariance = jnp.linalg.inv(precision)
        mean = covariance @ x.T @ y / 0.1
        return points @ mean, jnp.diag(points @ covariance @ points.T)

    return predict, [normal(n, d), normal(n, seed=1), normal(m, d, seed=2)]


@program(PROCESSES, "several outputs: one-hot tasks times their covariance")
def several_tasks(n=3000, tasks=20, d=4):
    def product(x, task, root, v):
        chosen = jax.nn.one_hot(task, len(root))
        return (rbf(x, x) * (chosen @ (root @ root.T) @ chosen.T)) @ v

    return product, [
        normal(n, d),
        integers(tasks, n),
        normal(tasks, tasks, seed=1),
        normal(n, seed=2),
    ]
