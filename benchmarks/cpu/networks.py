"""Attention and the loss over a vocabulary."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from benchmarks.arrays import integers, normal
from benchmarks.cpu.table import Work, row

SIZES = {"heads": 4, "queries": 4096, "keys": 4096, "width": 64}
SCORES = ("heads", "queries", "keys")
FORWARD, BACKWARD = {"xla": 1.9, "torch": 1.05}, {"xla": 2.8, "torch": 1.15}
# Half the work, and what tiles on the diagonal have to do in vain.
HALF = 1.7
LONG = {"heads": 1, "queries": 16384, "keys": 16384, "width": 64}
WINDOW = 256


def attention(q, k, v):
    scores = jnp.einsum("hqd,hkd->hqk", q, k) / np.sqrt(q.shape[-1])
    return jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(scores, axis=-1), v)


def causal_attention(q, k, v, window=None):
    scores = jnp.einsum("hqd,hkd->hqk", q, k) / np.sqrt(q.shape[-1])
    rows, columns = jnp.arange(q.shape[1])[:, None], jnp.arange(k.shape[1])[None, :]
    seen = rows >= columns
    if window is not None:
        seen &= rows - columns < window
    weights = jax.nn.softmax(jnp.where(seen, scores, -jnp.inf), axis=-1)
    return jnp.einsum("hqk,hkd->hqd", weights, v)


def forward_work(function, heads: int, queries: int, keys: int, width: int) -> Work:
    shapes = [(heads, queries, width), (heads, keys, width), (heads, keys, width)]
    return Work([function], [normal(*shape, seed=i) for i, shape in enumerate(shapes)])


def backward_work(function, **sizes: int) -> Work:
    forward = forward_work(function, **sizes)

    def both(q, k, v, cotangent):
        result, backward = jax.vjp(function, q, k, v)
        return result, *backward(cotangent)

    cotangent = normal(*forward.arguments[0].shape, seed=3)
    return Work([both], [*forward.arguments, cotangent])


@row("attention", "attention, 4×4096×64", FORWARD, None, SCORES, **SIZES)
def attention_forward(**sizes: int) -> Work:
    return forward_work(attention, **sizes)


@row("attention_both", "attention, forward + backward", BACKWARD, None, SCORES, **SIZES)
def attention_both(**sizes: int) -> Work:
    return backward_work(attention, **sizes)


@row("causal", "causal attention", FORWARD, ("attention", HALF), SCORES, **SIZES)
def causal(**sizes: int) -> Work:
    return forward_work(causal_attention, **sizes)


@row(
    "causal_both",
    "causal attention, forward + backward",
    BACKWARD,
    ("attention_both", HALF),
    SCORES,
    **SIZES,
)
def causal_both(**sizes: int) -> Work:
    return backward_work(causal_attention, **sizes)


@row("causal_long", "causal attention, 1×16384×64", FORWARD, None, SCORES, **LONG)
def causal_long(**sizes: int) -> Work:
    return forward_work(causal_attention, **sizes)


@row(
    "causal_long_both",
    "causal attention, 1×16384×64, forward + backward",
    BACKWARD,
    None,
    SCORES,
    **LONG,
)
def causal_long_both(**sizes: int) -> Work:
    return backward_work(causal_attention, **sizes)


@row(
    "window_both",
    f"attention to the {WINDOW} before, forward + backward",
    BACKWARD,
    ("causal_both", HALF),
    SCORES,
    **SIZES,
)
def window_both(**sizes: int) -> Work:
    return backward_work(functools.partial(causal_attention, window=WINDOW), **sizes)


@row(
    "cross_entropy",
    "cross-entropy with gradient, 4096×50k, d=256",
    {"xla": 1.15},
    never_whole=("tokens", "words"),
    tokens=4096,
    words=50_000,
)
def cross_entropy(tokens: int, words: int) -> Work:
    def loss(states, embedding, labels):
        scores = jax.nn.log_softmax(states @ embedding.T)
        return -jnp.mean(jnp.take_along_axis(scores, labels[:, None], axis=1))

    arguments = [normal(tokens, 256), normal(words, 256, seed=1) / 16, integers(words, tokens)]
    return Work([jax.value_and_grad(loss, argnums=(0, 1))], arguments)
