"""Gathers and scatters in the forms that programs have."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from splitting.graph import Builder, Spec, Unfit
from splitting.ops_reducing import nonempty, resized

MODES = ("clip", "fill", "promise_in_bounds")


def is_index(spec: Spec) -> bool:
    return spec.dtype in ("int32", "uint8") and spec.size > 0


def _into(indices, size: int, mode: str):
    """Indices of which, if the mode allows, some are out of bounds."""
    spread = size if mode == "promise_in_bounds" else size + 4
    shifted = jnp.remainder(indices.astype("int32"), spread)
    return shifted if mode == "promise_in_bounds" else shifted - 2


def take(g: Builder) -> None:
    x = g.pick(nonempty)
    y = g.pick(lambda s: is_index(s) and s.rank <= 2)
    a = g.specs[x]
    axis = g.integer(0, a.rank - 1)
    mode = g.choice(MODES)
    if a.rank - 1 + g.specs[y].rank > 4:
        raise Unfit
    # What is filled in for integers is their least number.
    bound = None if a.is_integer else a.bound
    g.add(
        f"take(axis={axis}, {mode})",
        [x, y],
        lambda u, i: u.at[(slice(None),) * axis + (_into(i, a.shape[axis], mode),)].get(mode=mode),
        a.exact,
        bound,
    )


def take_along_axis(g: Builder) -> None:
    x = g.pick(lambda s: nonempty(s) and s.rank > 1)
    a = g.specs[x]
    axis = g.integer(0, a.rank - 1)
    y = g.pick(
        lambda s: (
            is_index(s)
            and s.rank == a.rank
            and all(d == axis or s.shape[d] == a.shape[d] for d in range(s.rank))
        )
    )
    mode = g.choice(MODES)
    g.add(
        f"take_along_axis({axis}, {mode})",
        [x, y],
        lambda u, i: jnp.take_along_axis(u, _into(i, a.shape[axis], mode), axis, mode=mode),
        a.exact,
        None if a.is_integer else a.bound,
    )


def index_pairs(g: Builder) -> None:
    x = g.pick(lambda s: nonempty(s) and s.rank > 1)
    y = g.pick(lambda s: is_index(s) and s.rank == 1)
    a = g.specs[x]
    first, second = sorted(map(int, g.rng.choice(a.rank, 2, replace=False)))

    def run(u, i):
        places = [slice(None)] * u.ndim
        places[first] = _into(i, a.shape[first], "promise_in_bounds")
        places[second] = _into(i * 3 + 1, a.shape[second], "promise_in_bounds")
        return u[tuple(places)]

    g.add(f"index_pairs({first}, {second})", [x, y], run, a.exact, a.bound)


def windows(g: Builder) -> None:
    """Slices at many places: a gather of windows."""
    x = g.pick(nonempty)
    y = g.pick(lambda s: is_index(s) and s.rank == 1)
    a = g.specs[x]
    sizes = [n if g.chance(0.4) else g.integer(1, n) for n in a.shape]
    is_batched = a.rank > 1 and g.chance(0.3) and g.specs[y].shape[0] == a.shape[0]

    def run(u, i):
        i = i.astype("int32")

        def one(v, j):
            starts = [_into(j + d, n, "clip") for d, n in enumerate(v.shape)]
            return lax.dynamic_slice(v, starts, sizes[-v.ndim :])

        return jax.vmap(one, (0 if is_batched else None, 0))(u, i)

    g.add(f"windows({sizes}, batched {is_batched})", [x, y], run, a.exact, a.bound)


def scatter(g: Builder) -> None:
    x = g.pick(lambda s: nonempty(s) and s.dtype != "bool")
    a = g.specs[x]
    axis = g.integer(0, a.rank - 1)
    y = g.pick(lambda s: is_index(s) and s.rank == 1)
    count = g.specs[y].shape[0]
    shape = tuple(count if d == axis else n for d, n in enumerate(a.shape))
    updates = [i for i, s in g.specs.items() if s.dtype == a.dtype and s.shape == shape]
    if updates and g.chance(0.7):
        z = g.choice(updates)
    else:
        z = g.pick(lambda s: s.dtype == a.dtype and s.size > 0)
    other = g.specs[z]
    mode = g.choice(("drop", "clip", "promise_in_bounds"))
    method = g.choice(("add", "max", "min") if a.exact else ("add",))
    # Which of several writes to one place is the last is not said.
    unique = g.chance(0.3)
    if unique and not g.is_smooth:
        method = "set"
    if a.is_complex and method in ("max", "min"):
        raise Unfit
    if method in ("max", "min") and not other.exact:
        raise Unfit

    def run(u, i, v):
        v = v if v.shape == shape else resized(v, shape)
        if method == "set":
            i = jnp.argsort(i, stable=True).astype("int32") - 1
        else:
            i = _into(i, a.shape[axis], mode)
        place = (slice(None),) * axis + (i,)
        return getattr(u.at[place], method)(v, mode=mode if method != "set" else "drop")

    bound = None
    if not a.is_integer:
        bound = a.bound + other.bound * (count if method == "add" else 1)
    g.add(f"scatter {method}(axis={axis}, {mode})", [x, y, z], run, a.exact and other.exact, bound)


def scatter_elements(g: Builder) -> None:
    """Writes to places along one axis, which are others in each row: batches and pairs."""
    x = g.pick(lambda s: nonempty(s) and s.rank == 2 and s.dtype != "bool")
    a = g.specs[x]
    y = g.pick(lambda s: is_index(s) and s.rank == 2 and s.shape[0] == a.shape[0])
    b = g.specs[y]
    updates = [i for i, s in g.specs.items() if s.dtype == a.dtype and s.shape == b.shape]
    z = g.choice(updates) if updates else x
    other = g.specs[z]
    mode = g.choice(("drop", "promise_in_bounds"))
    is_batched = g.chance(0.5)

    def run(u, i, v):
        i = _into(i, a.shape[1], mode)
        v = v if v.shape == i.shape else resized(v, i.shape)
        if is_batched:
            return jax.vmap(lambda p, q, r: p.at[q].add(r, mode=mode))(u, i, v)
        rows = lax.broadcasted_iota("int32", i.shape, 0)
        return u.at[rows, i].add(v, mode=mode)

    bound = None if a.is_integer else a.bound + other.bound * b.shape[1]
    exact = a.exact and other.exact
    g.add(f"scatter_elements(batched {is_batched}, {mode})", [x, y, z], run, exact, bound)


def segment_sum(g: Builder) -> None:
    y = g.pick(lambda s: is_index(s) and s.rank == 1)
    count = g.specs[y].shape[0]
    x = g.pick(lambda s: s.rank > 0 and s.shape[0] == count and s.dtype != "bool")
    a = g.specs[x]
    segments = g.integer(1, 40)
    table = {"segment_sum": jax.ops.segment_sum}
    if a.exact and not a.is_complex:
        table["segment_max"] = jax.ops.segment_max
    name = g.choice(table)
    bound = None if a.is_integer else a.bound * max(1, count)
    g.add(
        f"{name}({segments})",
        [x, y],
        lambda u, i: table[name](u, _into(i, segments, "fill"), segments),
        a.exact,
        bound,
    )


def one_hot(g: Builder) -> None:
    y = g.pick(lambda s: is_index(s) and s.rank <= 2)
    classes = g.dimension() or 1
    g.add(
        f"one_hot({classes})",
        [y],
        lambda i: jax.nn.one_hot(_into(i, classes, "fill"), classes, dtype="float32"),
        True,
        1.0,
    )


OPS = [
    (take, 4),
    (take_along_axis, 2),
    (index_pairs, 2),
    (windows, 2),
    (scatter, 5),
    (scatter_elements, 2),
    (segment_sum, 2),
    (one_hot, 1),
]
