"""More programs for benchmarks/peak_truth.py: what is split in practice, by hand and not.

They are only compiled, never run, so their arguments are shapes.
"""

import jax
import jax.numpy as jnp
from benchmarks.memory_truth.programs import (
    Program,
    attention,
    convolution,
    squared_distances_exact,
    squared_distances_fast,
)
from jax import lax

PROGRAMS: dict[str, Program] = {}


def program(name: str, x64: bool = False):
    def add(build):
        PROGRAMS[name] = Program(build, x64)
        return build

    return add


def f32(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def i32(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.int32)


def f64(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float64)


# Kernels, whole and by hand in chunks of rows.


def rbf(x, y):
    return jnp.exp(-0.5 * squared_distances_exact(x, y))


def matern(x, y):
    distance = jnp.sqrt(5 * squared_distances_fast(x, y) + 1e-6)
    return (1 + distance + distance**2 / 3) * jnp.exp(-distance)


@program("RBF product, rows in a map")
def _():
    def f(x, v):
        return lax.map(lambda row: rbf(row[None], x)[0] @ v, x)

    return f, [f32(20000, 3), f32(20000)]


@program("RBF product, map of 500 rows")
def _():
    def f(x, v):
        return lax.map(lambda row: rbf(row[None], x)[0] @ v, x, batch_size=500)

    return f, [f32(20000, 3), f32(20000)]


@program("RBF product, map with a remainder")
def _():
    def f(x, v):
        return lax.map(lambda row: rbf(row[None], x)[0] @ v, x, batch_size=300)

    return f, [f32(20000, 3), f32(20000)]


@program("RBF gradient, scan over chunks")
def _():
    def f(x, v):
        def step(total, rows):
            x_rows, v_rows = rows
            return total + (v_rows * (rbf(x_rows, x) @ v)).sum(), None

        chunks = (x.reshape(50, 200, 3), v.reshape(50, 200))
        return lax.scan(jax.checkpoint(step), 0.0, chunks)[0]

    return jax.grad(f), [f32(10000, 3), f32(10000)]


@program("RBF gradient, scan that keeps")
def _():
    def f(x, v):
        def step(total, rows):
            x_rows, v_rows = rows
            return total + (v_rows * (rbf(x_rows, x) @ v)).sum(), None

        chunks = (x.reshape(20, 200, 3), v.reshape(20, 200))
        return lax.scan(step, 0.0, chunks)[0]

    return jax.grad(f), [f32(4000, 3), f32(4000)]


@program("Matern product and gradient, ARD")
def _():
    def f(scales, x, v):
        return v @ (matern(x / scales, x / scales) @ v)

    return jax.value_and_grad(f), [f32(8), f32(4000, 8), f32(4000)]


@program("kernel matrix and its transpose")
def _():
    def f(x, y, u, v):
        k = matern(x, y)
        return k @ v, k.T @ u

    return f, [f32(6000, 8), f32(5000, 8), f32(6000, 4), f32(5000, 4)]


@program("kernel ridge regression")
def _():
    def f(x, y, z):
        k = rbf(x, x) + 1e-2 * jnp.eye(x.shape[0])
        weights = jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(k, lower=True), y)
        return rbf(z, x) @ weights

    return f, [f32(3000, 5), f32(3000), f32(10000, 5)]


@program("conjugate gradients with a kernel")
def _():
    def f(x, y):
        k = rbf(x, x) + 0.1 * jnp.eye(x.shape[0])
        return jax.scipy.sparse.linalg.cg(lambda v: k @ v, y, maxiter=20)[0]

    return f, [f32(5000, 3), f32(5000)]


@program("conjugate gradients, kernel made anew")
def _():
    def f(x, y):
        return jax.scipy.sparse.linalg.cg(lambda v: rbf(x, x) @ v + 0.1 * v, y, maxiter=20)[0]

    return f, [f32(5000, 3), f32(5000)]


def sgpr_loss(parameters, x, y):
    z, scale, noise = parameters["z"], parameters["scale"], parameters["noise"]
    k_uu = rbf(z / scale, z / scale) + 1e-4 * jnp.eye(z.shape[0])
    k_uf = jnp.exp(-0.5 * squared_distances_fast(z / scale, x / scale))
    factor = jnp.linalg.cholesky(k_uu)
    a = jax.scipy.linalg.solve_triangular(factor, k_uf, lower=True) / noise
    b = a @ a.T + jnp.eye(z.shape[0])
    factor_b = jnp.linalg.cholesky(b)
    c = jax.scipy.linalg.solve_triangular(factor_b, a @ y, lower=True) / noise
    logdet = jnp.log(jnp.diag(factor_b)).sum()
    return 0.5 * (y @ y) / noise**2 - 0.5 * c @ c + logdet + (x.shape[0] - (a * a).sum())


@program("sparse Gaussian process, loss", x64=True)
def _():
    parameters = {"z": f64(300, 4), "scale": f64(4), "noise": f64()}
    return sgpr_loss, [parameters, f64(20000, 4), f64(20000)]


@program("sparse Gaussian process, gradient", x64=True)
def _():
    parameters = {"z": f64(300, 4), "scale": f64(4), "noise": f64()}
    return jax.value_and_grad(sgpr_loss), [parameters, f64(20000, 4), f64(20000)]


@program("maximum mean discrepancy and gradient")
def _():
    def f(x, y):
        return rbf(x, x).mean() + rbf(y, y).mean() - 2 * rbf(x, y).mean()

    return jax.value_and_grad(f), [f32(3000, 4), f32(3000, 4)]


@program("kernel principal components, one step")
def _():
    def f(x, v):
        k = rbf(x, x)
        k = k - k.mean(0) - k.mean(1)[:, None] + k.mean()
        v = k @ v
        return v / jnp.linalg.norm(v)

    return f, [f32(5000, 4), f32(5000)]


# Transport, neighbours, clusters.


def sinkhorn(x, y, steps, inner):
    cost = inner(x, y)

    def step(state, _):
        f, g = state
        f = -jax.nn.logsumexp(g[None] - cost, 1)
        g = -jax.nn.logsumexp(f[:, None] - cost, 0)
        return (f, g), None

    start = (jnp.zeros(x.shape[0]), jnp.zeros(y.shape[0]))
    (f, g), _ = lax.scan(step, start, None, length=steps)
    return (jnp.exp(f[:, None] + g[None] - cost) * cost).sum()


@program("Sinkhorn")
def _():
    return lambda x, y: sinkhorn(x, y, 20, squared_distances_fast), [f32(4000, 3), f32(4500, 3)]


@program("Sinkhorn, gradient")
def _():
    return jax.grad(lambda x, y: sinkhorn(x, y, 10, squared_distances_fast)), [
        f32(2000, 3),
        f32(2000, 3),
    ]


@program("Sinkhorn, cost made anew by chunks")
def _():
    def f(x, y):
        def rows(g):
            return lax.map(
                lambda r: -jax.nn.logsumexp(g - ((r - y) ** 2).sum(-1)), x, batch_size=256
            )

        def columns(f):
            return lax.map(
                lambda r: -jax.nn.logsumexp(f - ((r - x) ** 2).sum(-1)), y, batch_size=256
            )

        return lax.fori_loop(0, 10, lambda _, g: columns(rows(g)), jnp.zeros(y.shape[0]))

    return f, [f32(8192, 3), f32(8192, 3)]


@program("nearest neighbours, chunks of queries")
def _():
    def f(x, y):
        def one(query):
            return lax.top_k(-((query - y) ** 2).sum(-1), 10)

        return lax.map(one, x, batch_size=100)

    return f, [f32(2000, 16), f32(60000, 16)]


@program("nearest neighbours in L1")
def _():
    def f(x, y):
        return lax.top_k(-jnp.abs(x[:, None] - y[None]).sum(-1), 5)

    return f, [f32(1000, 16), f32(20000, 16)]


@program("k-means, five steps")
def _():
    def f(x, centers):
        def step(centers, _):
            nearest = squared_distances_fast(x, centers).argmin(-1)
            sums = jax.ops.segment_sum(x, nearest, centers.shape[0])
            counts = jax.ops.segment_sum(jnp.ones(x.shape[0]), nearest, centers.shape[0])
            return sums / jnp.maximum(counts, 1)[:, None], None

        return lax.scan(step, centers, None, length=5)[0]

    return f, [f32(100000, 16), f32(200, 16)]


@program("t-SNE gradient")
def _():
    def loss(y, p):
        q = 1 / (1 + squared_distances_fast(y, y)) * (1 - jnp.eye(y.shape[0]))
        q = q / q.sum()
        return (p * jnp.log((p + 1e-9) / (q + 1e-9))).sum()

    return jax.grad(loss), [f32(3000, 2), f32(3000, 3000)]


@program("N-body accelerations")
def _():
    def f(x, m):
        difference = x[None] - x[:, None]
        cubed = ((difference**2).sum(-1) + 1e-3) ** 1.5
        return (difference * (m / cubed)[..., None]).sum(1)

    return f, [f32(3000, 3), f32(3000)]


@program("contrastive loss, gradient")
def _():
    def f(a, b):
        logits = a @ b.T
        rows = jax.nn.logsumexp(logits, 1) - jnp.diag(logits)
        columns = jax.nn.logsumexp(logits, 0) - jnp.diag(logits)
        return (rows + columns).mean()

    return jax.grad(f, (0, 1)), [f32(4096, 256), f32(4096, 256)]


# Attention.


@program("causal attention")
def _():
    def f(q, k, v):
        scores = jnp.einsum("hqd,hkd->hqk", q, k) / 8
        mask = jnp.tril(jnp.ones(scores.shape[1:], bool))
        return jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(jnp.where(mask, scores, -1e9), -1), v)

    return f, [f32(4, 3000, 64)] * 3


@program("attention, chunks of queries")
def _():
    def f(q, k, v):
        def chunk(rows):
            return attention(rows, k, v)

        queries = q.reshape(4, 16, 256, 64).transpose(1, 0, 2, 3)
        return lax.map(chunk, queries)

    return f, [f32(4, 4096, 64)] * 3


@program("attention of jax.nn, gradient")
def _():
    def f(q, k, v):
        return (jax.nn.dot_product_attention(q, k, v, is_causal=True) ** 2).sum()

    return jax.grad(f, (0, 1, 2)), [f32(2, 1500, 4, 64)] * 3


# Networks and training steps.


@program("MLP training step")
def _():
    def loss(weights, x, y):
        for w, b in weights[:-1]:
            x = jax.nn.relu(x @ w + b)
        w, b = weights[-1]
        return ((x @ w + b - y) ** 2).mean()

    def step(weights, x, y):
        gradient = jax.grad(loss)(weights, x, y)
        return jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradient)

    sizes = [100, 1024, 1024, 1024, 10]
    weights = [(f32(a, b), f32(b)) for a, b in zip(sizes, sizes[1:], strict=False)]
    return step, [weights, f32(20000, 100), f32(20000, 10)]


@program("MLP training step, batches in a scan")
def _():
    def loss(weights, x, y):
        for w in weights[:-1]:
            x = jnp.tanh(x @ w)
        return ((x @ weights[-1] - y) ** 2).mean()

    def step(weights, x, y):
        def accumulate(total, batch):
            gradient = jax.grad(loss)(weights, *batch)
            return jax.tree.map(jnp.add, total, gradient), None

        zeros = jax.tree.map(jnp.zeros_like, weights)
        batches = (x.reshape(40, -1, 100), y.reshape(40, -1, 10))
        gradient = lax.scan(accumulate, zeros, batches)[0]
        return jax.tree.map(lambda w, g: w - 0.1 * g / 40, weights, gradient)

    weights = [f32(100, 1024), f32(1024, 1024), f32(1024, 10)]
    return step, [weights, f32(20000, 100), f32(20000, 10)]


@program("MLP training step with Adam, donated")
def _():
    def loss(weights, x):
        for w in weights:
            x = jax.nn.gelu(x @ w)
        return (x**2).mean()

    def step(state, x):
        weights, means, squares = state
        gradient = jax.grad(loss)(weights, x)
        means = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, means, gradient)
        squares = jax.tree.map(lambda s, g: 0.99 * s + 0.01 * g * g, squares, gradient)
        weights = jax.tree.map(
            lambda w, m, s: w - 1e-3 * m / (jnp.sqrt(s) + 1e-8), weights, means, squares
        )
        return weights, means, squares

    weights = [f32(1024, 1024)] * 4
    return jax.jit(step, donate_argnums=0), [(weights, weights, weights), f32(4000, 1024)]


@program("CNN training step")
def _():
    def loss(weights, x, labels):
        for w in weights["layers"]:
            x = jax.nn.relu(convolution(x, w))
            x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        logits = x.mean((1, 2)) @ weights["out"]
        picked = jnp.take_along_axis(logits, labels[:, None], -1)[:, 0]
        return (jax.nn.logsumexp(logits, -1) - picked).mean()

    layers = [f32(3, 3, 3, 32), f32(3, 3, 32, 64), f32(3, 3, 64, 64)]
    return jax.grad(loss), [
        {"layers": layers, "out": f32(64, 10)},
        f32(64, 64, 64, 3),
        i32(64),
    ]


@program("CNN, forward")
def _():
    def f(weights, x):
        for w in weights:
            x = jax.nn.gelu(convolution(x, w))
        return x.mean((1, 2))

    return f, [[f32(3, 3, 16, 16)] * 4, f32(32, 96, 96, 16)]


@program("normalised convolutions, gradient")
def _():
    def loss(weights, x):
        for w, scale in weights:
            x = convolution(x, w)
            mean = x.mean((0, 1, 2))
            variance = ((x - mean) ** 2).mean((0, 1, 2))
            x = jax.nn.relu((x - mean) * lax.rsqrt(variance + 1e-5) * scale)
        return (x**2).mean()

    return jax.grad(loss), [[(f32(3, 3, 16, 16), f32(16))] * 3, f32(32, 64, 64, 16)]


@program("transformer blocks in a scan, gradient")
def _():
    tokens, width = 512, 256

    def block(x, w):
        def split(y):
            return y.reshape(tokens, 4, -1).transpose(1, 0, 2)

        q, k, v = (split(x @ w[name]) for name in ("q", "k", "v"))
        x = x + attention(q, k, v).transpose(1, 0, 2).reshape(tokens, width) @ w["out"]
        return x + jax.nn.gelu(x @ w["up"]) @ w["down"]

    def loss(weights, batch):
        def one(x):
            return lax.scan(lambda x, w: (block(x, w), None), x, weights)[0]

        return (jax.vmap(one)(batch) ** 2).mean()

    shapes = {"q": (width, width), "k": (width, width), "v": (width, width), "out": (width, width)}
    shapes |= {"up": (width, 4 * width), "down": (4 * width, width)}
    weights = {name: f32(6, *shape) for name, shape in shapes.items()}
    return jax.grad(loss), [weights, f32(8, tokens, width)]


@program("transformer blocks in a scan, recomputed")
def _():
    tokens, width = 512, 256

    def block(x, w):
        q, k, v = (x @ w[name] for name in ("q", "k", "v"))
        x = x + attention(q[None], k[None], v[None])[0] @ w["out"]
        return x + jax.nn.gelu(x @ w["up"]) @ w["down"]

    def loss(weights, batch):
        def one(x):
            step = jax.checkpoint(lambda x, w: (block(x, w), None))
            return lax.scan(step, x, weights)[0]

        return (jax.vmap(one)(batch) ** 2).mean()

    shapes = {"q": (width, width), "k": (width, width), "v": (width, width), "out": (width, width)}
    shapes |= {"up": (width, 4 * width), "down": (4 * width, width)}
    weights = {name: f32(6, *shape) for name, shape in shapes.items()}
    return jax.value_and_grad(loss), [weights, f32(8, tokens, width)]


@program("recurrent network, gradient")
def _():
    def loss(weights, xs):
        def step(state, x):
            h, c = state
            gates = x @ weights["x"] + h @ weights["h"] + weights["b"]
            i, f, g, o = jnp.split(gates, 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        start = (jnp.zeros((512, 256)), jnp.zeros((512, 256)))
        return (lax.scan(step, start, xs)[1] ** 2).mean()

    weights = {"x": f32(64, 1024), "h": f32(256, 1024), "b": f32(1024)}
    return jax.grad(loss), [weights, f32(100, 512, 64)]


@program("cross entropy over many classes, gradient")
def _():
    def loss(w, x, labels):
        logits = x @ w
        picked = jnp.take_along_axis(logits, labels[:, None], -1)[:, 0]
        return (jax.nn.logsumexp(logits, -1) - picked).mean()

    return jax.grad(loss, (0, 1)), [f32(256, 30000), f32(2048, 256), i32(2048)]


@program("cross entropy, chunks of rows, gradient")
def _():
    def loss(w, x, labels):
        def chunk(total, rows):
            x, labels = rows
            logits = x @ w
            picked = jnp.take_along_axis(logits, labels[:, None], -1)[:, 0]
            return total + (jax.nn.logsumexp(logits, -1) - picked).sum(), None

        chunks = (x.reshape(16, -1, 256), labels.reshape(16, -1))
        return lax.scan(jax.checkpoint(chunk), 0.0, chunks)[0]

    return jax.grad(loss, (0, 1)), [f32(256, 30000), f32(2048, 256), i32(2048)]


@program("dropout and layer norm, gradient")
def _():
    def loss(w, x, key):
        for i in range(3):
            keep = jax.random.bernoulli(jax.random.fold_in(key, i), 0.9, x.shape)
            x = jnp.where(keep, x, 0) @ w
            x = x - x.mean(-1, keepdims=True)
            x = x * lax.rsqrt((x**2).mean(-1, keepdims=True) + 1e-5)
        return (x**3).mean()

    return jax.grad(loss), [f32(512, 512), f32(8000, 512), jax.random.key(0)]


@program("per-example gradients")
def _():
    def loss(w, x):
        return (jnp.tanh(jnp.tanh(x @ w[0]) @ w[1]) ** 2).sum()

    def f(w, xs):
        gradients = jax.vmap(jax.grad(loss), (None, 0))(w, xs)
        norms = sum((g**2).sum((1, 2)) for g in gradients)
        return [(g / norms[:, None, None]).sum(0) for g in gradients]

    return f, [[f32(128, 256), f32(256, 64)], f32(1000, 128)]


@program("Jacobian of a network")
def _():
    def f(w, x):
        return jax.vmap(jax.jacrev(lambda x: jnp.tanh(jnp.tanh(x @ w[0]) @ w[1])))(x)

    return f, [[f32(64, 256), f32(256, 64)], f32(2000, 64)]


@program("Hessian products")
def _():
    def loss(w, x):
        return (jnp.tanh(x @ w) ** 2).mean()

    def f(w, x, vs):
        def product(v):
            return jax.jvp(jax.grad(lambda w: loss(w, x)), (w,), (v,))[1]

        return lax.map(product, vs)

    return f, [f32(200, 300), f32(10000, 200), f32(5, 200, 300)]


# Signals, counts, energies.


@program("histogram by one-hot products")
def _():
    def f(ids, x):
        return jax.nn.one_hot(ids, 500).T @ x

    return f, [i32(50000), f32(50000, 8)]


@program("spectrogram")
def _():
    def f(x):
        starts = jnp.arange(0, x.shape[0] - 1024, 256)
        frames = jax.vmap(lambda s: lax.dynamic_slice(x, (s,), (1024,)))(starts)
        return jnp.log1p(jnp.abs(jnp.fft.rfft(frames * jnp.hanning(1024))) ** 2)

    return f, [f32(1_000_000)]


@program("kernel density")
def _():
    def f(x, y):
        return jax.nn.logsumexp(-squared_distances_exact(y, x), -1) - jnp.log(x.shape[0])

    return f, [f32(10000, 5), f32(3000, 5)]


@program("mean shift, three steps")
def _():
    def f(x):
        def step(_, y):
            weights = rbf(y, x)
            return (weights @ x) / weights.sum(-1, keepdims=True)

        return lax.fori_loop(0, 3, step, x)

    return f, [f32(4000, 3)]


@program("ranking loss, gradient")
def _():
    def f(scores, labels):
        margin = scores[:, None] - scores[None]
        wanted = labels[:, None] > labels[None]
        return jnp.where(wanted, jax.nn.softplus(-margin), 0).sum()

    return jax.grad(f), [f32(5000), f32(5000)]


@program("triangular solve in a loop over columns")
def _():
    def f(a, b):
        def solve(columns):
            return jax.scipy.linalg.solve_triangular(a, columns, lower=True)

        return lax.map(solve, b.reshape(1000, 20, 500).transpose(1, 0, 2))

    return f, [f32(1000, 1000), f32(1000, 10000)]


@program("loop that fills a matrix in place")
def _():
    def f(x):
        def fill(i, out):
            rows = lax.dynamic_slice(x, (i * 100, 0), (100, 3))
            return lax.dynamic_update_slice(out, rbf(rows, x), (i * 100, 0))

        out = lax.fori_loop(0, 50, fill, jnp.zeros((5000, 5000)))
        return jnp.linalg.norm(out, axis=0)

    return f, [f32(5000, 3)]


@program("branches of different size")
def _():
    def f(i, x):
        return lax.switch(
            i,
            [
                lambda x: (x @ x).sum(),
                lambda x: jnp.linalg.norm(jnp.sort(x, 0)),
                lambda x: (jnp.tanh(x @ x) @ x).sum(),
            ],
            x,
        )

    return f, [i32(), f32(2500, 2500)]


@program("cumulative product of a matrix chain")
def _():
    return lambda x: lax.associative_scan(jnp.matmul, x), [f32(128, 96, 96)]


@program("diffusion by convolution, many steps")
def _():
    def f(x):
        def step(_, x):
            up, down = jnp.roll(x, 1, 0), jnp.roll(x, -1, 0)
            left, right = jnp.roll(x, 1, 1), jnp.roll(x, -1, 1)
            return x + 0.1 * (up + down + left + right - 4 * x)

        return lax.fori_loop(0, 100, step, x)

    return f, [f32(3000, 3000)]
