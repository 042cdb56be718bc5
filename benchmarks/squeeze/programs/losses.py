"""Losses over all pairs or over a large vocabulary, and attention."""

import jax
import jax.numpy as jnp
from benchmarks.squeeze.table import integers, normal, program
from jax import lax


@program("attention with a causal mask, forward")
def attention_causal():
    def attention(q, k, v):
        scores = jnp.einsum("hqd,hkd->hqk", q, k) / q.shape[-1] ** 0.5
        mask = jnp.tril(jnp.ones((q.shape[1], k.shape[1]), dtype=bool))
        weights = jax.nn.softmax(jnp.where(mask, scores, -1e30), axis=-1)
        return jnp.einsum("hqk,hkd->hqd", weights, v)

    return attention, [normal(8, 4096, 64, seed=s) for s in range(3)]


@program("attention with padding and a distance bias: gradient")
def attention_padded():
    def loss(q, k, v, slopes, lengths):
        tokens = q.shape[2]
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / q.shape[-1] ** 0.5
        positions = jnp.arange(tokens)
        distance = jnp.abs(positions[:, None] - positions[None, :])
        scores = scores - slopes[:, None, None] * distance
        padded = positions[None, :] >= lengths[:, None]
        scores = jnp.where(padded[:, None, None, :], -1e30, scores)
        mixed = jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, axis=-1), v)
        return jnp.mean(mixed**2)

    arguments = [normal(4, 4, 2048, 64, seed=s) for s in range(3)]
    arguments += [jnp.array([0.5, 0.25, 0.125, 0.0625]), jnp.array([2048, 1500, 1800, 700])]
    return jax.grad(loss, argnums=(0, 1, 2)), arguments


@program("contrastive loss of pictures and texts (CLIP): gradient")
def contrastive():
    def loss(pictures, texts, log_temperature):
        pictures = pictures / jnp.linalg.norm(pictures, axis=1, keepdims=True)
        texts = texts / jnp.linalg.norm(texts, axis=1, keepdims=True)
        logits = jnp.exp(log_temperature) * pictures @ texts.T
        by_picture = jnp.diag(jax.nn.log_softmax(logits, axis=1))
        by_text = jnp.diag(jax.nn.log_softmax(logits, axis=0))
        return -(by_picture.mean() + by_text.mean()) / 2

    return jax.value_and_grad(loss, argnums=(0, 1, 2)), [
        normal(9000, 64),
        normal(9000, 64, seed=1),
        jnp.asarray(2.0),
    ]


@program("cross entropy over a vocabulary of 50,000: gradient")
def vocabulary():
    def loss(embedding, hidden, targets):
        logits = hidden @ embedding.T
        picked = jnp.take_along_axis(logits, targets[:, None], axis=1)[:, 0]
        return jnp.mean(jax.nn.logsumexp(logits, axis=1) - picked)

    return jax.value_and_grad(loss, argnums=(0, 1)), [
        normal(50_000, 96, scale=0.1),
        normal(4096, 96, seed=1),
        integers(50_000, 4096),
    ]


@program("pairwise ranking loss (RankNet) over one long list: gradient by the scoring weights")
def ranking():
    def loss(weights, features, relevance):
        scores = jnp.tanh(features @ weights[0]) @ weights[1]
        margins = scores[:, None] - scores[None, :]
        preferred = relevance[:, None] > relevance[None, :]
        losses = jnp.where(preferred, jax.nn.softplus(-margins), 0.0)
        return losses.sum() / preferred.sum()

    weights = [normal(20, 32, scale=0.3), normal(32, seed=1)]
    return jax.value_and_grad(loss), [weights, normal(12_000, 20, seed=2), integers(5, 12_000)]


@program("approximate NDCG over lists: gradient by the scores")
def approximate_ndcg():
    def loss(scores, relevance):
        def one(scores, relevance):
            margins = (scores[None, :] - scores[:, None]) / 0.1
            ranks = 0.5 + jax.nn.sigmoid(margins).sum(1)
            gains = 2.0**relevance - 1
            ideal = jnp.sort(gains)[::-1] / jnp.log2(2.0 + jnp.arange(len(gains)))
            return jnp.sum(gains / jnp.log2(1 + ranks)) / ideal.sum()

        return -jax.vmap(one)(scores, relevance).mean()

    return jax.value_and_grad(loss), [normal(128, 1000), integers(4, 128, 1000)]


@program("triplet loss over all triplets of a batch: gradient by the embeddings")
def triplets():
    def loss(embeddings, labels, margin=0.5):
        squares = jnp.sum((embeddings[:, None] - embeddings[None]) ** 2, axis=-1)
        distances = jnp.sqrt(squares + 1e-9)
        terms = distances[:, :, None] - distances[:, None, :] + margin
        same = labels[:, None] == labels[None, :]
        positive = same & ~jnp.eye(len(labels), dtype=bool)
        valid = positive[:, :, None] & ~same[:, None, :]
        hinge = jnp.where(valid, jax.nn.relu(terms), 0.0)
        return hinge.sum() / jnp.maximum((hinge > 0).sum(), 1)

    return jax.value_and_grad(loss), [normal(600, 32, scale=0.3), integers(20, 600)]


@program("embedding by one-hot products: gradient by the table")
def one_hot():
    def loss(table, projection, tokens, targets):
        embedded = jax.nn.one_hot(tokens, len(table), dtype=table.dtype) @ table
        return jnp.mean((jnp.tanh(embedded @ projection) - targets) ** 2)

    return jax.value_and_grad(loss, argnums=(0, 1)), [
        normal(8000, 32),
        normal(32, 8, seed=1),
        integers(8000, 32_768),
        normal(32_768, 8, seed=2),
    ]


@program("soft histogram of many samples, matched to a target: gradient")
def soft_histogram():
    def loss(parameters, samples, target):
        scale, shift = parameters
        moved = jnp.tanh(scale * samples + shift)
        centres = jnp.linspace(-1.0, 1.0, len(target))
        weights = jnp.exp(-0.5 * ((moved[:, None] - centres[None, :]) / 0.02) ** 2)
        weights = weights / weights.sum(1, keepdims=True)
        return jnp.sum((weights.mean(0) - target) ** 2)

    target = jnp.full(200, 1 / 200)
    return jax.value_and_grad(loss), [(jnp.asarray(0.7), jnp.asarray(0.1)), normal(800_000), target]


@program("mixture of experts with dense routing: loss and gradient")
def experts():
    def loss(weights, x, targets):
        routes = jax.nn.softmax(x @ weights["router"], axis=-1)
        hidden = jax.nn.gelu(jnp.einsum("nd,edh->neh", x, weights["up"]))
        out = jnp.einsum("neh,ehd->ned", hidden, weights["down"])
        return jnp.mean((jnp.einsum("ne,ned->nd", routes, out) - targets) ** 2)

    weights = {
        "router": normal(64, 8, scale=0.1),
        "up": normal(8, 64, 128, scale=0.1),
        "down": normal(8, 128, 64, scale=0.1),
    }
    return jax.value_and_grad(loss), [weights, normal(24_000, 64), normal(24_000, 64, seed=1)]


@program("CTC-like alignment: log-likelihood of all monotone paths, and gradient")
def alignment():
    def loss(frames, tokens):
        def one(frames, tokens):
            scores = jax.nn.log_softmax(frames @ tokens.T, axis=-1)

            def step(alpha, row):
                shifted = jnp.concatenate([jnp.full(1, -1e30), alpha[:-1]])
                return jnp.logaddexp(alpha, shifted) + row, None

            start = jnp.full(len(tokens), -1e30).at[0].set(0.0)
            return lax.scan(step, start, scores)[0][-1]

        return -jax.vmap(one)(frames, tokens).mean() / frames.shape[1]

    return jax.value_and_grad(loss, argnums=(0, 1)), [
        normal(256, 400, 16),
        normal(256, 300, 16, seed=1),
    ]
