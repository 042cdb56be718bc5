"""The log likelihood of an exact Gaussian process, in plain JAX.

    python examples/gaussian_process.py [N]

The Cholesky factor of the N * N kernel matrix has to exist as a whole: no loop over chunks takes
that away, so under a limit below its size Plimsoll refuses the program before it runs.
"""

import sys

import jax
import jax.numpy as jnp

NOISE = 0.1


@jax.jit
def log_likelihood(points: jax.Array, targets: jax.Array) -> jax.Array:
    differences = points[:, None, :] - points[None, :, :]
    kernel = jnp.exp(-0.5 * jnp.sum(differences**2, axis=-1))
    factor = jnp.linalg.cholesky(kernel + NOISE * jnp.eye(len(points)))
    weights = jax.scipy.linalg.cho_solve((factor, True), targets)
    return -0.5 * targets @ weights - jnp.sum(jnp.log(jnp.diag(factor)))


def main() -> None:
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    points = jax.random.normal(jax.random.key(0), (size, 3))
    targets = jnp.sin(points[:, 0])
    print(f"n = {size}, log likelihood {float(log_likelihood(points, targets)):.6g}")


if __name__ == "__main__":
    main()
