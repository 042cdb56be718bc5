"""Networks and losses of other people's packages.

Each imports its package when it is built, because a process runs one of them only.
"""

import jax
import jax.numpy as jnp
from benchmarks.squeeze.table import integers, normal, program


@program("flax: transformer encoder layer with optax, training step", package="flax, optax")
def flax_transformer():
    import flax.linen as nn
    import optax

    class Encoder(nn.Module):
        @nn.compact
        def __call__(self, x):
            for _ in range(2):
                y = nn.LayerNorm()(x)
                # No bias of the keys: its gradient is zero, and its error would be all of it.
                x = x + nn.MultiHeadDotProductAttention(num_heads=4, use_bias=False)(y, y)
                y = nn.Dense(4 * x.shape[-1])(nn.LayerNorm()(x))
                x = x + nn.Dense(x.shape[-1])(nn.gelu(y))
            return nn.Dense(10)(x.mean(1))

    model, optimizer = Encoder(), optax.sgd(1e-2, momentum=0.9)

    def step(parameters, state, x, labels):
        def loss(parameters):
            logits = model.apply(parameters, x)
            return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

        value, gradient = jax.value_and_grad(loss)(parameters)
        updates, state = optimizer.update(gradient, state, parameters)
        return optax.apply_updates(parameters, updates), state, value

    x = normal(24, 384, 128)
    parameters = model.init(jax.random.PRNGKey(0), x[:1])
    return step, [parameters, optimizer.init(parameters), x, integers(10, 24)]


@program("flax: convolutional network with group norm, training step", package="flax, optax")
def flax_cnn():
    import flax.linen as nn
    import optax

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x):
            for width in (16, 32, 64):
                x = nn.relu(nn.GroupNorm(num_groups=8)(nn.Conv(width, (3, 3))(x)))
                x = nn.avg_pool(x, (2, 2), (2, 2))
            return nn.Dense(10)(x.mean((1, 2)))

    model, optimizer = Network(), optax.sgd(0.1, momentum=0.9)

    def step(parameters, state, x, labels):
        def loss(parameters):
            logits = model.apply(parameters, x)
            return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

        value, gradient = jax.value_and_grad(loss)(parameters)
        updates, state = optimizer.update(gradient, state)
        return optax.apply_updates(parameters, updates), state, value

    x = normal(256, 64, 64, 3)
    parameters = model.init(jax.random.PRNGKey(0), x[:1])
    return step, [parameters, optimizer.init(parameters), x, integers(10, 256)]


@program("equinox: MLP under vmap with optax.sgd, training step", package="equinox, optax")
def equinox_mlp():
    import equinox
    import optax

    model = equinox.nn.MLP(64, 1, 512, 3, key=jax.random.PRNGKey(0))
    weights, structure = equinox.partition(model, equinox.is_array)
    optimizer = optax.sgd(1e-2, momentum=0.9, nesterov=True)

    def step(weights, state, x, y):
        def loss(weights):
            model = equinox.combine(weights, structure)
            return jnp.mean((jax.vmap(model)(x)[:, 0] - y) ** 2)

        value, gradient = jax.value_and_grad(loss)(weights)
        updates, state = optimizer.update(gradient, state)
        return equinox.apply_updates(weights, updates), state, value

    return step, [weights, optimizer.init(weights), normal(40_000, 64), normal(40_000, seed=1)]


@program("equinox: LSTM over many sequences, gradient", package="equinox")
def equinox_lstm():
    import equinox

    keys = jax.random.split(jax.random.PRNGKey(0))
    model = (equinox.nn.LSTMCell(16, 96, key=keys[0]), equinox.nn.Linear(96, 1, key=keys[1]))
    weights, structure = equinox.partition(model, equinox.is_array)

    def loss(weights, sequences, targets):
        cell, head = equinox.combine(weights, structure)

        def one(sequence):
            start = jnp.zeros(96), jnp.zeros(96)
            state, _ = jax.lax.scan(lambda s, x: (cell(x, s), None), start, sequence)
            return head(state[0])[0]

        return jnp.mean((jax.vmap(one)(sequences) - targets) ** 2)

    return jax.value_and_grad(loss), [weights, normal(2048, 80, 16), normal(2048, seed=1)]


@program("equinox: multi-head attention over long sequences, gradient", package="equinox")
def equinox_attention():
    import equinox

    model = equinox.nn.MultiheadAttention(4, 64, key=jax.random.PRNGKey(0))
    weights, structure = equinox.partition(model, equinox.is_array)

    def loss(weights, x):
        attention = equinox.combine(weights, structure)
        return jnp.mean(jax.vmap(lambda x: attention(x, x, x))(x) ** 2)

    return jax.value_and_grad(loss, argnums=(0, 1)), [weights, normal(4, 2048, 64)]


@program("haiku: residual MLP with layer norm, gradient", package="dm-haiku")
def haiku_mlp():
    import haiku

    def forward(x):
        x = haiku.Linear(256)(x)
        for _ in range(3):
            y = haiku.LayerNorm(axis=-1, create_scale=True, create_offset=True)(x)
            x = x + haiku.Linear(256)(jax.nn.swish(haiku.Linear(512)(y)))
        return haiku.Linear(1)(x)[:, 0]

    network = haiku.without_apply_rng(haiku.transform(forward))

    def loss(parameters, x, y):
        return jnp.mean((network.apply(parameters, x) - y) ** 2)

    x = normal(24_000, 64)
    parameters = network.init(jax.random.PRNGKey(0), x[:1])
    return jax.value_and_grad(loss), [parameters, x, normal(24_000, seed=1)]


@program("optax: NT-Xent contrastive loss, gradient", package="optax")
def optax_ntxent():
    import optax

    def loss(embeddings, labels):
        return optax.losses.ntxent(embeddings, labels, temperature=0.2)

    labels = jnp.arange(2400) // 2
    return jax.value_and_grad(loss), [normal(2400, 32), labels]


@program("optax: CTC loss over a vocabulary, gradient", package="optax")
def optax_ctc():
    import optax

    def loss(weights, frames, targets):
        logits = frames @ weights
        padding = jnp.zeros(frames.shape[:2])
        losses = optax.losses.ctc_loss(logits, padding, targets, jnp.zeros(targets.shape))
        return losses.mean()

    return jax.value_and_grad(loss), [
        normal(32, 1000, scale=0.2),
        normal(128, 300, 32),
        1 + integers(999, 128, 40),
    ]
