"""Symbolic shapes and programs for other or several platforms, as jax.export makes them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from corpus.program import Theme, f32, spec

theme = Theme("exports", runnable=False)


def symbolic(name, function, *shapes, constraints=(), dtype=np.float32, **options):
    """Exported with the given shapes, which are written as text and share their dimensions."""
    scope = jax.export.SymbolicScope(constraints)
    args = [spec(dtype, *jax.export.symbolic_shape(shape, scope=scope)) for shape in shapes]
    theme.add(name, function, *args, export=True, **options)


POLYMORPHIC = {
    "sine": (jnp.sin, "n"),
    "reshape": (lambda x: x.reshape(-1), "n, m, 3"),
    "reshape-divide": (lambda x: x.reshape(2, -1), "2*n"),
    "transpose": (lambda x: x.T, "n, m"),
    "concatenate": (lambda x: jnp.concatenate([x, x[:1], x]), "n, 3"),
    "mean": (lambda x: jnp.mean(x, axis=0), "n, 3"),
    "softmax": (jax.nn.softmax, "b, n"),
    "iota": (lambda x: x + jnp.arange(x.shape[0]), "n"),
    "eye": (lambda x: x @ jnp.eye(x.shape[1]), "n, m"),
    "full": (lambda x: jnp.full((x.shape[0] * 2, 3), 7.0), "n"),
    "broadcast": (lambda x: jnp.broadcast_to(x, (5, *x.shape)), "n, m"),
    "pad": (lambda x: jnp.pad(x, ((1, 2), (0, x.shape[0]))), "n, 3"),
    "slice": (lambda x: x[1:-1], "n"),
    "slice-stride": (lambda x: x[::2], "n"),
    "reverse": (lambda x: x[::-1], "n"),
    "dynamic-index": (lambda x: x[jnp.asarray(x.shape[0] // 2)], "n, 3"),
    "dynamic_update_slice": (lambda x: x.at[1:3].set(0.0), "n, m"),
    "gather": (lambda x: x[jnp.array([0, 2])], "n, m"),
    "take": (lambda x: jnp.take(x, jnp.arange(x.shape[0]) // 2, axis=0), "n, m"),
    "scatter": (lambda x: x.at[jnp.array([0, 2])].add(1.0), "n, m"),
    "sort": (lambda x: jnp.sort(x, axis=0), "n, m"),
    "argmax": (lambda x: jnp.argmax(x, axis=0), "n, m"),
    "cumsum": (lambda x: jnp.cumsum(x, axis=0), "n, m"),
    "window": (lambda x: lax.reduce_window(x, 0.0, lax.add, (3,), (1,), "SAME"), "n"),
    "conv": (lambda x: lax.conv(x, jnp.ones((2, 3, 3, 3)), (1, 1), "SAME"), "b, 3, h, w"),
    "conv-strides": (lambda x: lax.conv(x, jnp.ones((2, 3, 3, 3)), (2, 2), "SAME"), "b, 3, h, w"),
    "random": (lambda x: jax.random.normal(jax.random.key(0), x.shape), "n, m"),
    "scan": (lambda x: lax.scan(lambda c, r: (c + r, c * r), jnp.zeros(x.shape[1]), x), "n, m"),
    "while": (lambda x: lax.while_loop(lambda s: s.sum() < 9, lambda s: s * 2, x), "n"),
    "cond": (lambda x: lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x), "n"),
    "fori": (lambda x: lax.fori_loop(0, x.shape[0], lambda i, s: s + i, x), "n"),
    "grad": (jax.grad(lambda x: (jnp.tanh(x) @ x.T).sum()), "n, m"),
    "vmap": (jax.vmap(lambda x: x / x.sum()), "n, m"),
    "arithmetic": (lambda x: x * (x.shape[0] ** 2 - 3 * x.shape[1] + 1), "n, m"),
    "floor-and-mod": (lambda x: x + (x.shape[0] // 3) + x.shape[0] % 5, "n"),
    "max-and-min": (lambda x: x[:4], "n"),
    "shape_as_value": (lambda x: lax.shape_as_value(x.shape), "n, m"),
    "as-value": (lambda x: jnp.asarray(x.shape[0]) + x, "n"),
    "map": (lambda x: lax.map(lambda r: r @ r, x), "n, 3"),
    "cholesky": (lambda x: lax.linalg.cholesky(x), "b, 3, 3"),
    "qr": (lambda x: jnp.linalg.qr(x), "b, 4, 3"),
    "fft": (lambda x: jnp.fft.rfft(x), "b, 8"),
    "associative_scan": (lambda x: lax.associative_scan(jnp.add, x, axis=1), "n, 7"),
    "expression-shape": (lambda x: x.sum(), "2*n + 1"),
    "same-dimension": (lambda x: x @ x, "n, n"),
    "three-dimensions": (lambda x: jnp.einsum("abc->cab", x), "a, b, c"),
    "repeat": (lambda x: jnp.repeat(x, 3, axis=0), "n, 2"),
    "tile": (lambda x: jnp.tile(x, (2, 3)), "n, m"),
    "histogram": (lambda x: jnp.bincount(x.astype(int), length=5), "n"),
}
for name, (function, shape) in POLYMORPHIC.items():
    symbolic(f"symbolic-{name}", function, shape)
symbolic("symbolic-dot", jnp.dot, "n, k", "k, m")
symbolic("symbolic-batch-matmul", jnp.matmul, "b, n, k", "b, k, m")
symbolic("symbolic-multiples", lambda x, y: jnp.concatenate([x, y]), "n", "3*n")
symbolic(
    "symbolic-dynamic_slice",
    lambda x: lax.dynamic_slice(x, (1,), (x.shape[0] - 2,)),
    "n",
    constraints=["n >= 2"],
)
symbolic("symbolic-top_k", lambda x: lax.top_k(x, 3), "n, m", constraints=["m >= 3"])
symbolic("symbolic-constraint", lambda x: x[: x.shape[0] - 3], "n", constraints=["n >= 4"])
symbolic(
    "symbolic-constraints",
    lambda x, y: (x[:2], y),
    "n, m",
    "m",
    constraints=["n >= 2", "m <= 100", "mod(m, 4) == 0", "n <= m"],
)
symbolic(
    "symbolic-equality", lambda x, y: x.reshape(-1) + y, "n, m", "k", constraints=["n * m == k"]
)
symbolic("symbolic-i64", lambda x: x + x.shape[0], "n", dtype=np.int64, x64=True)
symbolic("symbolic-tpu", lambda x: jnp.tanh(x) @ x.T, "n, m", platforms=("tpu",))
symbolic("symbolic-several-platforms", lambda x: jnp.sort(x), "n", platforms=("cpu", "cuda", "tpu"))


def exported(name, function, *args, **options):
    theme.add(name, function, *args, export=True, **options)


X = f32(3, 5)
exported("cpu", lambda x: jnp.sin(x) @ x.T, X)
for platform in ("tpu", "cuda", "rocm"):
    exported(f"{platform}-sine", lambda x: jnp.sin(x) @ x.T, X, platforms=(platform,))
    exported(f"{platform}-sort", jnp.sort, X, platforms=(platform,))
    exported(
        f"{platform}-random",
        lambda k: jax.random.normal(k, (5,)),
        np.uint32([1, 2]),
        platforms=(platform,),
    )
    exported(f"{platform}-cumsum", lambda x: lax.cumsum(x, 0), X, platforms=(platform,))
exported(
    "several",
    lambda x: jnp.sin(x) + lax.platform_dependent(x, cpu=jnp.cos, default=jnp.exp),
    X,
    platforms=("cpu", "cuda", "tpu"),
)
exported("several-cumsum", lambda x: lax.cumsum(x, 0), X, platforms=("cpu", "tpu"))
exported(
    "several-random",
    lambda k: jax.random.normal(k, (5,)),
    np.uint32([1, 2]),
    platforms=("cpu", "cuda"),
)
exported("several-erf", jax.scipy.special.erf, X, platforms=("cpu", "cuda"))
exported(
    "sharded",
    lambda x: x * 2,
    f32(8, 4),
    jit=dict(
        in_shardings=NamedSharding(
            jax.make_mesh((8,), ("d",), axis_types=(jax.sharding.AxisType.Auto,)), P("d")
        )
    ),
)
exported("donated", lambda x: x + 1, X, jit=dict(donate_argnums=0))
exported(
    "call-of-exported",
    lambda x: jax.export.export(jax.jit(jnp.sin))(spec(np.float32, 3, 5)).call(x) + 1,
    X,
)
exported(
    "chlo", lambda x: (lax.erf_inv(x), lax.lgamma(x), lax.tan(x), lax.asinh(x), lax.top_k(x, 2)), X
)
