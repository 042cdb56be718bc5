"""Kernel ridge regression with learned length scales, in plain JAX.

    python examples/kernel_ridge.py [N] [STEPS]

Each step takes the loss and its gradient by the weights and the length scales. Both need the kernel
matrix of all pairs of N points: 40 GB at N = 100,000, and a gradient keeps more than one of them.
Nothing here knows of Plimsoll. Under PLIMSOLL_MEMORY_LIMIT=1GiB it runs within that.
"""

import sys

import jax
import jax.numpy as jnp

RIDGE = 1e-3
RATE = 0.1


def loss(parameters: dict[str, jax.Array], points: jax.Array, targets: jax.Array) -> jax.Array:
    """The mean squared error of the kernel's prediction, with a ridge on its norm."""
    scaled = points / jnp.exp(parameters["log_scales"])
    squares = jnp.sum(scaled**2, axis=-1)
    distances = squares[:, None] + squares[None, :] - 2 * scaled @ scaled.T
    kernel = jnp.exp(-0.5 * distances)
    prediction = kernel @ parameters["weights"] / len(points)
    norm = parameters["weights"] @ prediction / len(points)
    return jnp.mean((prediction - targets) ** 2) + RIDGE * norm


@jax.jit
def step(
    parameters: dict[str, jax.Array], points: jax.Array, targets: jax.Array
) -> tuple[dict[str, jax.Array], jax.Array]:
    """One step of gradient descent, and the loss before it."""
    value, gradient = jax.value_and_grad(loss)(parameters, points, targets)
    return jax.tree.map(lambda old, slope: old - RATE * slope, parameters, gradient), value


def main() -> None:
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    points = jax.random.normal(jax.random.key(0), (size, 3))
    targets = jnp.sin(3 * points[:, 0]) * points[:, 1]
    parameters = {"log_scales": jnp.zeros(3), "weights": jnp.ones(size)}
    for number in range(steps):
        parameters, value = step(parameters, points, targets)
        print(f"step {number}: loss {float(value):.6f}", flush=True)


if __name__ == "__main__":
    main()
