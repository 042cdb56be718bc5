"""Nearest neighbours."""

import jax.numpy as jnp
import numpy as np
from benchmarks.arrays import normal
from benchmarks.cpu.products import squared_distances
from benchmarks.cpu.table import COMPARED, Work, first_rows, row
from jax import lax

COUNT = 10
SIZES = {"points": 100_000, "queries": 1000}


def neighbours_work(distances, points: np.ndarray, queries: np.ndarray) -> Work:
    def neighbours(points, queries):
        values, indices = lax.top_k(-distances(queries, points), COUNT)
        return -values, indices

    def exact(points, queries):
        return neighbours(points, queries[:COMPARED])

    return Work([neighbours], [points, queries], exact, first_rows)


def manhattan(x, y):
    return jnp.sum(jnp.abs(x[:, None, :] - y[None, :, :]), axis=-1)


def cosine_distances(x, y):
    x = x / jnp.linalg.norm(x, axis=1, keepdims=True)
    y = y / jnp.linalg.norm(y, axis=1, keepdims=True)
    return 1 - x @ y.T


@row("knn_d10", "kNN L2, d=10, 10⁵×10³, k=10", {"xla": 8, "keops": 8, "faiss": 8}, **SIZES)
def knn_d10(points: int, queries: int) -> Work:
    return neighbours_work(squared_distances, normal(points, 10), normal(queries, 10, seed=1))


@row("knn_sorted", "the same, points from far to near", {}, against=("knn_d10", 1 / 3), **SIZES)
def knn_sorted(points: int, queries: int) -> Work:
    """The worst case for who keeps the best so far: each point is nearer than those before."""
    near = np.float32(0.01) * normal(queries, 10, seed=1)
    far = normal(points, 10)
    order = np.argsort(-np.linalg.norm(far - near.mean(0), axis=1), kind="stable")
    return neighbours_work(squared_distances, far[order], near)


@row("knn_l1", "kNN L1, d=10", {"loop": 15, "keops": 6, "faiss": 8}, **SIZES)
def knn_l1(points: int, queries: int) -> Work:
    return neighbours_work(manhattan, normal(points, 10), normal(queries, 10, seed=1))


@row("knn_d100", "kNN L2, d=100", {"xla": 2.5, "faiss": 6}, **SIZES)
def knn_d100(points: int, queries: int) -> Work:
    return neighbours_work(squared_distances, normal(points, 100), normal(queries, 100, seed=1))


@row("knn_cosine", "kNN cosine, d=100", {"xla": 2.5, "faiss": 6}, **SIZES)
def knn_cosine(points: int, queries: int) -> Work:
    return neighbours_work(cosine_distances, normal(points, 100), normal(queries, 100, seed=1))
