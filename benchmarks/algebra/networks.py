"""Attention, embeddings and losses."""

import jax
import jax.numpy as jnp
from benchmarks.algebra.table import program
from benchmarks.arrays import integers, normal

ATTENTION = "attention"
LOSSES = "losses"


@program(ATTENTION, "linear attention, (q k') v")
def linear_attention(length=4096, heads=4, width=64):
    def attend(q, k, v):
        scores = jnp.einsum("hid,hjd->hij", q, k) / length
        return jnp.einsum("hij,hjd->hid", scores, v)

    shape = (heads, length, width)
    return attend, [normal(*shape, seed=seed) for seed in range(3)]


@program(ATTENTION, "softmax attention of several heads")
def softmax_attention(length=1024, heads=8, width=64):
    def attend(q, k, v):
        scores = jax.nn.softmax(jnp.einsum("hid,hjd->hij", q, k) / width**0.5, axis=-1)
        return jnp.einsum("hij,hjd->hid", scores, v)

    shape = (heads, length, width)
    return attend, [normal(*shape, seed=seed) for seed in range(3)]


@program(ATTENTION, "scores of one query after the projections of all")
def one_query(length=4096, width=512):
    def scores(x, query, w_q, w_k):
        return ((x @ w_k) @ w_q.T) @ query

    arguments = [normal(length, width), normal(width, seed=1)]
    return scores, arguments + [normal(width, width, seed=seed) for seed in (2, 3)]


@program(ATTENTION, "low-rank adapters: x (W + A B), and the gradient of A and B")
def adapters(n=2000, width=1024, rank=8):
    def loss(parts, x, weights, y):
        return jnp.mean((x @ (weights + parts[0] @ parts[1]) - y) ** 2)

    parts = (normal(width, rank) / width, normal(rank, width, seed=1))
    rest = [normal(n, width, seed=2), normal(width, width, seed=3), normal(n, width, seed=4)]
    return jax.value_and_grad(loss), [parts, *rest]


@program(ATTENTION, "embedding by a one-hot matrix")
def embedding(n=4096, words=8000, width=128):
    def embed(tokens, vocabulary):
        return jax.nn.one_hot(tokens, len(vocabulary)) @ vocabulary

    return embed, [integers(words, n), normal(words, width)]


@program(ATTENTION, "rotary positions, by halves that are concatenated")
def rotary(length=4096, heads=8, width=64):
    def rotate(x, angles):
        half = x.shape[-1] // 2
        turned = jnp.concatenate([-x[..., half:], x[..., :half]], axis=-1)
        twice = jnp.concatenate([angles, angles], axis=-1)
        return x * jnp.cos(twice) + turned * jnp.sin(twice)

    def scores(q, k, angles):
        return jnp.sum(rotate(q, angles) * rotate(k, angles), axis=-1)

    width += width % 2
    shape = (heads, length, width)
    return scores, [normal(*shape), normal(*shape, seed=1), normal(length, width // 2, seed=2)]


@program(LOSSES, "cross entropy with one-hot targets, and its gradient")
def cross_entropy(n=4096, d=256, classes=4000):
    def loss(weights, x, labels):
        logarithms = jax.nn.log_softmax(x @ weights)
        return -jnp.mean(jnp.sum(jax.nn.one_hot(labels, classes) * logarithms, axis=1))

    return jax.value_and_grad(loss), [normal(d, classes) * 0.01, normal(n, d), integers(classes, n)]


@program(LOSSES, "agreement of pairs: the diagonal of a b'")
def pairs(n=5000, d=256):
    def loss(a, b):
        return -jnp.mean(jax.nn.log_sigmoid(jnp.diag(a @ b.T)))

    return jax.value_and_grad(loss, (0, 1)), [normal(n, d) / d, normal(n, d, seed=1)]


@program(LOSSES, "distance from an orthogonal matrix, and its gradient")
def orthogonality(n=4000, d=400):
    def penalty(w):
        return jnp.sum((w.T @ w / len(w) - jnp.eye(w.shape[1])) ** 2)

    return jax.value_and_grad(penalty), [normal(n, d)]


@program(LOSSES, "smoothness on a graph: trace(x' (D - A) x)")
def smoothness(n=3000, d=64):
    def penalty(x, adjacency):
        degrees = jnp.diag(jnp.sum(adjacency, axis=1))
        return jnp.trace(x.T @ (degrees - adjacency) @ x)

    adjacency = (normal(n, n, seed=1) > 2).astype("float32")
    return jax.value_and_grad(penalty), [normal(n, d), adjacency + adjacency.T]


@program(LOSSES, "matrix factorisation: sum of the squares of all entries of U V'")
def factorisation(n=5000, m=4000, rank=16):
    def energy(u, v):
        return jnp.sum((u @ v.T) ** 2) + jnp.sum(u @ v.T)

    return energy, [normal(n, rank), normal(m, rank, seed=1)]


@program(LOSSES, "style of a picture: difference of Gram matrices, weighted")
def style(channels=256, pixels=65_536):
    def loss(x, target, weights):
        gram = x @ x.T / x.shape[1]
        return jnp.sum(jnp.diag(weights) @ (gram - target) ** 2)

    arguments = [normal(channels, pixels), normal(channels, channels, seed=1)]
    return jax.value_and_grad(loss), [*arguments, normal(channels, seed=2)]
