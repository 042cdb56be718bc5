"""Ops that move elements and change none."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
from jax import lax

from splitting.graph import Builder, Spec, Unfit


def has_dimensions(spec: Spec) -> bool:
    return spec.rank > 0


def _keep(g: Builder, name: str, x: int, function) -> None:
    spec = g.specs[x]
    g.add(name, [x], function, spec.exact, spec.bound)


def broadcast(g: Builder) -> None:
    x = g.pick(lambda s: s.rank <= 2)
    spec = g.specs[x]
    shape = list(spec.shape)
    places = list(range(spec.rank))
    for _ in range(g.integer(1, 2)):
        at = g.integer(0, len(shape))
        shape.insert(at, g.dimension())
        places = [p + 1 if p >= at else p for p in places]
    _keep(
        g,
        f"broadcast_in_dim({shape}, {places})",
        x,
        lambda u: lax.broadcast_in_dim(u, tuple(shape), tuple(places)),
    )


def reshape(g: Builder) -> None:
    x = g.pick(has_dimensions)
    shape = list(g.specs[x].shape)
    for _ in range(g.integer(1, 2)):
        if len(shape) > 1 and g.chance(0.5):
            at = g.integer(0, len(shape) - 2)
            shape[at : at + 2] = [shape[at] * shape[at + 1]]
        elif g.chance(0.2):
            shape.insert(g.integer(0, len(shape)), 1)
        elif shape:
            at = g.integer(0, len(shape) - 1)
            size = shape[at]
            divisors = [d for d in range(2, min(size, 64)) if size and size % d == 0]
            if divisors:
                first = g.choice(divisors)
                shape[at : at + 1] = [first, size // first]
    if len(shape) > 5:
        raise Unfit
    _keep(g, f"reshape({shape})", x, lambda u: u.reshape(shape))


def transpose(g: Builder) -> None:
    x = g.pick(lambda s: s.rank > 1)
    order = [int(d) for d in g.rng.permutation(g.specs[x].rank)]
    _keep(g, f"transpose({order})", x, lambda u: lax.transpose(u, order))


def reverse(g: Builder) -> None:
    x = g.pick(has_dimensions)
    dims = [d for d in range(g.specs[x].rank) if g.chance(0.5)]
    _keep(g, f"reverse({dims})", x, lambda u: lax.rev(u, dims))


def slice_(g: Builder) -> None:
    x = g.pick(has_dimensions)
    slices = []
    for size in g.specs[x].shape:
        if g.chance(0.5):
            slices.append(slice(0, size, 1))
            continue
        start = g.integer(0, max(size // 3, 0))
        limit = g.integer(min(start + 1, size), size)
        slices.append(slice(start, limit, g.choice([1, 1, 2, 3])))
    _keep(g, f"slice({slices})", x, lambda u: u[tuple(slices)])


def dynamic_slice(g: Builder) -> None:
    x = g.pick(has_dimensions)
    spec = g.specs[x]
    sizes = [n if g.chance(0.5) else g.integer(min(1, n), n) for n in spec.shape]
    dtype = g.choice(["int32", "int32", "uint8", "int64"])
    starts = _starts(g, spec)
    indices = [i for i, s in g.specs.items() if s.dtype == "int32" and s.rank == 0]
    if indices and g.chance(0.5):
        g.add(
            f"dynamic_slice({sizes}, {dtype})",
            [x, g.choice(indices)],
            lambda u, i: lax.dynamic_slice(u, [(i + s).astype(dtype) for s in starts], sizes),
            spec.exact,
            spec.bound,
        )
        return
    _keep(
        g,
        f"dynamic_slice({starts}, {sizes}, {dtype})",
        x,
        lambda u: lax.dynamic_slice(u, _hidden(u, starts, dtype), sizes),
    )


def _starts(g: Builder, spec: Spec) -> list[int]:
    return [g.integer(-2, size + 1) if g.chance(0.8) else 0 for size in spec.shape]


def _hidden(u, numbers, dtype):
    """Numbers that are not known before the program runs."""
    zero = lax.optimization_barrier(jnp.zeros((), dtype))
    return [zero + np.asarray(number).astype(dtype) for number in numbers]


def dynamic_update_slice(g: Builder) -> None:
    x = g.pick(has_dimensions)
    spec = g.specs[x]
    # Not a part of itself: XLA may copy it in place, over what is still to be read.
    others = [
        i
        for i, s in g.specs.items()
        if i != x
        and s.dtype == spec.dtype
        and s.rank == spec.rank
        and all(a <= b for a, b in zip(s.shape, spec.shape, strict=True))
    ]
    y = g.choice(others)
    other = g.specs[y]
    starts = _starts(g, spec)
    dtype = g.choice(["int32", "int32", "uint8"])
    cut = [g.integer(min(1, n), n) if g.chance(0.4) else n for n in other.shape]
    bound = None if None in (spec.bound, other.bound) else max(spec.bound, other.bound)
    g.add(
        f"dynamic_update_slice({cut} at {starts}, {dtype})",
        [x, y],
        lambda u, v: lax.dynamic_update_slice(
            u, v[tuple(slice(0, n) for n in cut)], _hidden(u, starts, dtype)
        ),
        spec.exact and other.exact,
        bound,
    )


def pad(g: Builder) -> None:
    x = g.pick(has_dimensions)
    spec = g.specs[x]
    widths = []
    for size in spec.shape:
        if g.chance(0.4):
            widths.append((0, 0, 0))
            continue
        interior = g.choice([0, 0, 1, 2])
        low, high = g.integer(-2, 4), g.integer(-2, 4)
        if size + low + high + interior * max(size - 1, 0) < 0:
            low = high = 0
        widths.append((low, high, interior))
    number = g.integer(0, 1)
    _keep(
        g, f"pad({widths}, {number})", x, lambda u: lax.pad(u, jnp.asarray(number, u.dtype), widths)
    )


def concatenate(g: Builder) -> None:
    x = g.pick(has_dimensions)
    spec = g.specs[x]
    axis = g.integer(0, spec.rank - 1)

    def fits(s: Spec) -> bool:
        return (
            s.dtype == spec.dtype
            and s.rank == spec.rank
            and all(d == axis or s.shape[d] == spec.shape[d] for d in range(s.rank))
        )

    parts = [x] + [g.pick(fits) for _ in range(g.integer(1, 2))]
    bounds = [g.specs[i].bound for i in parts]
    g.add(
        f"concatenate(axis={axis})",
        parts,
        lambda *us: lax.concatenate(us, axis),
        all(g.specs[i].exact for i in parts),
        None if None in bounds else max(bounds),
    )


def roll(g: Builder) -> None:
    x = g.pick(lambda s: s.rank > 0 and s.size > 0)
    axis = g.integer(0, g.specs[x].rank - 1)
    shift = g.integer(-5, 5)
    _keep(g, f"roll({shift}, axis={axis})", x, lambda u: jnp.roll(u, shift, axis))


def tile(g: Builder) -> None:
    x = g.pick(lambda s: 0 < s.rank <= 2)
    axis = g.integer(0, g.specs[x].rank - 1)
    count = g.integer(2, 3)
    table = {
        "repeat": lambda u: jnp.repeat(u, count, axis),
        "tile": lambda u: jnp.tile(u, [count if d == axis else 1 for d in range(u.ndim)]),
    }
    name = g.choice(table)
    _keep(g, f"{name}({count}, axis={axis})", x, table[name])


def diagonal(g: Builder) -> None:
    x = g.pick(lambda s: s.rank == 2 and math.prod(s.shape) > 0)
    offset = g.integer(-1, 1)
    table = {
        "diagonal": lambda u: jnp.diagonal(u, offset),
        "tril": lambda u: jnp.tril(u, offset),
        "triu": lambda u: jnp.triu(u, offset),
    }
    if g.specs[x].dtype == "bool":
        table.pop("tril"), table.pop("triu")
    name = g.choice(table)
    _keep(g, f"{name}({offset})", x, table[name])


OPS = [
    (broadcast, 3),
    (reshape, 5),
    (transpose, 3),
    (reverse, 2),
    (slice_, 3),
    (dynamic_slice, 2),
    (dynamic_update_slice, 2),
    (pad, 3),
    (concatenate, 3),
    (roll, 1),
    (tile, 1),
    (diagonal, 1),
]
