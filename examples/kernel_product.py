"""The product of a kernel matrix and a vector, in plain JAX.

    python examples/kernel_product.py [N]

The matrix holds the squared-exponential kernel of all pairs of N points. It has N * N elements and
is only needed to be multiplied, so its memory is what keeps N small.
"""

import sys

import jax
import jax.numpy as jnp


def kernel_product(points: jax.Array, vector: jax.Array) -> jax.Array:
    """Returns exp(-|x_i - x_j|^2 / 2) @ vector."""
    differences = points[:, None, :] - points[None, :, :]
    kernel = jnp.exp(-0.5 * jnp.sum(differences**2, axis=-1))
    return kernel @ vector


def make_inputs(size: int) -> tuple[jax.Array, jax.Array]:
    """Returns `size` points in three dimensions, and a vector."""
    key_points, key_vector = jax.random.split(jax.random.key(0))
    points = jax.random.normal(key_points, (size, 3))
    vector = jax.random.normal(key_vector, (size,))
    return points, vector


def main() -> None:
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    product = jax.jit(kernel_product)(*make_inputs(size))
    print(f"n = {size}, checksum {float(jnp.sum(product)):.6g}")


if __name__ == "__main__":
    main()
