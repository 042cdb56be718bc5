"""All pairs of points: clusters, transport, samples compared, forces."""

import functools

import jax
import jax.numpy as jnp
from benchmarks.arrays import normal, uniform
from benchmarks.cpu.products import SQUARES, rbf_of, squared_distances
from benchmarks.cpu.table import COMPARED, Work, first_rows, row
from jax.scipy.special import logsumexp

GOALS = {"xla": 4}


@row("kmeans", "k-means step, 2·10⁵ points, 256 centres, d=8", GOALS, points=200_000)
def kmeans(points: int, centres: int = 256) -> Work:
    def scattered(x, nearest, count):
        sums = jax.ops.segment_sum(x, nearest, count)
        return sums, jax.ops.segment_sum(jnp.ones(len(x), x.dtype), nearest, count)

    def multiplied(x, nearest, count):
        members = jax.nn.one_hot(nearest, count, dtype=x.dtype)
        return members.T @ x, members.sum(0)

    def step(added, x, centres):
        nearest = jnp.argmin(squared_distances(x, centres), axis=1)
        sums, counts = added(x, nearest, len(centres))
        return sums / jnp.maximum(counts, 1)[:, None]

    x = normal(points, 8)
    forms = [functools.partial(step, added) for added in (scattered, multiplied)]
    return Work(forms, [x, x[:centres]])


@row("sinkhorn", "Sinkhorn iteration, 10⁴×10⁴, d=3", GOALS, n=10_000)
def sinkhorn(n: int) -> Work:
    """Both potentials once, in the log domain."""

    def step(squares, x, y, g, epsilon=0.1):
        costs = squares(x, y)
        f = -epsilon * logsumexp((g[None, :] - costs) / epsilon, axis=1)
        return f, -epsilon * logsumexp((f[:, None] - costs) / epsilon, axis=0)

    forms = [functools.partial(step, squares) for squares in SQUARES]
    return Work(forms, [uniform(n, 3), uniform(n, 3, seed=1), 0.1 * normal(n, seed=2)])


@row("mmd", "MMD with gradient, 8·10³ + 8·10³, d=3", GOALS, n=8000)
def mmd(n: int) -> Work:
    def gradient(kernel):
        def discrepancy(x, y):
            return kernel(x, x).mean() + kernel(y, y).mean() - 2 * kernel(x, y).mean()

        return jax.value_and_grad(discrepancy)

    forms = [gradient(rbf_of(squares)) for squares in SQUARES]
    return Work(forms, [normal(n, 3), normal(n, 3, seed=1) + 0.5])


@row("nbody", "N-body forces, n=10⁴", GOALS, n=10_000)
def nbody(n: int) -> Work:
    def of_separations(at, positions, masses):
        separation = positions[None, :, :] - at[:, None, :]
        distance = jnp.sqrt(jnp.sum(separation**2, axis=-1) + 1e-2)
        return jnp.einsum("ij,ijk->ik", masses / distance**3, separation)

    def of_distances(at, positions, masses):
        weights = masses / jnp.sqrt(squared_distances(at, positions) + 1e-2) ** 3
        return weights @ positions - weights.sum(1, keepdims=True) * at

    def exact(positions, masses):
        return of_separations(positions[:COMPARED], positions, masses)

    forms = [
        lambda positions, masses, accelerations=accelerations: accelerations(
            positions, positions, masses
        )
        for accelerations in (of_separations, of_distances)
    ]
    return Work(forms, [normal(n, 3), uniform(n, seed=1)], exact, first_rows)
