"""All pairs of points: transport, embeddings, clusters, neighbours, forces."""

import jax
import jax.numpy as jnp
from benchmarks.squeeze.programs.kernels import differences_squared, squared_distances
from benchmarks.squeeze.table import normal, program, uniform
from jax import lax
from jax.scipy.special import logsumexp


@program("Sinkhorn in the log domain: transport cost and gradient by the points")
def sinkhorn():
    def cost(x, y, epsilon=0.5):
        costs = squared_distances(x, y)

        def potentials(costs):
            def step(_, potentials):
                _, g = potentials
                f = -epsilon * (logsumexp((g[None, :] - costs) / epsilon, axis=1) - jnp.log(len(x)))
                g = -epsilon * (logsumexp((f[:, None] - costs) / epsilon, axis=0) - jnp.log(len(y)))
                return f, g

            zeros = jnp.zeros(len(x)), jnp.zeros(len(y))
            return lax.fori_loop(0, 5, step, zeros)

        f, g = potentials(lax.stop_gradient(costs))
        logits = (f[:, None] + g[None, :] - lax.stop_gradient(costs)) / epsilon
        plan = jnp.exp(logits - 2 * jnp.log(len(x)))
        return jnp.sum(plan * costs)

    return jax.value_and_grad(cost), [normal(8000, 3), normal(8000, 3, seed=1) + 0.5]


@program("t-SNE: gradient of the divergence by the embedding")
def tsne_gradient():
    def divergence(embedding, x, precisions):
        off_diagonal = 1.0 - jnp.eye(len(x))
        logits = -squared_distances(x, x) * precisions[:, None]
        conditional = jax.nn.softmax(jnp.where(off_diagonal > 0, logits, -jnp.inf), axis=1)
        p = jnp.maximum((conditional + conditional.T) / (2 * len(x)), 1e-12)
        affinity = off_diagonal / (1 + differences_squared(embedding, embedding))
        q = jnp.maximum(affinity / affinity.sum(), 1e-12)
        return jnp.sum(p * (jnp.log(p) - jnp.log(q)))

    return jax.value_and_grad(divergence), [
        normal(6000, 2, seed=1),
        normal(6000, 50),
        0.02 + 0.02 * uniform(6000, seed=2),
    ]


@program("k-means: three iterations of Lloyd's algorithm")
def kmeans():
    def lloyd(x, centres):
        def step(_, centres):
            nearest = jnp.argmin(squared_distances(x, centres), axis=1)
            members = jax.nn.one_hot(nearest, len(centres), dtype=x.dtype)
            return (members.T @ x) / jnp.maximum(members.sum(0)[:, None], 1.0)

        centres = lax.fori_loop(0, 3, step, centres)
        return centres, jnp.min(squared_distances(x, centres), axis=1).mean()

    x = normal(150_000, 16)
    return lloyd, [x, x[:800]]


@program("mean shift: five iterations over all points")
def mean_shift():
    def shift(x):
        def step(points, _):
            weights = jnp.exp(-0.5 * squared_distances(points, x) / 0.3)
            moved = (weights @ x) / weights.sum(1, keepdims=True)
            return moved, jnp.abs(moved - points).max()

        return lax.scan(step, x, None, length=5)

    return shift, [normal(10_000, 3)]


@program("N-body: accelerations, with softening")
def nbody():
    def accelerations(positions, masses):
        separation = positions[None, :, :] - positions[:, None, :]
        distance = jnp.sqrt(jnp.sum(separation**2, axis=-1) + 1e-2)
        return jnp.einsum("ij,ijk->ik", masses / distance**3, separation)

    return accelerations, [normal(9000, 3), uniform(9000, seed=1)]


@program("Lennard-Jones fluid in a periodic box: energy and forces")
def lennard_jones():
    def energy(positions, box=20.0, cutoff=2.5):
        separation = positions[:, None, :] - positions[None, :, :]
        separation = separation - box * jnp.round(separation / box)
        squares = jnp.sum(separation**2, axis=-1)
        pairs = (squares < cutoff**2) & ~jnp.eye(len(positions), dtype=bool)
        inverse = jnp.where(pairs, 1 / jnp.where(pairs, jnp.maximum(squares, 0.5), 1.0), 0.0) ** 3
        return 2 * jnp.sum(inverse**2 - inverse)

    return jax.value_and_grad(energy), [20 * uniform(6000, 3)]


@program("nearest neighbours, Euclidean")
def knn_euclidean():
    def neighbours(points, queries):
        values, indices = lax.top_k(-squared_distances(queries, points), 10)
        return jnp.sqrt(-values), indices

    return neighbours, [normal(100_000, 32), normal(3000, 32, seed=1)]


@program("nearest neighbours, Manhattan")
def knn_manhattan():
    def neighbours(points, queries):
        distances = jnp.abs(queries[:, None, :] - points[None, :, :]).sum(-1)
        values, indices = lax.top_k(-distances, 10)
        return -values, indices

    return neighbours, [normal(60_000, 8), normal(3000, 8, seed=1)]


@program("nearest neighbours, cosine, with votes for a class")
def knn_cosine():
    def classify(points, labels, queries):
        points = points / jnp.linalg.norm(points, axis=1, keepdims=True)
        queries = queries / jnp.linalg.norm(queries, axis=1, keepdims=True)
        similarity, indices = lax.top_k(queries @ points.T, 20)
        votes = jax.nn.one_hot(labels[indices], 10, dtype=points.dtype)
        return jnp.einsum("qk,qkc->qc", jnp.exp(similarity / 0.07), votes)

    labels = jnp.arange(100_000) * 7919 % 10
    return classify, [normal(100_000, 64), labels, normal(3000, 64, seed=1)]


@program("kernel density: log-density at many points, and gradient by the bandwidth")
def kernel_density():
    def loss(log_width, x, points):
        logits = -0.5 * squared_distances(points, x) / jnp.exp(2 * log_width)
        densities = logsumexp(logits, axis=1) - x.shape[1] * log_width - jnp.log(len(x))
        return densities.mean()

    return jax.value_and_grad(loss), [normal(scale=0.1), normal(10_000, 4), normal(12_000, 4)]


@program("Chamfer distance of two point clouds, and gradient")
def chamfer():
    def distance(x, y):
        squares = differences_squared(x, y)
        return squares.min(0).mean() + squares.min(1).mean()

    return jax.value_and_grad(distance), [normal(7000, 3), normal(7000, 3, seed=1)]
