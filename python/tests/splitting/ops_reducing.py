"""Products, reductions, windows, sorting and transforms."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from splitting.graph import Builder, Spec, Unfit
from splitting.ops_elementwise import any_float, real_float


def nonempty(spec: Spec) -> bool:
    return spec.rank > 0 and spec.size > 0


def resized(u, shape) -> jax.Array:
    """As many of the elements as the shape takes, and these again if there are too few."""
    return jnp.resize(u, tuple(shape))


def without_nan(u) -> jax.Array:
    """XLA's maximum over a long dimension may or may not see a NaN."""
    if not jnp.issubdtype(u.dtype, jnp.inexact):
        return u
    return jnp.where(jnp.isnan(u), jnp.zeros_like(u), u)


def _some_axes(g: Builder, rank: int) -> tuple[int, ...]:
    axes = tuple(d for d in range(rank) if g.chance(0.5))
    return axes or (g.integer(0, rank - 1),)


def dot(g: Builder) -> None:
    x = g.pick(lambda s: s.rank > 0 and s.dtype not in ("bool", "uint8"))
    a = g.specs[x]
    y = g.pick(lambda s: s.rank > 0 and s.dtype == a.dtype)
    b = g.specs[y]
    pairs = [(i, j) for i in range(a.rank) for j in range(b.rank) if a.shape[i] == b.shape[j]]
    batch: list[tuple[int, int]] = []
    contracted: list[tuple[int, int]] = []
    for i, j in (pairs[k] for k in g.rng.permutation(len(pairs))):
        used = batch + contracted
        if any(i == u or j == v for u, v in used):
            continue
        kind = g.choice(["batch", "contracted", "contracted", "free"])
        if kind == "batch":
            batch.append((i, j))
        elif kind == "contracted":
            contracted.append((i, j))
    if not contracted and not g.chance(0.2):
        raise Unfit
    terms = max(1, math.prod(a.shape[i] for i, _ in contracted))
    numbers = tuple(
        tuple(tuple(p[k] for p in pairs) for k in (0, 1)) for pairs in (contracted, batch)
    )
    growth = 2 if a.is_complex else 1
    bound = None if a.is_integer else a.bound * b.bound * terms * growth
    exact = a.exact and b.exact
    if not exact and bound is not None:
        # Rather the size that is likely than the one that is possible.
        bound = max(bound / math.sqrt(terms), 1.0)
    rank = a.rank + b.rank - len(batch) - 2 * len(contracted)
    if rank > 5:
        raise Unfit
    g.add(
        f"dot_general({numbers})",
        [x, y],
        lambda u, v: lax.dot_general(u, v, numbers, precision=lax.Precision.HIGHEST),
        exact,
        bound,
    )


def einsum_self(g: Builder) -> None:
    """A value with itself: pairwise products and distances."""
    x = g.pick(lambda s: s.rank == 2 and any_float(s) and s.size > 0)
    a = g.specs[x]
    n, d = a.shape
    if n * n > g.most_elements:
        raise Unfit
    table = {
        "gram": lambda u: u @ u.T,
        "gram_of_columns": lambda u: u.T @ u,
        "distances": lambda u: jnp.sum(jnp.square(u[:, None] - u[None]), -1),
        "kernel": lambda u: jnp.exp(-jnp.sum(jnp.square(u[:, None] - u[None]), -1)),
    }
    if a.is_complex:
        table.pop("kernel")
    name = g.choice(table)
    exact = a.exact and name != "kernel"
    g.add(name, [x], table[name], exact, 1.0 if name == "kernel" else 8 * a.bound**2 * max(n, d))


def reduce_sum(g: Builder) -> None:
    x = g.pick(lambda s: s.rank > 0)
    a = g.specs[x]
    axes = _some_axes(g, a.rank)
    terms = max(1, math.prod(a.shape[d] for d in axes))
    if a.is_integer:
        g.add(f"sum({axes})", [x], lambda u: jnp.sum(u, axes, dtype=_summed(u)), False, None)
        return
    name = g.choice(["sum", "mean", "norm", "nonzero initial"])
    bound = a.bound * terms + 3
    table = {
        "sum": lambda u: jnp.sum(u, axes),
        "mean": lambda u: jnp.sum(u, axes) / jnp.asarray(terms, u.dtype),
        "norm": lambda u: jnp.sqrt(1 + jnp.sum(jnp.square(u), axes)),
        "nonzero initial": lambda u: lax.reduce(u, jnp.asarray(3, u.dtype), lax.add, axes),
    }
    # XLA reduces long dimensions in steps and counts what is not neutral in each of them.
    is_long = any(a.shape[d] > 16 for d in axes)
    if a.is_complex or g.is_smooth or is_long:
        table.pop("nonzero initial")
    if a.is_complex or g.is_smooth:
        table.pop("norm")
    name = "sum" if name not in table else name
    exact = a.exact and name in ("sum", "nonzero initial")
    if name == "mean":
        bound = a.bound
    if name == "norm":
        bound = a.bound * math.sqrt(terms) + 1
    g.add(f"{name}({axes})", [x], table[name], exact, bound)


def _summed(u):
    return jnp.int32 if u.dtype == jnp.bool_ else u.dtype


def reduce_other(g: Builder) -> None:
    x = g.pick(lambda s: nonempty(s) and not s.is_complex)
    a = g.specs[x]
    axes = _some_axes(g, a.rank)
    if a.dtype == "bool":
        table = {"any": jnp.any, "all": jnp.all, "max": jnp.max}
        name = g.choice(table)
        g.add(f"{name}({axes})", [x], lambda u: table[name](u, axes), False, None)
        return
    table = {"max": jnp.max, "min": jnp.min}
    bound = a.bound
    if a.is_integer:
        table["prod"] = lambda u, axis: jnp.prod(u, axis, dtype=u.dtype)
        table["or"] = lambda u, axis: lax.reduce(u, jnp.zeros((), u.dtype), lax.bitwise_or, axis)
        table["and"] = lambda u, axis: lax.reduce(u, ~jnp.zeros((), u.dtype), lax.bitwise_and, axis)
        table["xor"] = lambda u, axis: lax.reduce(u, jnp.zeros((), u.dtype), lax.bitwise_xor, axis)
        table["max with initial"] = lambda u, axis: lax.reduce(
            u, jnp.asarray(2, u.dtype), lax.max, axis
        )
    elif not a.exact:
        # The product of numbers about one.
        table["prod"] = lambda u, axis: jnp.tanh(jnp.prod(1 + 0.01 * jnp.sin(u), axis))
        table["logsumexp"] = lambda u, axis: jax.nn.logsumexp(u, axis)
        table["var"] = lambda u, axis: jnp.var(u, axis)
        bound = bound + 12 + bound**2
    name = g.choice(table)
    bound = None if a.is_integer and name == "prod" else bound
    g.add(f"{name}({axes})", [x], lambda u: table[name](without_nan(u), axes), a.exact, bound)


def arg_reduce(g: Builder) -> None:
    x = g.pick(lambda s: nonempty(s) and s.exact and not s.is_complex and s.dtype != "bool")
    axis = g.integer(0, g.specs[x].rank - 1)
    length = g.specs[x].shape[axis]
    table = {"argmax": lax.argmax, "argmin": lax.argmin}
    name = g.choice(table)
    g.add(f"{name}({axis})", [x], lambda u: table[name](u, axis, "int32"), True, float(length))


def variadic_reduce(g: Builder) -> None:
    """Reductions of several values by a body of their own."""
    x = g.pick(lambda s: nonempty(s) and real_float(s) and s.exact)
    a = g.specs[x]
    axis = g.integer(0, a.rank - 1)

    def sum_and_max(u):
        def body(left, right):
            return left[0] + right[0], jnp.maximum(left[1], right[1])

        low = jnp.asarray(-jnp.inf, u.dtype)
        return lax.reduce((u, u), (jnp.zeros((), u.dtype), low), body, (axis,))

    def best_with_payload(u):
        places = lax.broadcasted_iota("int32", u.shape, axis)

        def body(left, right):
            first = (left[0] > right[0]) | ((left[0] == right[0]) & (left[1] < right[1]))
            return tuple(lax.select(first, p, q) for p, q in zip(left, right, strict=True))

        initial = (jnp.asarray(-jnp.inf, u.dtype), jnp.asarray(2**30, "int32"))
        return lax.reduce((u, places), initial, body, (axis,))

    def first_nonzero(u):
        """Associative but not commutative: the order of the chunks shows."""

        def body(left, right):
            return lax.select(left != 0, left, right)

        return lax.reduce(u, jnp.zeros((), u.dtype), body, (axis,))

    table = {
        "sum_and_max": sum_and_max,
        "best_with_payload": best_with_payload,
        "first_nonzero": first_nonzero,
    }
    name = g.choice(table)
    # Infinities and NaN have no place in an order, and the last may be found or not.
    g.add(
        f"{name}({axis})",
        [x],
        lambda u: table[name](jnp.where(jnp.isfinite(u), u, jnp.ones_like(u))),
        True,
        max(a.bound * a.shape[axis], 2.0**31),
    )


def softmax(g: Builder) -> None:
    x = g.pick(lambda s: nonempty(s) and real_float(s))
    axis = g.integer(0, g.specs[x].rank - 1)

    def layer_norm(u):
        centred = u - jnp.mean(u, axis, keepdims=True)
        return centred * lax.rsqrt(0.1 + jnp.mean(jnp.square(centred), axis, keepdims=True))

    table = {
        "softmax": lambda u: jax.nn.softmax(u, axis),
        "log_softmax": lambda u: jax.nn.log_softmax(u, axis),
        "layer_norm": layer_norm,
    }
    name = g.choice(table)
    size = g.specs[x].shape[axis]
    bound = {"softmax": 1.0, "log_softmax": 2 * g.specs[x].bound + 16, "layer_norm": 2 * size**0.5}
    g.add(f"{name}({axis})", [x], lambda u: table[name](without_nan(u)), False, bound[name])


def cumulative(g: Builder) -> None:
    x = g.pick(lambda s: nonempty(s) and not s.is_complex and s.dtype != "bool")
    a = g.specs[x]
    axis = g.integer(0, a.rank - 1)
    is_reversed = g.chance(0.3)
    table = {"cumsum": lax.cumsum, "cummax": lax.cummax, "cummin": lax.cummin}
    if a.is_integer:
        table["cumprod"] = lax.cumprod
    elif not a.exact:
        table = {"cumsum": lax.cumsum, "cumlogsumexp": lax.cumlogsumexp}
    name = g.choice(table)
    bound = a.bound
    if bound is not None:
        bound = bound * a.shape[axis] if name == "cumsum" else bound + 12 * (not a.exact)
    if a.is_integer and name in ("cumsum", "cumprod"):
        bound = None
    g.add(
        f"{name}({axis})",
        [x],
        lambda u: table[name](without_nan(u), axis, is_reversed),
        a.exact,
        bound,
    )


def sort(g: Builder) -> None:
    x = g.pick(lambda s: nonempty(s) and s.exact and not s.is_complex)
    a = g.specs[x]
    axis = g.integer(0, a.rank - 1)
    length = float(a.shape[axis])

    def with_places(u):
        places = lax.broadcasted_iota("int32", u.shape, axis)
        return lax.sort((u, places), dimension=axis, num_keys=1, is_stable=True)

    table = {
        "sort": lambda u: lax.sort(u, dimension=axis),
        "argsort": lambda u: jnp.argsort(u, axis, stable=True).astype("int32"),
        "sort_with_places": with_places,
    }
    name = g.choice(table)
    bound = None if a.bound is None else max(a.bound, length)
    g.add(f"{name}({axis})", [x], table[name], True, bound)


def top_k(g: Builder) -> None:
    x = g.pick(lambda s: nonempty(s) and s.exact and not s.is_complex and s.dtype != "bool")
    a = g.specs[x]
    k = g.integer(1, min(a.shape[-1], g.choice([1, 3, 40, 1000])))
    bound = None if a.bound is None else max(a.bound, float(a.shape[-1]))
    # Zeros of both signs are told apart, and sums lose the sign.
    g.add(
        f"top_k({k})",
        [x],
        lambda u: lax.top_k(jnp.where(u == 0, jnp.zeros_like(u), u), k),
        True,
        bound,
    )


def fft(g: Builder) -> None:
    x = g.pick(lambda s: s.dtype in ("float32", "complex64") and nonempty(s))
    a = g.specs[x]
    n = a.shape[-1]
    if a.is_complex:
        table = {"fft": jnp.fft.fft, "ifft": jnp.fft.ifft}
        if a.rank > 1:
            table["fft2"] = jnp.fft.fft2
    else:
        table = {"rfft": jnp.fft.rfft, "fft": jnp.fft.fft}
    name = g.choice(table)
    growth = n * (a.shape[-2] if name == "fft2" else 1)
    g.add(name, [x], table[name], False, 2 * a.bound * math.sqrt(growth))


def convolution(g: Builder) -> None:
    x = g.pick(lambda s: s.rank in (3, 4) and real_float(s) and s.size > 0)
    a = g.specs[x]
    y = g.pick(lambda s: s.dtype == a.dtype and s.size > 0)
    spatial = a.rank - 2
    order_x, order_k, order_o = (list(map(int, g.rng.permutation(a.rank))) for _ in range(3))
    groups = batch_groups = 1
    batch, features = a.shape[order_x[0]], a.shape[order_x[1]]
    if g.chance(0.3):
        groups = g.choice([d for d in range(1, 9) if features % d == 0])
    elif g.chance(0.3):
        batch_groups = g.choice([d for d in range(1, 9) if batch % d == 0])
    outputs = g.integer(1, 4) * groups * batch_groups
    window = [g.integer(1, 3) if g.chance(0.8) else a.shape[d] for d in order_x[2:]]
    strides = [g.integer(1, 3) for _ in range(spatial)]
    padding = [(g.integer(0, 2), g.integer(0, 2)) if g.chance(0.5) else (0, 0) for _ in window]
    dilation = [g.choice([1, 1, 2]) for _ in window]
    base = [g.choice([1, 1, 2]) for _ in window]
    kernel_sizes = [0] * a.rank
    for place, size in zip(order_k, [outputs, features // groups, *window], strict=True):
        kernel_sizes[place] = size
    count = math.prod(kernel_sizes)
    if count > 4096 or count == 0:
        raise Unfit
    numbers = lax.ConvDimensionNumbers(tuple(order_x), tuple(order_k), tuple(order_o))
    bound = a.bound * g.specs[y].bound * max(1, count // outputs)

    def run(u, v):
        # Whether an infinity meets the zeros of the padding is not said.
        u, v = (jnp.where(jnp.isfinite(w), w, jnp.zeros_like(w)) for w in (u, v))
        kernel = resized(v, kernel_sizes)
        return lax.conv_general_dilated(
            u,
            kernel,
            strides,
            padding,
            base,
            dilation,
            numbers,
            feature_group_count=groups,
            batch_group_count=batch_groups,
            precision=lax.Precision.HIGHEST,
        )

    name = f"convolution({order_x}, {order_k}, {order_o}, groups {groups}, {batch_groups})"
    g.add(name, [x, y], run, a.exact and g.specs[y].exact, bound)


def reduce_window(g: Builder) -> None:
    x = g.pick(lambda s: nonempty(s) and not s.is_complex and s.dtype != "bool")
    a = g.specs[x]
    window = [g.integer(1, min(3, n)) if g.chance(0.6) else 1 for n in a.shape]
    strides = [g.choice([w, w, 1, 2]) for w in window]
    padding = [
        (g.integer(0, w - 1), g.integer(0, w - 1)) if g.chance(0.3) else (0, 0) for w in window
    ]
    if a.is_integer:
        low = jnp.iinfo(a.dtype).min
    else:
        low = -jnp.inf
    table = {
        "window sum": lambda u: lax.reduce_window(
            u, np.zeros((), u.dtype), lax.add, window, strides, padding
        ),
    }
    if a.exact:
        table["window max"] = lambda u: lax.reduce_window(
            u, np.asarray(low, u.dtype), lax.max, window, strides, padding
        )
        padding = [(0, 0)] * a.rank
    name = g.choice(table)
    bound = None if a.bound is None else a.bound * math.prod(window)
    name_with_sizes = f"{name}({window}, {strides}, {padding})"
    g.add(name_with_sizes, [x], lambda u: table[name](without_nan(u)), a.exact, bound)


OPS = [
    (dot, 8),
    (einsum_self, 4),
    (reduce_sum, 5),
    (reduce_other, 5),
    (arg_reduce, 3),
    (variadic_reduce, 2),
    (softmax, 3),
    (cumulative, 2),
    (sort, 2),
    (top_k, 3),
    (fft, 1),
    (convolution, 4),
    (reduce_window, 2),
]
