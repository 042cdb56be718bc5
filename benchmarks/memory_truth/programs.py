"""The programs that are measured, over what JAX is used for. Most take 100 MB to 1.5 GB."""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


@dataclass(frozen=True)
class Program:
    # Returns a function and its arguments.
    build: Callable[[], tuple]
    x64: bool = False
    devices: int = 1


PROGRAMS: dict[str, Program] = {}


def program(name: str, x64: bool = False, devices: int = 1):
    def add(build: Callable[[], tuple]) -> Callable[[], tuple]:
        PROGRAMS[name] = Program(build, x64, devices)
        return build

    return add


def normal(*shape: int, dtype=np.float32, seed: int = 0) -> jax.Array:
    values = np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)
    return jnp.asarray(values.astype(dtype))


# Elementwise and reductions.


@program("exp(x) + 1")
def _():
    return lambda x: jnp.exp(x) + 1, [normal(7000, 7000)]


@program("ten elementwise steps")
def _():
    def f(x, y):
        for _ in range(5):
            x = jnp.tanh(x) * y + 0.5
        return x

    return f, [normal(5000, 5000), normal(5000, 5000, seed=1)]


@program("elementwise, float64", x64=True)
def _():
    return lambda x: jnp.sin(x) * x, [normal(4000, 4000, dtype=np.float64)]


@program("elementwise, bfloat16")
def _():
    return lambda x: jax.nn.gelu(x), [normal(9000, 9000, dtype=jnp.bfloat16)]


@program("sum of squares of differences")
def _():
    return lambda x, y: ((x - y) ** 2).sum(), [normal(5000, 5000), normal(5000, 5000, seed=1)]


@program("mean and variance of columns")
def _():
    return lambda x: (x.mean(0), x.var(0)), [normal(6000, 6000)]


@program("softmax of rows")
def _():
    return lambda x: jax.nn.softmax(x, -1), [normal(6000, 6000)]


@program("softmax of columns")
def _():
    return lambda x: jax.nn.softmax(x, 0), [normal(6000, 6000)]


@program("layer norm")
def _():
    def f(x, scale):
        mean = x.mean(-1, keepdims=True)
        return (x - mean) / jnp.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * scale

    return f, [normal(8000, 4096), normal(4096)]


@program("log-sum-exp, prime sizes")
def _():
    return lambda x: jax.nn.logsumexp(x * 2, -1), [normal(7919, 5003)]


@program("argmax of rows")
def _():
    return lambda x: (x * 2).argmax(-1), [normal(6000, 6000)]


@program("outer sum")
def _():
    return lambda x, y: x[:, None] + y[None, :], [normal(9001), normal(9001)]


@program("transpose and add")
def _():
    return lambda x: x.T + x, [normal(6000, 6000)]


@program("concatenate and reverse")
def _():
    return lambda x, y: jnp.concatenate([x, y])[::-1], [normal(4000, 5000), normal(3000, 5000)]


# Matrix products.


@program("matmul f32")
def _():
    return lambda x, y: x @ y, [normal(4000, 4000), normal(4000, 4000)]


@program("matmul f64", x64=True)
def _():
    values = normal(3000, 3000, dtype=np.float64)
    return lambda x, y: x @ y, [values, values + 1]


@program("matmul bf16")
def _():
    return lambda x, y: x @ y, [normal(5000, 3000, dtype=jnp.bfloat16)] + [
        normal(3000, 6000, dtype=jnp.bfloat16)
    ]


@program("matmul bf16 to f32")
def _():
    values = normal(4500, 4500, dtype=jnp.bfloat16)
    return lambda x, y: jnp.matmul(x, y, preferred_element_type=jnp.float32), [values, values]


@program("matmul f16")
def _():
    values = normal(3000, 3000, dtype=np.float16)
    return lambda x, y: x @ y, [values, values]


@program("x.T @ x")
def _():
    return lambda x: x.T @ x, [normal(8000, 4000)]


@program("x @ x.T, prime sizes")
def _():
    return lambda x: x @ x.T, [normal(5003, 1009)]


@program("batched matmul")
def _():
    return lambda x, y: x @ y, [normal(64, 700, 700), normal(64, 700, 700)]


@program("sum of a product's rows")
def _():
    return lambda x, y: (x @ y).sum(-1), [normal(8000, 300), normal(300, 6000)]


@program("exp of a matrix, times a matrix, summed")
def _():
    return lambda x, y: (jnp.exp(x) @ y).sum(), [normal(4000, 4000), normal(4000, 4000)]


@program("dense layer with gelu")
def _():
    return lambda x, w, b: jax.nn.gelu(x @ w + b), [
        normal(8000, 500),
        normal(500, 6000),
        normal(6000),
    ]


@program("two-layer network, gradient")
def _():
    def loss(weights, x):
        hidden = jnp.tanh(x @ weights[0])
        return ((hidden @ weights[1]) ** 2).mean()

    return jax.grad(loss), [[normal(500, 4000), normal(4000, 500)], normal(6000, 500)]


@program("integer matmul")
def _():
    values = jnp.arange(2000 * 2000, dtype=jnp.int32).reshape(2000, 2000) % 7
    return lambda x, y: x @ y, [values, values]


@program("complex matmul")
def _():
    return lambda x: (x + 1j * x) @ (x - 1j * x), [normal(2500, 2500)]


# Kernels of Gaussian processes.


def squared_distances_exact(x, y):
    return ((x[:, None, :] - y[None, :, :]) ** 2).sum(-1)


def squared_distances_fast(x, y):
    return (x**2).sum(-1)[:, None] + (y**2).sum(-1)[None, :] - 2 * x @ y.T


@program("RBF kernel times vector, difference form")
def _():
    def f(x, v):
        return jnp.exp(-0.5 * squared_distances_exact(x, x)) @ v

    return f, [normal(8000, 3), normal(8000)]


@program("RBF kernel times vector, product form")
def _():
    def f(x, v):
        return jnp.exp(-0.5 * squared_distances_fast(x, x)) @ v

    return f, [normal(8009, 8), normal(8009)]


@program("RBF gradient, difference form")
def _():
    def f(x, v):
        return (v * (jnp.exp(-0.5 * squared_distances_exact(x, x)) @ v)).sum()

    return jax.grad(f), [normal(4000, 3), normal(4000)]


@program("RBF gradient, product form")
def _():
    def f(x, v):
        return (v * (jnp.exp(-0.5 * squared_distances_fast(x, x)) @ v)).sum()

    return jax.grad(f), [normal(5000, 5), normal(5000)]


@program("nearest neighbours")
def _():
    return lambda x, y: lax.top_k(-squared_distances_fast(x, y), 10), [
        normal(1000, 16),
        normal(60000, 16),
    ]


# Attention and transformers.


def attention(q, k, v):
    scores = jnp.einsum("hqd,hkd->hqk", q, k) / q.shape[-1] ** 0.5
    return jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(scores, -1), v)


@program("attention 4 x 4096 x 64")
def _():
    return attention, [normal(4, 4096, 64, seed=s) for s in range(3)]


@program("attention 1 x 6000 x 64")
def _():
    return attention, [normal(1, 6000, 64, seed=s) for s in range(3)]


@program("attention 32 x 1024 x 64")
def _():
    return attention, [normal(32, 1024, 64, seed=s) for s in range(3)]


@program("attention bf16 8 x 2048 x 64")
def _():
    return attention, [normal(8, 2048, 64, dtype=jnp.bfloat16, seed=s) for s in range(3)]


@program("attention gradient 4 x 2500 x 64")
def _():
    def loss(q, k, v):
        return (attention(q, k, v) ** 2).sum()

    return jax.grad(loss, argnums=(0, 1, 2)), [normal(4, 2500, 64, seed=s) for s in range(3)]


def transformer_step():
    width, heads, layers, tokens, words = 512, 8, 4, 1024, 20000

    def block(x, w):
        def split(y):
            return y.reshape(tokens, heads, -1).transpose(1, 0, 2)

        q, k, v = (split(x @ w[name]) for name in ("q", "k", "v"))
        mixed = attention(q, k, v).transpose(1, 0, 2).reshape(tokens, width)
        x = x + mixed @ w["out"]
        return x + jax.nn.gelu(x @ w["up"]) @ w["down"]

    def loss(weights, batch):
        def one(sequence):
            x = weights["embedding"][sequence]
            for w in weights["blocks"]:
                x = block(x, w)
            logits = x @ weights["embedding"].T
            picked = jnp.take_along_axis(logits, sequence[:, None], -1)[:, 0]
            return (jax.nn.logsumexp(logits, -1) - picked).mean()

        return jax.vmap(one)(batch).mean()

    def step(weights, batch):
        gradient = jax.grad(loss)(weights, batch)
        return jax.tree.map(lambda w, g: w - 1e-3 * g, weights, gradient)

    shapes = {"q": (width, width), "k": (width, width), "v": (width, width), "out": (width, width)}
    shapes |= {"up": (width, 4 * width), "down": (4 * width, width)}
    blocks = [{name: 0.02 * normal(*s) for name, s in shapes.items()} for _ in range(layers)]
    weights = {"embedding": 0.02 * normal(words, width), "blocks": blocks}
    return step, [weights, jnp.arange(2 * tokens).reshape(2, tokens) % words]


@program("transformer training step")
def _():
    return transformer_step()


@program("transformer training step, donated")
def _():
    step, arguments = transformer_step()
    return jax.jit(step, donate_argnums=0), arguments


@program("embedding lookup and gradient")
def _():
    def loss(table, ids):
        return (table[ids] ** 2).sum()

    return jax.grad(loss), [normal(200000, 128), jnp.arange(50000) * 3 % 200000]


# Convolutions.


def convolution(x, w, labels=("NHWC", "HWIO", "NHWC")):
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=labels)


@program("convolution 3x3")
def _():
    return convolution, [normal(16, 200, 200, 32), normal(3, 3, 32, 32)]


@program("convolution 3x3, channels first")
def _():
    return (
        lambda x, w: convolution(x, w, ("NCHW", "OIHW", "NCHW")),
        [normal(8, 32, 200, 200), normal(48, 32, 3, 3)],
    )


@program("convolution 7x7, stride 2")
def _():
    def f(x, w):
        return lax.conv_general_dilated(
            x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    return f, [normal(32, 300, 300, 8), normal(7, 7, 8, 64)]


@program("convolution's weight gradient")
def _():
    def loss(w, x):
        return (convolution(x, w) ** 2).sum()

    return jax.grad(loss), [normal(3, 3, 16, 16), normal(16, 160, 160, 16)]


@program("convolution's input gradient")
def _():
    def loss(x, w):
        return (convolution(x, w) ** 2).sum()

    return jax.grad(loss), [normal(16, 160, 160, 16), normal(3, 3, 16, 16)]


@program("1-d convolution")
def _():
    def f(x, w):
        return lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))

    return f, [normal(32, 20000, 32), normal(9, 32, 32)]


@program("max pooling")
def _():
    def f(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 1, 1, 1), "SAME")

    return f, [normal(16, 256, 256, 32)]


# Order.


@program("sort")
def _():
    return lambda x: jnp.sort(x), [normal(15_000_000)]


@program("sort of rows")
def _():
    return lambda x: jnp.sort(x, -1), [normal(5000, 5000)]


@program("argsort")
def _():
    return lambda x: jnp.argsort(x), [normal(10_000_000)]


@program("sort of integers")
def _():
    return lambda x: jnp.sort(x), [(normal(20_000_000) * 1e6).astype(jnp.int32)]


@program("sort of two keys")
def _():
    def f(x, y, z):
        return lax.sort((x, y, z), num_keys=2)

    return f, [normal(4_000_000), normal(4_000_000, seed=1), normal(4_000_000, seed=2)]


@program("top 1000 of rows")
def _():
    return lambda x: lax.top_k(x, 1000), [normal(400, 100000)]


@program("median of columns")
def _():
    return lambda x: jnp.median(x, 0), [normal(3001, 5000)]


@program("unique with a size")
def _():
    return lambda x: jnp.unique(x, size=1000), [(normal(8_000_000) * 100).astype(jnp.int32)]


# Fourier.


@program("fft of rows")
def _():
    return jnp.fft.fft, [normal(4000, 4096) + 0j]


@program("fft of one long vector")
def _():
    return jnp.fft.fft, [normal(2**23) + 0j]


@program("fft of a prime length")
def _():
    return jnp.fft.fft, [normal(4_000_037) + 0j]


@program("fft in two dimensions")
def _():
    return jnp.fft.fft2, [normal(3500, 3500) + 0j]


@program("real fft of rows, and back")
def _():
    return lambda x: jnp.fft.irfft(jnp.fft.rfft(x) * 2), [normal(3000, 8192)]


@program("real fft of one long vector")
def _():
    return jnp.fft.rfft, [normal(2**24)]


# Linear algebra.


@program("Cholesky")
def _():
    return jnp.linalg.cholesky, [normal(4000, 4000) + 4000 * jnp.eye(4000)]


@program("Cholesky, batched")
def _():
    return jnp.linalg.cholesky, [normal(40, 700, 700) + 700 * jnp.eye(700)]


@program("Cholesky solve and its gradient")
def _():
    def f(x, y):
        factor = jax.scipy.linalg.cho_factor(x)
        return (y * jax.scipy.linalg.cho_solve(factor, y)).sum()

    return jax.grad(f), [normal(2000, 2000) + 2000 * jnp.eye(2000), normal(2000, 4)]


@program("eigh")
def _():
    return jnp.linalg.eigh, [normal(1500, 1500)]


@program("svd")
def _():
    return lambda x: jnp.linalg.svd(x, full_matrices=False), [normal(6000, 700)]


@program("qr")
def _():
    return jnp.linalg.qr, [normal(8000, 800)]


@program("lu solve")
def _():
    return jnp.linalg.solve, [normal(3000, 3000), normal(3000, 3000)]


@program("triangular solve")
def _():
    return (
        lambda x, y: jax.scipy.linalg.solve_triangular(x, y, lower=True),
        [normal(3500, 3500) + 100 * jnp.eye(3500), normal(3500, 3500)],
    )


# Loops and conditions.


@program("scan with stacked results")
def _():
    def f(x):
        def step(carry, _):
            carry = jnp.tanh(carry) * 1.1
            return carry, carry

        return lax.scan(step, x, None, length=50)[1]

    return f, [normal(1000, 1000)]


@program("scan, gradient")
def _():
    def loss(w, x):
        def step(carry, _):
            return jnp.tanh(carry @ w), None

        return (lax.scan(step, x, None, length=60)[0] ** 2).sum()

    return jax.grad(loss), [normal(300, 300), normal(4000, 300)]


@program("while loop")
def _():
    def f(x):
        return lax.while_loop(
            lambda s: s[0] < 5, lambda s: (s[0] + 1, jnp.sin(s[1]) + s[1]), (0, x)
        )

    return f, [normal(6000, 6000)]


@program("cond of two products")
def _():
    def f(flag, x, y):
        return lax.cond(flag, lambda: x @ y, lambda: (x + y).T * 2)

    return f, [jnp.asarray(True), normal(4000, 4000), normal(4000, 4000)]


@program("hidden scratch inside a loop")
def _():
    def f(x, y):
        return lax.fori_loop(0, 3, lambda i, s: s + (jnp.exp(x + i) @ y).sum(), 0.0)

    return f, [normal(3500, 3500), normal(3500, 3500)]


# Indexing.


@program("segment sum")
def _():
    return lambda x, i: jax.ops.segment_sum(x, i, 1000), [
        normal(1_000_000, 48),
        jnp.arange(1_000_000) % 1000,
    ]


@program("gather of rows")
def _():
    return lambda x, i: x[i], [normal(100000, 256), jnp.arange(300000) * 7 % 100000]


@program("scatter-add into a vector")
def _():
    return lambda x, i, v: x.at[i].add(v), [
        normal(40_000_000),
        jnp.arange(1_000_000) * 3,
        normal(1_000_000),
    ]


@program("cumulative sum of a vector")
def _():
    return jnp.cumsum, [normal(30_000_000)]


@program("cumulative sum of columns")
def _():
    return lambda x: jnp.cumsum(x, 0), [normal(5000, 5000)]


@program("update of one slice, donated")
def _():
    def f(x, y):
        return lax.dynamic_update_slice(x, y, (0, 0))

    return jax.jit(f, donate_argnums=0), [normal(8000, 8000), normal(100, 8000)]


# Random numbers.


@program("uniform numbers")
def _():
    return lambda key: jax.random.uniform(key, (6000, 6000)), [jax.random.key(0)]


@program("normal numbers")
def _():
    return lambda key: jax.random.normal(key, (5000, 5000)), [jax.random.key(0)]


@program("gumbel sample")
def _():
    return lambda key, x: jax.random.categorical(key, x), [jax.random.key(0), normal(5000, 5000)]


@program("permutation")
def _():
    return jax.random.permutation, [jax.random.key(0), normal(5_000_000)]


# Signatures.


@program("one large constant")
def _():
    table = np.random.default_rng(0).standard_normal((5000, 5000), dtype=np.float32)
    return lambda x: x * table, [normal(5000, 5000)]


@program("constants in products")
def _():
    tables = [
        np.random.default_rng(i).standard_normal((3000, 3000), dtype=np.float32) for i in range(4)
    ]

    def f(x):
        for table in tables:
            x = jnp.tanh(x @ table)
        return x

    return f, [normal(1000, 3000)]


@program("two hundred arguments")
def _():
    return lambda xs: sum(xs), [[normal(500, 500, seed=i) for i in range(200)]]


@program("two hundred arguments, donated")
def _():
    def f(xs):
        return [x * 2 for x in xs]

    return jax.jit(f, donate_argnums=0), [[normal(400, 400, seed=i) for i in range(200)]]


@program("one hundred results")
def _():
    return lambda x: [x * i for i in range(100)], [normal(500, 500)]


# On four devices: one process holds them all.


def mesh():
    return jax.sharding.Mesh(np.array(jax.devices()).reshape(4), "d")


def sharded(value, *names):
    return jax.device_put(
        value, jax.sharding.NamedSharding(mesh(), jax.sharding.PartitionSpec(*names))
    )


@program("elementwise on four devices", devices=4)
def _():
    return lambda x: jnp.exp(x) * 2, [sharded(normal(8000, 8000), "d")]


@program("product on four devices", devices=4)
def _():
    return lambda x, y: x @ y, [sharded(normal(4000, 4000), "d"), sharded(normal(4000, 4000))]


@program("sum over four devices", devices=4)
def _():
    return lambda x, y: jnp.tanh(x.T @ y), [
        sharded(normal(4000, 3000), "d"),
        sharded(normal(4000, 3000), "d"),
    ]


@program("hidden scratch on four devices", devices=4)
def _():
    return lambda x, y: (jnp.exp(x) @ y).sum(-1), [
        sharded(normal(6000, 3000), "d"),
        sharded(normal(3000, 3000)),
    ]
