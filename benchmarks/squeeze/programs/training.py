"""Training steps of networks, written in plain JAX."""

import jax
import jax.numpy as jnp
from benchmarks.squeeze.programs.derivatives import mlp, mlp_weights
from benchmarks.squeeze.table import integers, normal, program
from jax import lax


def descend(loss):
    """A step of gradient descent with momentum."""

    def step(weights, momentum, *batch):
        value, gradient = jax.value_and_grad(loss)(weights, *batch)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradient)
        weights = jax.tree.map(lambda w, m: w - 1e-2 * m, weights, momentum)
        return weights, momentum, value

    return step


def zeros_like(weights):
    return jax.tree.map(jnp.zeros_like, weights)


def mean_cross_entropy(logits, labels):
    picked = jnp.take_along_axis(logits, labels[..., None], axis=-1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, axis=-1) - picked)


@program("training step of an MLP")
def mlp_step():
    def loss(weights, x, labels):
        return mean_cross_entropy(mlp(weights, x), labels)

    weights = mlp_weights(128, 512, 512, 512, 10)
    return descend(loss), [weights, zeros_like(weights), normal(49_152, 128), integers(10, 49_152)]


def convolution(x, kernel, stride=1):
    return lax.conv_general_dilated(
        x, kernel, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def convolution_kernel(inputs, outputs, seed, size=3):
    return normal(size, size, inputs, outputs, seed=seed, scale=(size * size * inputs) ** -0.5)


def standardise(x, axes):
    mean = x.mean(axes, keepdims=True)
    variance = ((x - mean) ** 2).mean(axes, keepdims=True)
    return (x - mean) / jnp.sqrt(variance + 1e-5)


@program("training step of a residual CNN with layer normalisation")
def cnn_step():
    def loss(weights, pictures, labels):
        # Smooth: with relu, the sign of one number close to 0 decides on the error of a gradient.
        def activated(x):
            return jax.nn.silu(standardise(x, (1, 2, 3)))

        x = convolution(pictures, weights["stem"])
        for block in weights["blocks"]:
            x = convolution(activated(x), block["down"], stride=2)
            x = x + convolution(activated(x), block["mix"])
        return mean_cross_entropy(x.mean((1, 2)) @ weights["head"], labels)

    widths = (16, 32, 64)
    blocks = [
        {
            "down": convolution_kernel(before, after, seed=i),
            "mix": convolution_kernel(after, after, seed=10 + i),
        }
        for i, (before, after) in enumerate(zip((16, *widths[:-1]), widths, strict=True))
    ]
    weights = {
        "stem": convolution_kernel(3, 16, seed=20),
        "blocks": blocks,
        "head": normal(64, 10, scale=0.1),
    }
    pictures = normal(256, 64, 64, 3)
    return descend(loss), [weights, zeros_like(weights), pictures, integers(10, 256)]


@program("training step of a CNN with batch normalisation and max pooling")
def batch_norm_step():
    def loss(weights, pictures, labels):
        x = pictures
        for kernel, scale, shift in weights["layers"]:
            x = standardise(convolution(x, kernel), (0, 1, 2)) * scale + shift
            x = jax.nn.relu(x)
            x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return mean_cross_entropy(x.reshape(len(x), -1) @ weights["head"], labels)

    widths = (3, 24, 32, 48)
    layers = [
        (convolution_kernel(before, after, seed=i), jnp.ones(after), jnp.zeros(after))
        for i, (before, after) in enumerate(zip(widths[:-1], widths[1:], strict=True))
    ]
    weights = {"layers": layers, "head": normal(8 * 8 * 48, 10, scale=0.02)}
    return descend(loss), [
        weights,
        zeros_like(weights),
        normal(256, 64, 64, 3),
        integers(10, 256),
    ]


@program("training step of a U-Net")
def unet_step():
    def double(x, kernels):
        for kernel in kernels:
            x = jax.nn.relu(convolution(x, kernel))
        return x

    def forward(weights, x):
        skips = []
        for kernels in weights["down"]:
            x = double(x, kernels)
            skips.append(x)
            x = lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4
        x = double(x, weights["middle"])
        for kernels, skip in zip(weights["up"], reversed(skips), strict=True):
            x = jax.image.resize(x, (*skip.shape[:3], x.shape[3]), "nearest")
            x = double(jnp.concatenate([x, skip], axis=-1), kernels)
        return convolution(x, weights["head"])

    def loss(weights, pictures, targets):
        return jnp.mean((forward(weights, pictures) - targets) ** 2)

    def pair(inputs, outputs, seed):
        return [
            convolution_kernel(inputs, outputs, seed),
            convolution_kernel(outputs, outputs, seed + 1),
        ]

    weights = {
        "down": [pair(3, 16, 0), pair(16, 32, 2)],
        "middle": pair(32, 64, 4),
        "up": [pair(64 + 32, 32, 6), pair(32 + 16, 16, 8)],
        "head": convolution_kernel(16, 3, 10, size=1),
    }
    pictures = normal(32, 96, 96, 3)
    return descend(loss), [weights, zeros_like(weights), pictures, normal(32, 96, 96, 3, seed=1)]


@program("training step of a recurrent network (GRU) through time")
def rnn_step():
    def loss(weights, sequences, labels):
        def cell(state, x):
            gates = jax.nn.sigmoid(x @ weights["gates_x"] + state @ weights["gates_h"])
            update, reset = jnp.split(gates, 2, axis=-1)
            new = jnp.tanh(x @ weights["new_x"] + (reset * state) @ weights["new_h"])
            return (1 - update) * state + update * new, None

        start = jnp.zeros((sequences.shape[0], weights["new_h"].shape[0]))
        state, _ = lax.scan(cell, start, sequences.transpose(1, 0, 2))
        return mean_cross_entropy(state @ weights["head"], labels)

    width, inputs = 128, 32
    weights = {
        "gates_x": normal(inputs, 2 * width, scale=0.15),
        "gates_h": normal(width, 2 * width, scale=0.08),
        "new_x": normal(inputs, width, scale=0.15),
        "new_h": normal(width, width, scale=0.08),
        "head": normal(width, 10, scale=0.1),
    }
    return descend(loss), [
        weights,
        zeros_like(weights),
        normal(2048, 100, inputs),
        integers(10, 2048),
    ]


def transformer_block(w, x, heads):
    batch, tokens, width = x.shape

    def split(y):
        return y.reshape(batch, tokens, heads, -1).transpose(0, 2, 1, 3)

    y = standardise(x, (-1,))
    q, k, v = (split(y @ w[name]) for name in ("q", "k", "v"))
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / q.shape[-1] ** 0.5
    causal = jnp.tril(jnp.ones((tokens, tokens), dtype=bool))
    weights = jax.nn.softmax(jnp.where(causal, scores, -1e30), axis=-1)
    mixed = jnp.einsum("bhqk,bhkd->bhqd", weights, v).transpose(0, 2, 1, 3)
    x = x + mixed.reshape(batch, tokens, width) @ w["out"]
    return x + jax.nn.gelu(standardise(x, (-1,)) @ w["up"]) @ w["down"]


def transformer_weights(layers, width, words):
    shapes = {name: (width, width) for name in ("q", "k", "v", "out")}
    shapes |= {"up": (width, 4 * width), "down": (4 * width, width)}
    blocks = [
        {
            name: normal(*shape, seed=10 * layer + i, scale=shape[0] ** -0.5)
            for i, (name, shape) in enumerate(shapes.items())
        }
        for layer in range(layers)
    ]
    return {"embedding": normal(words, width, scale=0.05), "blocks": blocks}


def next_token_loss(weights, tokens, mixed):
    logits = standardise(mixed, (-1,)) @ weights["embedding"].T
    return mean_cross_entropy(logits[:, :-1], tokens[:, 1:])


@program("training step of a transformer, layers unrolled")
def transformer_step():
    def loss(weights, tokens):
        x = weights["embedding"][tokens]
        for w in weights["blocks"]:
            x = transformer_block(w, x, heads=4)
        return next_token_loss(weights, tokens, x)

    weights = transformer_weights(4, 128, 2000)
    return descend(loss), [weights, zeros_like(weights), integers(2000, 16, 384)]


@program("training step of a transformer, scan over layers")
def transformer_scan_step():
    def loss(weights, tokens):
        x, _ = lax.scan(
            lambda x, w: (transformer_block(w, x, heads=4), None),
            weights["embedding"][tokens],
            weights["blocks"],
        )
        return next_token_loss(weights, tokens, x)

    weights = transformer_weights(6, 128, 2000)
    weights["blocks"] = jax.tree.map(lambda *layers: jnp.stack(layers), *weights["blocks"])
    return descend(loss), [weights, zeros_like(weights), integers(2000, 12, 384)]


@program("training step of an MLP with dropout", has_reference=False)
def dropout_step():
    def loss(weights, x, labels, key):
        for i, (matrix, bias) in enumerate(weights[:-1]):
            x = jax.nn.gelu(x @ matrix + bias)
            keep = jax.random.bernoulli(jax.random.fold_in(key, i), 0.9, x.shape)
            x = jnp.where(keep, x / 0.9, 0.0)
        matrix, bias = weights[-1]
        return mean_cross_entropy(x @ matrix + bias, labels)

    weights = mlp_weights(128, 512, 512, 10)
    arguments = [weights, zeros_like(weights), normal(32_768, 128), integers(10, 32_768)]
    return descend(loss), [*arguments, jax.random.PRNGKey(0)]
