"""Loops, branches, derivatives and batching: ops with graphs inside of them."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jax import lax

from splitting import generate
from splitting.graph import Builder, Graph, Spec, Unfit
from splitting.ops_elementwise import real_float

DEEPEST = 2


def _body(
    g: Builder, specs: list[Spec], nodes: int, smooth: bool = False
) -> tuple[Builder, list[int]]:
    """A graph over values of these specs, and its inputs."""
    if g.depth >= DEEPEST:
        raise Unfit
    child = g.child()
    child.is_smooth = child.is_smooth or smooth
    inputs = [child.input(spec) for spec in specs]
    generate.grow(child, nodes)
    return child, inputs


def _into_shape(u, like):
    """A value out of another one that has the shape and the type of `like`."""
    if u.dtype == jnp.bool_ or not jnp.issubdtype(u.dtype, jnp.inexact):
        u = jnp.tanh(u.astype("float32") / 64)
    if jnp.iscomplexobj(u):
        u = jnp.real(u)
    if u.shape != like.shape:
        u = jnp.mean(u) if u.size else jnp.zeros((), u.dtype)
    return jnp.broadcast_to(u.astype(like.dtype), like.shape)


def _inexact(spec: Spec, bound: float = 4.0) -> Spec:
    return Spec(spec.shape, spec.dtype, False, bound)


def _outputs(g: Builder, child: Builder, count: int) -> list[int]:
    made = [i for node in child.nodes for i in node.results]
    if not made:
        raise Unfit
    return [g.choice(made[-4:]) for _ in range(count)]


def scan(g: Builder) -> None:
    """A state that each step changes, inputs of each step and results of each."""
    state = g.pick(real_float)
    a = g.specs[state]
    outer = [g.pick(lambda s: s.size > 0)]
    stacked = g.pick(lambda s: s.rank > 0 and 0 < s.shape[0] <= 40)
    b = g.specs[stacked]
    step = Spec(b.shape[1:], b.dtype, b.exact, b.bound)
    child, _ = _body(g, [_inexact(a), step, *(g.specs[i] for i in outer)], g.integer(1, 4))
    next_state, kept = _outputs(g, child, 2)
    body = child.graph([next_state, kept])
    backwards = g.chance(0.3)

    def run(u, xs, *rest):
        def turn(carry, x):
            changed, result = body(carry, x, *rest)
            return jnp.tanh(0.5 * carry + _into_shape(changed, carry)), result

        return lax.scan(turn, jnp.tanh(u), xs, reverse=backwards)

    made = child.specs[kept]
    bound = 1.0 if made.is_integer else max(1.0, made.bound)
    g.add(f"scan[{_names(body)}]", [state, stacked, *outer], run, False, bound)


def fori_loop(g: Builder) -> None:
    state = g.pick(real_float)
    outer = [g.pick(lambda s: s.size > 0)]
    child, _ = _body(g, [_inexact(g.specs[state]), *(g.specs[i] for i in outer)], g.integer(1, 3))
    (made,) = _outputs(g, child, 1)
    body = child.graph([made])
    turns = g.integer(0, 4)
    # A loop whose end is not known is no scan, and has no derivative.
    is_hidden = not g.is_smooth and g.chance(0.5)

    def run(u, *rest):
        def turn(i, carry):
            (changed,) = body(carry, *rest)
            weight = jnp.asarray(i + 1).astype(carry.dtype) / 4
            return jnp.tanh(carry + _into_shape(changed, carry) * weight)

        end = lax.optimization_barrier(jnp.int32(turns)) if is_hidden else turns
        return lax.fori_loop(0, end, turn, jnp.tanh(u))

    g.add(f"fori_loop[{_names(body)}]", [state, *outer], run, False, 1.0)


def while_loop(g: Builder) -> None:
    """How often it runs depends on the state."""
    if g.is_smooth:
        raise Unfit
    state = g.pick(lambda s: s.dtype == "int32" and s.size > 0)
    outer = [g.pick(lambda s: s.size > 0 and s.dtype == "int32")]
    most = g.integer(1, 6)

    def run(u, *rest):
        def goes_on(carry):
            i, v = carry
            return (i < most) & (jnp.sum(v & 7) % 11 != 3)

        def turn(carry):
            i, v = carry
            other = jnp.sum(rest[0]) if rest[0].shape != v.shape else rest[0]
            return i + 1, (v * 3 + other).astype(v.dtype)

        return lax.while_loop(goes_on, turn, (jnp.int32(0), u))

    g.add("while_loop", [state, *outer], run, False, None)


def matrix_loop(g: Builder) -> None:
    """A matrix made before a loop that multiplies by it again and again."""
    x = g.pick(lambda s: s.rank == 2 and real_float(s) and s.size > 0)
    n = g.specs[x].shape[0]
    if n * n > g.most_elements:
        raise Unfit
    turns = g.integer(1, 4)

    def run(u):
        scaled = jnp.tanh(u)
        kernel = jnp.exp(-jnp.sum(jnp.square(scaled[:, None] - scaled[None]), -1))

        def turn(_, v):
            v = kernel @ v
            return v / (1 + jnp.max(jnp.abs(v)))

        return lax.fori_loop(0, turns, turn, scaled[:, 0])

    g.add("matrix_loop[]", [x], run, False, 1.0)


def branch(g: Builder) -> None:
    state = g.pick(real_float)
    children = []
    for _ in range(g.integer(2, 3)):
        child, _ = _body(g, [_inexact(g.specs[state])], g.integer(1, 2))
        (made,) = _outputs(g, child, 1)
        children.append(child.graph([made]))
    scalars = [i for i, s in g.specs.items() if s.dtype == "int32" and s.rank == 0]
    operands = [state, *([g.choice(scalars)] if scalars else [])]

    def run(u, *index):
        index = index[0] if index else lax.optimization_barrier(jnp.int32(1))
        branches = [
            lambda v, graph=graph: jnp.tanh(_into_shape(graph(v)[0], v)) for graph in children
        ]
        if len(branches) == 2:
            return lax.cond((index & 1) == 0, *branches, jnp.tanh(u))
        return lax.switch(index, branches, jnp.tanh(u))

    names = "; ".join(map(_names, children))
    g.add(f"branch[{names}]", operands, run, False, 1.0)


def _mapped(g: Builder, name: str, transform) -> None:
    x = g.pick(lambda s: s.rank > 0 and 0 < s.shape[0])
    a = g.specs[x]
    outer = g.pick(lambda s: s.size > 0)
    row = Spec(a.shape[1:], a.dtype, a.exact, a.bound)
    child, _ = _body(g, [row, g.specs[outer]], g.integer(1, 3))
    (made,) = _outputs(g, child, 1)
    body = child.graph([made])
    spec = child.specs[made]
    g.add(
        f"{name}[{_names(body)}]",
        [x, outer],
        lambda u, v: transform(lambda r: body(r, v)[0], u),
        spec.exact,
        spec.bound,
    )


def vmap(g: Builder) -> None:
    _mapped(g, "vmap", lambda f, u: jax.vmap(f)(u))


def lax_map(g: Builder) -> None:
    x = [i for i, s in g.specs.items() if s.rank > 0 and 0 < s.shape[0] <= 40]
    if not x:
        raise Unfit
    _mapped(g, "map", lambda f, u: lax.map(f, u[:40]))


def gradient(g: Builder) -> None:
    """The derivative of a smooth graph by some of its inputs."""
    operands = [g.pick(lambda s: real_float(s) and s.size > 0)]
    operands += [g.pick(lambda s: s.size > 0) for _ in range(g.integer(0, 2))]
    specs = [g.specs[i] for i in operands]
    child, _ = _body(g, specs, g.integer(2, 7), smooth=True)
    made = [i for node in child.nodes for i in node.results if not child.specs[i].is_integer]
    if not made:
        raise Unfit
    outputs = made[-2:]
    body = child.graph(outputs)
    wanted = [k for k, s in enumerate(specs) if real_float(s) and operands.index(operands[k]) == k]
    has_checkpoint = g.chance(0.3)

    def run(*values):
        def loss(*some):
            arguments = list(values)
            for k, value in zip(wanted, some, strict=True):
                arguments[k] = value
            results = (jax.checkpoint(body) if has_checkpoint else body)(*arguments)
            total = 0.0
            for r in results:
                smooth = jnp.tanh(jnp.real(r)) if r.size else jnp.zeros((1,), jnp.real(r).dtype)
                total = total + jnp.sum(smooth).astype(values[0].dtype) / math.sqrt(max(1, r.size))
            return total

        some = [values[k] for k in wanted]
        derivatives = jax.grad(loss, tuple(range(len(wanted))))(*some)
        return [jnp.tanh(d) for d in derivatives]

    name = "gradient of checkpoint" if has_checkpoint else "gradient"
    try:
        g.add(f"{name}[{_names(body)}]", operands, run, False, 1.0)
    except (NotImplementedError, ValueError) as error:
        # Not everything has a derivative, such as a scattered maximum.
        raise Unfit from error


def custom_derivative(g: Builder) -> None:
    x = g.pick(real_float)

    @jax.custom_vjp
    def clipped(u):
        return jnp.sin(u)

    def forward(u):
        return jnp.sin(u), u

    def backward(u, slope):
        return (jnp.tanh(slope) * jnp.cos(u),)

    clipped.defvjp(forward, backward)
    g.add("custom_vjp", [x], clipped, False, 1.0)


def _names(graph: Graph) -> str:
    return ", ".join(node.name for node in graph.nodes)


OPS = [
    (scan, 3),
    (fori_loop, 2),
    (while_loop, 1),
    (matrix_loop, 1.5),
    (branch, 1.5),
    (vmap, 2),
    (lax_map, 1),
    (gradient, 6),
    (custom_derivative, 0.5),
]
