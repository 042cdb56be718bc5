"""Derivatives by vmap: one for each example, Jacobians, Hessian products."""

import jax
import jax.numpy as jnp
from benchmarks.squeeze.table import integers, normal, program
from jax.flatten_util import ravel_pytree


def mlp(weights, x):
    for matrix, bias in weights[:-1]:
        x = jnp.tanh(x @ matrix + bias)
    matrix, bias = weights[-1]
    return x @ matrix + bias


def mlp_weights(*widths):
    return [
        (normal(before, after, seed=i, scale=before**-0.5), normal(after, seed=i, scale=0.1))
        for i, (before, after) in enumerate(zip(widths[:-1], widths[1:], strict=True))
    ]


def cross_entropy(logits, label):
    return jax.nn.logsumexp(logits) - logits[label]


@program("private training: gradient of each example, clipped and added")
def per_example_gradients():
    def clipped(weights, x, labels):
        def one(x, label):
            gradient = jax.grad(lambda w: cross_entropy(mlp(w, x), label))(weights)
            squares = sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(gradient))
            factor = jnp.minimum(1.0, 1.0 / jnp.sqrt(squares))
            return jax.tree.map(lambda leaf: leaf * factor, gradient)

        gradients = jax.vmap(one)(x, labels)
        return jax.tree.map(lambda leaf: leaf.mean(0), gradients)

    return clipped, [mlp_weights(256, 512, 256, 10), normal(768, 256), integers(10, 768)]


@program("neural tangent kernel from whole Jacobians")
def tangent_kernel():
    def kernel(weights, x):
        flat, restore = ravel_pytree(weights)

        def outputs(flat, x):
            return mlp(restore(flat), x)

        jacobian = jax.vmap(jax.jacrev(outputs), in_axes=(None, 0))(flat, x)
        return jnp.einsum("iap,jbp->iajb", jacobian, jacobian)

    return kernel, [mlp_weights(64, 256, 256, 5), normal(250, 64)]


@program("diagonal of the Hessian from products with many probes")
def hessian_probes():
    def diagonal(weights, x, labels, probes):
        flat, restore = ravel_pytree(weights)

        def loss(flat):
            return jax.vmap(cross_entropy)(mlp(restore(flat), x), labels).mean()

        products = jax.vmap(lambda v: jax.jvp(jax.grad(loss), (flat,), (v,))[1])(probes)
        return jnp.mean(probes * products, axis=0)

    weights = mlp_weights(32, 64, 64, 10)
    size = sum(leaf.size for leaf in jax.tree.leaves(weights))
    return diagonal, [weights, normal(4096, 32), integers(10, 4096), jnp.sign(normal(64, size))]


@program("Laplacian of a network at many points (a PDE residual): loss and gradient")
def laplacian():
    def loss(weights, points):
        def u(point):
            return mlp(weights, point)[0]

        def residual(point):
            return jnp.trace(jax.hessian(u)(point)) - jnp.sum(point**2)

        return jnp.mean(jax.vmap(residual)(points) ** 2)

    return jax.value_and_grad(loss), [mlp_weights(3, 64, 64, 1), normal(40_000, 3)]


@program("Gauss-Newton matrix of a curve fit, from the Jacobian of all residuals")
def gauss_newton():
    def step(parameters, x, y):
        def residual(parameters, x, y):
            amplitude, centre, log_width = jnp.split(parameters, 3)
            waves = amplitude * jnp.exp(-0.5 * ((x - centre) / jnp.exp(log_width)) ** 2)
            return waves.sum() - y

        rows = jax.vmap(jax.jacfwd(residual), in_axes=(None, 0, 0))(parameters, x, y)
        values = jax.vmap(residual, in_axes=(None, 0, 0))(parameters, x, y)
        matrix = rows.T @ rows + 1000.0 * jnp.eye(len(parameters))
        return parameters - jnp.linalg.solve(matrix, rows.T @ values)

    count = 200
    parameters = jnp.concatenate([jnp.ones(count), 3 * normal(count), jnp.full(count, -1.0)])
    return step, [parameters, 3 * normal(65_000), normal(65_000, seed=1)]
