"""Whole models and training steps with flax and optax: what people really send."""

from __future__ import annotations

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

from corpus.program import Theme, array, f32, integers

theme = Theme("models", runnable=False)
KEY = np.uint32([3, 7])


class MLP(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
        for width in (7, 5):
            x = nn.relu(nn.Dense(width)(x))
            x = nn.Dropout(0.3, deterministic=not train)(x)
        return nn.Dense(3)(x)


class CNN(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
        x = nn.Conv(4, (3, 3))(x)
        x = nn.BatchNorm(use_running_average=not train)(x)
        x = nn.max_pool(nn.gelu(x), (2, 2), strides=(2, 2))
        x = nn.Conv(6, (3, 3), strides=2, feature_group_count=2)(x)
        x = nn.avg_pool(nn.silu(x), (2, 2), padding="SAME")
        x = nn.ConvTranspose(2, (2, 2), strides=(2, 2))(x)
        return nn.Dense(3)(x.reshape(x.shape[0], -1))


class Block(nn.Module):
    dtype: jnp.dtype

    @nn.compact
    def __call__(self, x, mask):
        y = nn.LayerNorm(dtype=self.dtype)(x)
        x = x + nn.MultiHeadDotProductAttention(2, dtype=self.dtype)(y, mask=mask)
        y = nn.RMSNorm(dtype=self.dtype)(x)
        y = nn.gelu(nn.Dense(16, dtype=self.dtype)(y))
        return x + nn.Dense(8, dtype=self.dtype)(y)


class Transformer(nn.Module):
    dtype: jnp.dtype = jnp.float32
    remat: bool = False

    @nn.compact
    def __call__(self, tokens, train: bool = False):
        x = nn.Embed(11, 8, dtype=self.dtype)(tokens)
        mask = nn.make_causal_mask(tokens)
        block = nn.remat(Block) if self.remat else Block
        for _ in range(2):
            x = block(self.dtype)(x, mask)
        return nn.Dense(11, dtype=jnp.float32)(x)


class ScannedTransformer(nn.Module):
    @nn.compact
    def __call__(self, tokens, train: bool = False):
        x = nn.Embed(11, 8)(tokens)
        mask = nn.make_causal_mask(tokens)
        layers = nn.scan(
            lambda block, c, _: (block(c, mask), None),
            variable_axes={"params": 0},
            split_rngs={"params": True},
            length=3,
        )
        x, _ = layers(Block(jnp.float32), x, None)
        return nn.Dense(11)(x)


class Recurrent(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
        return nn.Dense(3)(nn.RNN(nn.LSTMCell(4))(x) + nn.RNN(nn.GRUCell(4), reverse=True)(x))


TOKENS = integers(0, 11, 2, 7)
MODELS = {
    "mlp": (MLP(), f32(5, 4)),
    "cnn": (CNN(), f32(2, 8, 9, 2)),
    "transformer": (Transformer(), TOKENS),
    "transformer-bf16": (Transformer(jnp.bfloat16), TOKENS),
    "transformer-remat": (Transformer(remat=True), TOKENS),
    "transformer-scanned": (ScannedTransformer(), TOKENS),
    "recurrent": (Recurrent(), f32(2, 5, 3)),
}
OPTIMIZERS = {
    "mlp": optax.adam(1e-3),
    "cnn": optax.sgd(0.1, momentum=0.9, nesterov=True),
    "transformer": optax.chain(
        optax.clip_by_global_norm(1.0),
        optax.adamw(optax.warmup_cosine_decay_schedule(0.0, 1e-3, 10, 100)),
    ),
    "transformer-bf16": optax.adafactor(1e-3),
    "transformer-remat": optax.lion(1e-4),
    "transformer-scanned": optax.MultiSteps(optax.lamb(1e-3), 4),
    "recurrent": optax.rmsprop(1e-3, centered=True),
}


def train_step(model, optimizer):
    def step(variables, state, batch, labels, key):
        def loss(params):
            logits, updated = model.apply(
                {**variables, "params": params},
                batch,
                train=True,
                rngs={"dropout": key},
                mutable=["batch_stats"],
            )
            losses = optax.softmax_cross_entropy_with_integer_labels(logits, labels)
            return losses.mean(), updated

        params = variables["params"]
        (value, updated), gradients = jax.value_and_grad(loss, has_aux=True)(params)
        updates, state = optimizer.update(gradients, state, params)
        return {**updated, "params": optax.apply_updates(params, updates)}, state, value

    return step


def filled(shapes):
    """Numbers in the place of shapes, so that the program can run."""
    return jax.tree.map(lambda s: array(s.dtype, *s.shape), shapes)


for name, (model, batch) in MODELS.items():
    shapes = jax.eval_shape(model.init, KEY, batch)
    theme.add(f"{name}-init", model.init, KEY, batch)
    theme.add(f"{name}-apply", model.apply, filled(shapes), batch, runnable=True)
    optimizer = OPTIMIZERS[name]
    state = jax.eval_shape(optimizer.init, shapes["params"])
    logits = jax.eval_shape(model.apply, shapes, batch)
    labels = jax.ShapeDtypeStruct(logits.shape[:-1], np.int32)
    theme.add(
        f"{name}-train",
        train_step(model, optimizer),
        *filled((shapes, state)),
        batch,
        filled(labels),
        KEY,
        jit=dict(donate_argnums=(0, 1)),
        runnable="bf16" not in name,  # There, a step's rounding is larger than any tolerance.
    )


class Perceptron(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.first = nnx.Linear(4, 7, rngs=rngs)
        self.norm = nnx.BatchNorm(7, rngs=rngs)
        self.drop = nnx.Dropout(0.2, rngs=rngs)
        self.last = nnx.Linear(7, 3, rngs=rngs)

    def __call__(self, x):
        return self.last(self.drop(nnx.relu(self.norm(self.first(x)))))


class Attention(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.embed = nnx.Embed(11, 8, rngs=rngs)
        self.attend = nnx.MultiHeadAttention(2, 8, decode=False, rngs=rngs)
        self.norm = nnx.LayerNorm(8, rngs=rngs)

    def __call__(self, tokens):
        x = self.embed(tokens)
        return self.norm(x + self.attend(x))


def nnx_programs(name, make, batch):
    graph, state = nnx.split(nnx.eval_shape(lambda: make(nnx.Rngs(0))))

    def forward(state, batch):
        model = nnx.merge(graph, state)
        return model(batch), nnx.state(model)

    def loss(state, batch):
        out, new = forward(state, batch)
        return (out**2).mean(), new

    theme.add(f"nnx-{name}-init", lambda: nnx.state(make(nnx.Rngs(7))))
    theme.add(f"nnx-{name}-apply", forward, state, batch)
    theme.add(f"nnx-{name}-grad", jax.grad(loss, has_aux=True, allow_int=True), state, batch)


nnx_programs("perceptron", Perceptron, f32(5, 4))
nnx_programs("attention", Attention, TOKENS)
