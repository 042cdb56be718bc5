"""Expressions inside of loops, of branches, and of what is mapped over a batch."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from algebra import generate
from algebra.build import Builder, Unfit
from algebra.matrices import of_shape
from splitting.graph import is_float


def mapped(g: Builder) -> None:
    """An expression for each of a batch, of which some operands are the same for all."""
    child = _child(g, g.integer(1, 3) * [None])
    batch = g.choice([1, 2, 3, 5])
    axes = [0 if g.chance(0.7) else None for _ in child.inputs]
    if axes.count(None) == len(axes):
        axes[0] = 0
    operands = [
        of_shape(g, child.specs[i].shape if axis is None else (batch, *child.specs[i].shape))
        for i, axis in zip(child.inputs, axes, strict=True)
    ]
    run = jax.vmap(child, axes)
    g.add_all(f"vmap{axes} of [\n{child}\n]", operands, lambda *v: run(*v))


def repeated(g: Builder) -> None:
    """A loop over a state in pieces, which are carried alone, concatenated or stacked."""
    size = g.choice(size for size in g.sizes if size > 0)
    states = g.integer(1, 3)
    kind = g.choice(["alone", "concatenated", "stacked"])
    child = _child(g, [(size,)] * states)
    turns = g.choice([0, 1, 2, 3, 5])
    loop = g.choice(["fori", "scan"] if g.is_smooth else ["fori", "scan", "while"])
    initial = [of_shape(g, (size,)) for _ in range(states)]
    constants = [of_shape(g, child.specs[i].shape) for i in child.inputs[states:]]

    def pack(pieces):
        if kind == "alone":
            return tuple(pieces)
        return (jnp.concatenate if kind == "concatenated" else jnp.stack)(pieces)

    def unpack(state):
        if kind == "alone":
            return state
        if kind == "stacked":
            return [state[k] for k in range(states)]
        return [state[k * size : (k + 1) * size] for k in range(states)]

    def run(*values):
        start, rest = values[:states], values[states:]

        def step(state):
            return pack([_bounded(piece) for piece in child(*unpack(state), *rest)])

        if loop == "fori":
            end, outputs = lax.fori_loop(0, turns, lambda i, s: step(s), pack(start)), []
        elif loop == "while":
            counted = (jnp.asarray(0), pack(start))
            more = lambda c: c[0] < turns  # noqa: E731
            end, outputs = lax.while_loop(more, lambda c: (c[0] + 1, step(c[1])), counted)[1], []
        else:

            def body(state, _):
                state = step(state)
                return state, unpack(state)[0]

            end, outputs = lax.scan(body, pack(start), None, length=turns)
            outputs = [outputs]
        return [*unpack(end), *outputs]

    name = f"{loop} of {turns} over {states} {kind}, [\n{child}\n]"
    g.add_all(name, [*initial, *constants], run, 0.6)


def chosen(g: Builder) -> None:
    """A branch that depends on the numbers."""
    first = _child(g, [None])
    # Of an argument, or rounding errors would decide.
    x = g.input(first.specs[first.inputs[0]].shape)
    operands = [x] + [of_shape(g, first.specs[i].shape) for i in first.inputs[1:]]

    def run(*values):
        return lax.cond(
            jnp.sum(jnp.sign(values[0].real)) + 0.5 > 0,
            first,
            lambda *v: tuple(2 * r for r in first(*v)),
            *values,
        )

    g.add_all(f"cond [\n{first}\n]", operands, run)


def _child(g: Builder, states: list[tuple[int, ...] | None]):
    """A graph that starts with these inputs, and has as many outputs of these shapes.

    The shape None stands for any, and makes for any outputs.
    """
    if g.depth > 0:
        raise Unfit
    child = g.child()
    is_free = states[0] is None
    shapes = [_any_shape(g) for _ in states] if is_free else states
    for shape in shapes:
        child.input(shape)
    generate.grow(child, g.integer(1, 4))
    if is_free:
        outputs = child.unused()[:3]
        if not outputs:
            raise Unfit
    else:
        made = [i for node in child.nodes for i in node.results]
        fitting = [i for i in made if child.specs[i].shape == states[0]]
        outputs = [child.choice(fitting) for _ in states]
    graph = child.program(outputs)
    if not is_free:
        # All states stay inputs, in their order.
        graph.inputs = list(child.inputs)
    if not graph.inputs:
        raise Unfit
    return graph


def _any_shape(g: Builder) -> tuple[int, ...]:
    return (g.size(), g.size()) if g.chance(0.7) else (g.size(),)


def _bounded(x: jax.Array) -> jax.Array:
    """Numbers that stay where they are in a loop."""
    if not is_float(x.dtype):
        return x
    return x / (1 + x * jnp.conj(x))


OPS = [(mapped, 3), (repeated, 3), (chosen, 0.5)]
