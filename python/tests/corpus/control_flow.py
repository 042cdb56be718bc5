"""Loops, branches and scans, alone, nested, differentiated and batched."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from corpus.program import Theme, boolean, c64, f32, f64, i32, positive_definite

theme = Theme("control_flow")


@theme.program(f32(3))
def while_simple(x):
    return lax.while_loop(lambda s: s.sum() < 10, lambda s: s * 1.5, x)


@theme.program(f32(3), i32(2), boolean())
def while_many_values(x, i, b):
    def body(state):
        n, (x, i), b = state
        return n + 1, (jnp.sin(x), i + n), ~b

    return lax.while_loop(lambda state: state[0] < 7, body, (0, (x, i), b))


@theme.program(f32(5))
def while_with_captures(x):
    scale = x.max()
    return lax.while_loop(lambda s: (s * scale).sum() < 10, lambda s: s + scale * x, x)


@theme.program()
def while_without_values():
    return lax.while_loop(lambda s: False, lambda s: s, ())


theme.add(
    "while-vmap",
    jax.vmap(lambda x: lax.while_loop(lambda s: s < 10, lambda s: s * 2 + 1, x)),
    f32(5),
)
theme.add(
    "while-jvp",
    lambda x: jax.jvp(
        lambda y: lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, jnp.sin(s[1])), (0, y)),
        (x,),
        (x,),
    )[0][1],
    f32(3),
)

theme.add("fori-static", lambda x: lax.fori_loop(0, 7, lambda i, s: s + i * jnp.cos(s), x), f32(3))
theme.add(
    "fori-dynamic", lambda x, n: lax.fori_loop(n, 9, lambda i, s: s * 1.1, x), f32(3), np.int32(2)
)
theme.add("fori-unroll", lambda x: lax.fori_loop(0, 7, lambda i, s: s * i, x, unroll=3), f32(3))
theme.add("fori-never", lambda x: lax.fori_loop(5, 2, lambda i, s: s + 1, x), f32(3))
theme.add(
    "fori-update", lambda x: lax.fori_loop(0, 5, lambda i, s: s.at[i].set(s[i - 1] * 2), x), f32(5)
)
theme.add("fori-i64", lambda x: lax.fori_loop(0, 5, lambda i, s: s + i, x), f64(3), x64=True)
theme.add(
    "fori-grad", jax.grad(lambda x: lax.fori_loop(0, 5, lambda i, s: jnp.sin(s), x).sum()), f32(3)
)
theme.add(
    "fori-nested",
    lambda x: lax.fori_loop(0, 3, lambda i, s: lax.fori_loop(0, i, lambda j, t: t + i * j, s), x),
    f32(3),
)


def cell(carry, x):
    carry = jnp.tanh(carry @ jnp.eye(3) + x)
    return carry, carry.sum()


XS = f32(7, 3)
for name, options in {
    "forward": {},
    "reverse": dict(reverse=True),
    "unroll": dict(unroll=3),
    "unroll-all": dict(unroll=True),
}.items():
    scan = functools.partial(lax.scan, cell, **options)
    theme.add(f"scan-{name}", scan, f32(3), XS)
    theme.add(
        f"scan-{name}-grad", jax.grad(lambda c, xs, s=scan: s(c, xs)[1].sum(), (0, 1)), f32(3), XS
    )
theme.add("scan-length", lambda c: lax.scan(lambda c, _: (c * 2, c), c, length=5), f32(3))
theme.add("scan-empty", lambda c, xs: lax.scan(cell, c, xs), f32(3), f32(0, 3))
theme.add("scan-one", lambda c, xs: lax.scan(cell, c, xs), f32(3), f32(1, 3))
theme.add("scan-no-carry", lambda xs: lax.scan(lambda c, x: (c, x * 2), None, xs), XS)
theme.add(
    "scan-trees",
    lambda c, xs: lax.scan(
        lambda c, x: ({"n": c["n"] + 1, "v": c["v"] + x["a"]}, (x["b"], c["n"])), c, xs
    ),
    {"n": np.int32(0), "v": f32(3)},
    {"a": XS, "b": i32(7)},
)
theme.add("scan-vmap", jax.vmap(lambda c, xs: lax.scan(cell, c, xs), (0, None)), f32(2, 3), XS)
theme.add(
    "scan-jvp", lambda c, xs: jax.jvp(lambda c: lax.scan(cell, c, xs)[0], (c,), (c,)), f32(3), XS
)
theme.add("scan-hessian", jax.hessian(lambda c, xs: lax.scan(cell, c, xs)[0].sum()), f32(3), XS)
theme.add(
    "scan-complex", lambda c, xs: lax.scan(lambda c, x: (c * x, c.real), c, xs), c64(), c64(5)
)


@theme.program(f32(3), XS)
def scan_of_scan(carry, xs):
    def outer(carry, x):
        inner, ys = lax.scan(cell, carry, jnp.stack([x, x * 2]))
        return inner, ys.sum()

    return lax.scan(outer, carry, xs)


@theme.program(f32(3), XS)
def scan_of_cond_of_while(carry, xs):
    def grow(c):
        return lax.while_loop(lambda s: s.sum() < 5, lambda s: s * 2 + 0.1, c)

    def body(carry, x):
        carry = lax.cond(x[0] > 0.5, grow, lambda c: c - x, carry)
        return carry, carry.max()

    return lax.scan(body, carry, xs)


theme.add("cond", lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x), boolean(), f32(3))
theme.add("cond-int", lambda i, x: lax.cond(i, jnp.sin, jnp.cos, x), np.int32(3), f32(3))
theme.add(
    "cond-many",
    lambda p, x, y: lax.cond(p, lambda a, b: (a, b, 1), lambda a, b: (b, a, 2), x, y),
    boolean(),
    f32(3),
    f32(3),
)
theme.add("cond-no-operands", lambda p: lax.cond(p, lambda: 1.0, lambda: 2.0), boolean())
theme.add(
    "cond-grad",
    jax.grad(lambda x, p: lax.cond(p, jnp.sin, lambda y: y * y, x).sum()),
    f32(3),
    boolean(),
)
theme.add(
    "cond-vmap", jax.vmap(lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x)), boolean(5), f32(5, 2)
)
theme.add(
    "cond-nested",
    lambda p, q, x: lax.cond(p, lambda y: lax.cond(q, jnp.sin, jnp.cos, y), jnp.exp, x),
    boolean(),
    boolean(1)[0],
    f32(3),
)
BRANCHES = [jnp.sin, jnp.cos, lambda x: x * 2, lambda x: x - 1]
theme.add("switch", lambda i, x: lax.switch(i, BRANCHES, x), np.int32(2), f32(3))
theme.add("switch-out-of-range", lambda i, x: lax.switch(i, BRANCHES, x), np.int32(9), f32(3))
theme.add("switch-one", lambda i, x: lax.switch(i, BRANCHES[:1], x), np.int32(0), f32(3))
theme.add(
    "switch-vmap", jax.vmap(lambda i, x: lax.switch(i, BRANCHES, x)), np.int32([3, 0, 1]), f32(3, 2)
)
theme.add(
    "switch-grad", jax.grad(lambda x, i: lax.switch(i, BRANCHES, x).sum()), f32(3), np.int32(1)
)
theme.add("map", lambda xs: lax.map(lambda x: x @ x, xs), f32(5, 2, 2))
theme.add("map-batched", lambda xs: lax.map(jnp.sin, xs, batch_size=3), f32(7, 2))
theme.add("map-trees", lambda a, b: lax.map(lambda p: {"sum": p[0] + p[1]}, (a, b)), XS, XS)
for name, function in {"add": jnp.add, "matmul": jnp.matmul, "max": jnp.maximum}.items():
    operand = f32(7, 2, 2) if name == "matmul" else f32(11, 3)
    theme.add(f"associative_scan-{name}", lambda x, f=function: lax.associative_scan(f, x), operand)
theme.add(
    "associative_scan-reverse",
    lambda x: lax.associative_scan(jnp.multiply, x, reverse=True, axis=1),
    XS,
)
theme.add(
    "associative_scan-grad",
    jax.grad(lambda x: lax.associative_scan(jnp.multiply, x)[-1].sum()),
    f32(5),
)


@theme.program(positive_definite(np.float32, 4, 4), f32(4))
def custom_linear_solve(a, b):
    def solve(matvec, b):
        return lax.fori_loop(0, 20, lambda _, x: x - 0.1 * (matvec(x) - b), jnp.zeros_like(b))

    def loss(b):
        return lax.custom_linear_solve(lambda v: a @ v, b, solve, solve, symmetric=True).sum()

    return jax.value_and_grad(loss)(b)


@theme.program(np.float32(7))
def custom_root(y):
    def root(y):
        def solve(f, x):
            return lax.fori_loop(0, 10, lambda _, x: x - f(x) / jax.grad(f)(x), x)

        return lax.custom_root(lambda x: x**2 - y, y, solve, lambda g, b: b / g(1.0))

    return jax.value_and_grad(root)(y)


theme.add(
    "platform_dependent", lambda x: lax.platform_dependent(x, cpu=jnp.sin, default=jnp.cos), f32(3)
)
theme.add(
    "platform_dependent-all",
    lambda x: lax.platform_dependent(x, cpu=jnp.sin, cuda=jnp.cos, tpu=jnp.tanh),
    f32(3),
    platforms=("cpu", "cuda", "tpu"),
    runnable=False,
)
theme.add(
    "token",
    lambda x: lax.after_all(lax.create_token(), lax.create_token(x)),
    f32(3),
    runnable=False,
)


@theme.program(f32(5, 2))
def mutable_reference(x):
    """References become plain values again, with loops that carry them."""
    total = jax.new_ref(jnp.zeros(2))

    def body(i, _):
        total[...] += x[i]
        return ()

    lax.fori_loop(0, 5, body, ())
    return total[...]


@theme.program(f32(64))
def newton_iteration(x):
    """A loop with early exit over several carried values."""

    def step(state):
        x, previous, n = state
        return x - (x**2 - 2) / (2 * x), x, n + 1

    def go_on(state):
        x, previous, n = state
        return (jnp.abs(x - previous).max() > 1e-3) & (n < 50)

    return lax.while_loop(go_on, step, (x, x + 1, 0))
