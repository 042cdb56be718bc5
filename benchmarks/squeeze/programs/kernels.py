"""Kernel matrices and what is done with them."""

import jax
import jax.numpy as jnp
from benchmarks.squeeze.table import normal, program
from jax import lax


def differences_squared(x, y):
    return jnp.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=-1)


def squared_distances(x, y):
    products = x @ y.T
    squares = jnp.sum(x**2, axis=-1)[:, None] + jnp.sum(y**2, axis=-1)[None, :]
    return jnp.maximum(squares - 2 * products, 0.0)


def rbf(parameters, x, y):
    scale = jnp.exp(parameters["log_scale"])
    variance = jnp.exp(parameters["log_variance"])
    return variance * jnp.exp(-0.5 * squared_distances(x / scale, y / scale))


def matern52(parameters, x, y):
    scale = jnp.exp(parameters["log_scale"])
    variance = jnp.exp(parameters["log_variance"])
    distance = jnp.sqrt(5 * differences_squared(x / scale, y / scale) + 1e-12)
    return variance * (1 + distance + distance**2 / 3) * jnp.exp(-distance)


def ard_parameters(dimensions):
    return {"log_scale": normal(dimensions, scale=0.1), "log_variance": normal(scale=0.1)}


@program("RBF kernel with ARD, times a vector")
def rbf_product():
    def product(parameters, x, v):
        return rbf(parameters, x, x) @ v

    return product, [ard_parameters(8), normal(16_000, 8), normal(16_000)]


@program("RBF kernel with ARD: quadratic form and its gradient")
def rbf_gradient():
    def form(parameters, x, v):
        return v @ (rbf(parameters, x, x) @ v) / len(v)

    return jax.value_and_grad(form, argnums=(0, 1)), [
        ard_parameters(6),
        normal(10_000, 6),
        normal(10_000, seed=1),
    ]


@program("Matérn 5/2 kernel with ARD, differences: quadratic form and its gradient")
def matern_gradient():
    def form(parameters, x, v):
        return v @ (matern52(parameters, x, x) @ v) / len(v)

    return jax.value_and_grad(form), [ard_parameters(3), normal(7000, 3), normal(7000, seed=1)]


@program("periodic times rational quadratic kernel, several right-hand sides: gradient")
def periodic_gradient():
    def kernel(parameters, x, y):
        difference = x[:, None] - y[None, :]
        sine = jnp.sin(jnp.pi * difference / jnp.exp(parameters["log_period"]))
        periodic = jnp.exp(-2 * sine**2 / jnp.exp(2 * parameters["log_scale"]))
        alpha = jnp.exp(parameters["log_alpha"])
        quadratic = (1 + difference**2 / (2 * alpha)) ** -alpha
        return periodic * quadratic

    def loss(parameters, x, v, targets):
        return jnp.mean((kernel(parameters, x, x) @ v / len(x) - targets) ** 2)

    names = ("log_period", "log_scale", "log_alpha")
    parameters = {name: normal(seed=i, scale=0.3) for i, name in enumerate(names)}
    return jax.value_and_grad(loss), [
        parameters,
        3 * normal(6000),
        normal(6000, 8, seed=1),
        normal(6000, 8, seed=2),
    ]


@program("kernel PCA: subspace iteration on the centred kernel matrix")
def kernel_pca():
    def components(parameters, x, start):
        kernel = rbf(parameters, x, x)
        means = kernel.mean(0)
        centred = kernel - means[:, None] - means[None, :] + means.mean()

        def step(_, basis):
            return jnp.linalg.qr(centred @ basis)[0]

        basis = lax.fori_loop(0, 4, step, start)
        return jnp.sum(basis * (centred @ basis), axis=0)

    return components, [ard_parameters(5), normal(10_000, 5), normal(10_000, 6, seed=1)]


@program("maximum mean discrepancy with five bandwidths: gradient by the points")
def mmd_gradient():
    bandwidths = (0.25, 0.5, 1.0, 2.0, 4.0)

    def mean_kernel(x, y):
        squares = squared_distances(x, y)
        return sum(jnp.exp(-squares / (2 * width)).mean() for width in bandwidths)

    def discrepancy(x, y):
        return mean_kernel(x, x) + mean_kernel(y, y) - 2 * mean_kernel(x, y)

    return jax.value_and_grad(discrepancy), [normal(5000, 16), normal(5000, 16, seed=1) + 0.2]


@program("Nadaraya-Watson regression with its own bandwidth: leave-one-out loss and gradient")
def kernel_regression():
    def loss(log_scale, x, targets):
        logits = -0.5 * squared_distances(x, x) / jnp.exp(2 * log_scale)
        logits = jnp.where(jnp.eye(len(x), dtype=bool), -jnp.inf, logits)
        return jnp.mean((jax.nn.softmax(logits, axis=-1) @ targets - targets) ** 2)

    return jax.value_and_grad(loss), [normal(scale=0.1), normal(9000, 4), normal(9000, seed=1)]


@program("Hilbert-Schmidt independence criterion of two samples")
def hsic():
    def criterion(x, y):
        def centred(kernel):
            return kernel - kernel.mean(0) - kernel.mean(1, keepdims=True) + kernel.mean()

        first = centred(jnp.exp(-0.5 * squared_distances(x, x) / x.shape[1]))
        second = centred(jnp.exp(-0.5 * squared_distances(y, y) / y.shape[1]))
        return jnp.sum(first * second) / (len(x) - 1) ** 2

    x = normal(10_000, 10)
    return criterion, [x, jnp.sin(x[:, :5]) + normal(10_000, 5, seed=1)]
