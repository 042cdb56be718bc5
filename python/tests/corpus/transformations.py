"""What JAX's transformations make: derivatives, batching, remat, donation, nesting."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.ad_checkpoint import checkpoint_name

from corpus.program import Theme, bf16, c64, f32, f64, i32

theme = Theme("transformations")


def net(x):
    return jnp.tanh(x @ jnp.ones((3, 3)) * 0.5).sum()


X = f32(3)
theme.add("grad", jax.grad(net), X)
theme.add("value_and_grad", jax.value_and_grad(net), X)
theme.add("grad-of-grad", jax.grad(lambda x: jax.grad(net)(x).sum()), X)
theme.add("hessian", jax.hessian(net), X)
theme.add("jacfwd", jax.jacfwd(lambda x: jnp.sin(x) * x[0]), X)
theme.add("jacrev", jax.jacrev(lambda x: jnp.sin(x) * x[0]), X)
theme.add("jvp", lambda x, t: jax.jvp(net, (x,), (t,)), X, X)
theme.add("vjp", lambda x, ct: jax.vjp(jnp.sin, x)[1](ct), X, X)
theme.add("linearize", lambda x, t: jax.linearize(net, x)[1](t), X, X)
theme.add("linear_transpose", lambda x: jax.linear_transpose(lambda y: y[::2] * 3, x)(x[::2]), X)
theme.add("vmap-of-grad", jax.vmap(jax.grad(net)), f32(5, 3))
theme.add("grad-of-vmap", jax.grad(lambda x: jax.vmap(net)(x).sum()), f32(5, 3))
theme.add("hessian-vector", lambda x, v: jax.jvp(jax.grad(net), (x,), (v,))[1], X, X)
theme.add("grad-f64", jax.grad(lambda x: jnp.sin(x).prod()), f64(3), x64=True)
theme.add("grad-bf16", jax.grad(lambda x: jnp.sin(x).sum()), bf16(3))
theme.add("grad-holomorphic", jax.grad(lambda z: jnp.sin(z).sum(), holomorphic=True), c64(3))
theme.add("grad-aux", jax.grad(lambda x: (net(x), {"twice": 2 * x}), has_aux=True), X)
theme.add(
    "vmap-axes", jax.vmap(lambda x, y: x * y, in_axes=(0, 1), out_axes=1), f32(3, 5), f32(5, 3)
)
theme.add("vmap-none", jax.vmap(jnp.dot, in_axes=(None, 0)), f32(2, 3), f32(5, 3))
theme.add("vmap-collective", jax.vmap(lambda x: x - lax.pmean(x, "i"), axis_name="i"), f32(5, 3))
theme.add("vmap-axis_index", jax.vmap(lambda x: x * lax.axis_index("i"), axis_name="i"), f32(5, 3))
theme.add("vmap-all_gather", jax.vmap(lambda x: lax.all_gather(x, "i"), axis_name="i"), f32(3, 2))
theme.add(
    "grad-of-linear-solve",
    jax.grad(lambda a, b: jnp.linalg.solve(a, b).sum()),
    f32(3, 3) + 2 * np.eye(3, dtype="float32"),
    f32(3),
    runnable=False,
)


@jax.custom_vjp
def clipped(x, limit):
    return jnp.sin(x)


clipped.defvjp(
    lambda x, limit: (jnp.sin(x), (x, limit)),
    lambda kept, ct: (jnp.clip(ct * jnp.cos(kept[0]), -kept[1], kept[1]), None),
)
theme.add("custom_vjp", lambda x: clipped(x, 0.5), X)
theme.add("custom_vjp-grad", jax.grad(lambda x: clipped(x, 0.5).sum()), X)
theme.add("custom_vjp-vmap", jax.vmap(jax.grad(lambda x: clipped(x, 0.5).sum())), f32(5, 3))
theme.add(
    "custom_vjp-scan",
    jax.grad(
        lambda x: lax.scan(lambda c, y: (clipped(c + y, 0.5), c), x, jnp.ones((4, 3)))[0].sum()
    ),
    X,
)


@jax.custom_jvp
def log1pexp(x):
    return jnp.log1p(jnp.exp(x))


log1pexp.defjvp(lambda xs, ts: (log1pexp(xs[0]), jax.nn.sigmoid(xs[0]) * ts[0]))
theme.add("custom_jvp", log1pexp, X)
theme.add("custom_jvp-grad", jax.grad(lambda x: log1pexp(x).sum()), X)
theme.add("custom_jvp-hessian", jax.hessian(lambda x: log1pexp(x).sum()), X)


@theme.program(X)
def custom_gradient(x):
    @jax.custom_gradient
    def square(y):
        return y**2, lambda ct: 3 * ct * y

    return jax.grad(lambda y: square(y).sum())(x)


@theme.program(X)
def custom_batching(x):
    @jax.custom_batching.custom_vmap
    def double(y):
        return y * 2

    double.def_vmap(lambda size, batched, y: (y + y, batched[0]))
    return jax.vmap(double)(x)


def block(w, x):
    hidden = checkpoint_name(jnp.sin(x @ w), "hidden")
    return jnp.cos(hidden @ w)


POLICIES = {
    "default": None,
    "dots": jax.checkpoint_policies.dots_saveable,
    "everything": jax.checkpoint_policies.everything_saveable,
    "names": jax.checkpoint_policies.save_only_these_names("hidden"),
    "offload": jax.checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=[],
        names_which_can_be_offloaded=["hidden"],
        offload_src="device",
        offload_dst="pinned_host",
    ),
}
for name, policy in POLICIES.items():
    remat = jax.checkpoint(block, policy=policy)
    theme.add(
        f"remat-{name}",
        jax.grad(lambda w, x, f=remat: f(w, f(w, x)).sum()),
        f32(3, 3),
        f32(5, 3),
        runnable=name != "offload",
    )
theme.add(
    "remat-scan",
    jax.grad(
        lambda w, x: lax.scan(
            jax.checkpoint(lambda c, _: (block(w, c), None), prevent_cse=False), x, length=4
        )[0].sum()
    ),
    f32(3, 3),
    f32(5, 3),
)

theme.add(
    "donate",
    lambda x, y: (x + 1, y * 2),
    f32(5),
    f32(5),
    jit=dict(donate_argnums=(0,)),
    runnable=False,
)
theme.add(
    "donate-tree",
    lambda t: jax.tree.map(lambda v: v + 1, t),
    {"a": X, "b": (i32(2), X)},
    jit=dict(donate_argnums=0),
    runnable=False,
)
theme.add(
    "donate-unused",
    lambda x, y: y.sum(),
    f32(5),
    f32(7),
    jit=dict(donate_argnums=(0, 1)),
    runnable=False,
)
theme.add(
    "static",
    lambda x, n, name: x**n if name == "power" else x,
    X,
    3,
    "power",
    jit=dict(static_argnums=(1, 2)),
    runnable=False,
)
theme.add("keep_unused", lambda x, y, z: y, X, f32(2), i32(1), jit=dict(keep_unused=True))
theme.add("inline", jax.jit(lambda x: jax.jit(jnp.sin, inline=True)(x) + 1), X)
theme.add(
    "nested-jit", lambda x: jax.jit(lambda y: jax.jit(jnp.sin)(y) + jax.jit(jnp.sin)(y * 2))(x), X
)
theme.add("constant-result", lambda x: (1.0, np.arange(3), x), X)
theme.add("no-result", lambda x: None, X)
theme.add("no-argument", lambda: jnp.arange(5) ** 2)
theme.add("same-result-twice", lambda x: (x, x, jnp.sin(x)), X)
theme.add("many-arguments", lambda *xs: sum(xs), *[f32(2) * k for k in range(40)])
theme.add(
    "deep-expression", lambda x: functools.reduce(lambda a, _: jnp.sin(a) + x, range(200), x), X
)
theme.add(
    "deep-nesting",
    lambda x: functools.reduce(
        lambda f, _: lambda y: lax.cond(y.sum() > 0, f, jnp.cos, y), range(12), jnp.sin
    )(x),
    X,
)
theme.add(
    "pytree-result-info",
    lambda t: {"out": [t["x"], (t["y"],)], 'é "q"': t["x"]},
    {"x": X, "y": i32(2)},
)
theme.add(
    "fwd_and_bwd",
    lambda x, ct: (lambda f, b: b(f(x)[1], ct))(*jax.fwd_and_bwd(jnp.sin, (0,))),
    X,
    X,
)
theme.add(
    "compiler-options",
    lambda x: x + 1,
    X,
    jit=dict(compiler_options={"xla_embed_ir_in_executable": True}),
    runnable=False,
)
theme.add("tuple-of-everything", lambda x: (x.astype("bfloat16"), x > 0, x.astype(int), x * 1j), X)
