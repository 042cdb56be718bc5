"""Ops that work on single elements, and those that make values out of nothing."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from splitting.graph import EXACT_LIMITS, Builder, Spec, Unfit, is_float

UNARY_SMOOTH = {
    "tanh": jnp.tanh,
    "sin": jnp.sin,
    "cos": jnp.cos,
    "exp_of_negative": lambda x: jnp.exp(-x * x),
    "logistic": jax.nn.sigmoid,
    "softplus": lambda x: jnp.log1p(jnp.exp(-x * x)),
    "sqrt": lambda x: jnp.sqrt(1 + x * x),
    "rsqrt": lambda x: lax.rsqrt(1 + x * x),
    "cbrt": lambda x: jnp.cbrt(2 + jnp.sin(x)),
    "expm1": lambda x: jnp.expm1(jnp.sin(x)),
    "atan": jnp.arctan,
    "erf": lax.erf,
    "gelu": jax.nn.gelu,
    "silu": jax.nn.silu,
    "power": lambda x: (1.5 + jnp.sin(x)) ** 1.3,
    "lgamma": lambda x: lax.lgamma(2.5 + jnp.sin(x)),
    "digamma": lambda x: lax.digamma(2.5 + jnp.sin(x)),
    "reciprocal": lambda x: 1 / (1 + x * x),
    "barrier": lambda x: lax.optimization_barrier(x),
}
COMPLEX_SMOOTH = {
    "sin": jnp.sin,
    "tanh": lambda x: jnp.tanh(x / 4),
    "exp": lambda x: jnp.exp(x / 64),
    "conj": jnp.conj,
    "barrier": lambda x: lax.optimization_barrier(x),
}
# How much larger the result can be than 1, for arguments up to 64.
GROWTH = {"sqrt": 65.0, "gelu": 65.0, "silu": 65.0, "power": 4.0, "expm1": 2.0, "atan": 2.0}


def real_float(spec: Spec) -> bool:
    return not spec.is_integer and not spec.is_complex


def any_float(spec: Spec) -> bool:
    return not spec.is_integer


def exact_number(spec: Spec) -> bool:
    return spec.exact and spec.dtype not in ("bool",)


def unary(g: Builder) -> None:
    x = g.pick(any_float)
    spec = g.specs[x]
    if spec.is_complex:
        name = g.choice(COMPLEX_SMOOTH)
        is_bounded = spec.bound <= 1
        if not is_bounded and name == "sin":
            raise Unfit
        exact = spec.exact and name in ("conj", "barrier")
        g.add(name, [x], COMPLEX_SMOOTH[name], exact, max(4.0, spec.bound))
        return
    name = g.choice(UNARY_SMOOTH)
    if name == "barrier":
        g.add(name, [x], UNARY_SMOOTH[name], spec.exact, spec.bound)
    else:
        g.add(name, [x], UNARY_SMOOTH[name], False, GROWTH.get(name, 1.0))


def exact_unary(g: Builder) -> None:
    x = g.pick(exact_number)
    spec = g.specs[x]
    if spec.is_integer:
        table = {
            "negate": jnp.negative,
            "abs": jnp.abs,
            "sign": jnp.sign,
            "not": jnp.invert,
            "popcount": lax.population_count,
            "clz": lax.clz,
        }
        name = g.choice(table)
        g.add(name, [x], table[name], False, None)
        return
    table = {"negate": jnp.negative, "abs": jnp.abs, "sign": jnp.sign}
    if not spec.is_complex:
        table |= {
            "floor": lambda x: jnp.floor(x / 2),
            "ceil": lambda x: jnp.ceil(x / 4),
            "round": lambda x: jnp.round(x / 2),
            "round_away": lambda x: lax.round(x * jnp.asarray(0.5, x.dtype)),
            "is_finite": jnp.isfinite,
            "square": jnp.square,
        }
    else:
        table = {"negate": jnp.negative, "conj": jnp.conj}
    name = g.choice(table)
    g.add(name, [x], table[name], True, spec.bound**2 if name == "square" else spec.bound)


def _cast(g: Builder, x: int, y: int):
    """How a value gets another's type, as a function of both, and how large it can be then."""
    a, b = g.specs[x], g.specs[y]
    if a.is_integer and not b.is_integer:
        raise Unfit
    is_masked = b.is_integer and b.bound is None and not a.is_integer

    def cast(u, v):
        if is_masked and v.dtype != jnp.bool_:
            v = v & jnp.asarray(3, v.dtype)
        if jnp.iscomplexobj(v) and not jnp.iscomplexobj(u):
            v = jnp.real(v)
        return v.astype(u.dtype)

    return cast, 3.0 if is_masked else b.bound


def _placement(small: tuple[int, ...], large: tuple[int, ...]) -> tuple[int, ...] | None:
    """Dimensions of the large shape that the small one's can stand for; None if there are none."""
    places = []
    start = 0
    for size in small:
        found = [d for d in range(start, len(large)) if large[d] == size or size == 1]
        if not found:
            return None
        places.append(found[0])
        start = found[0] + 1
    return tuple(places)


def binary(g: Builder) -> None:
    x = g.pick(lambda s: s.dtype != "bool")
    y = g.pick()
    a, b = g.specs[x], g.specs[y]
    cast, b_bound = _cast(g, x, y)
    places = _placement(b.shape, a.shape)
    is_outer = g.chance(0.4) and a.rank + b.rank <= 4 and a.size * b.size <= g.most_elements

    def spread(u, v):
        v = cast(u, v)
        if is_outer:
            wide = a.shape + b.shape
            u = lax.broadcast_in_dim(u, wide, tuple(range(a.rank)))
            return u, lax.broadcast_in_dim(v, wide, tuple(range(a.rank, len(wide))))
        if places is None:
            v = v.reshape(-1)[0] if v.size else jnp.zeros((), v.dtype)
            return u, jnp.broadcast_to(v, u.shape)
        return u, lax.broadcast_in_dim(v, u.shape, places)

    _binary_on(g, x, y, spread, b_bound)


def _binary_on(g: Builder, x: int, y: int, spread, b_bound) -> None:
    a, b = g.specs[x], g.specs[y]
    exact = a.exact and b.exact
    if a.is_integer:
        table = {
            "add": jnp.add,
            "subtract": jnp.subtract,
            "multiply": jnp.multiply,
            "maximum": jnp.maximum,
            "minimum": jnp.minimum,
            "and": jnp.bitwise_and,
            "or": jnp.bitwise_or,
            "xor": jnp.bitwise_xor,
            "shift_left": lambda u, v: u << (v & 3),
            "shift_right": lambda u, v: u >> (v & 3),
            "divide": lambda u, v: lax.div(u, v | jnp.ones_like(v)),
            "remainder": lambda u, v: lax.rem(u, v | jnp.ones_like(v)),
        }
        name = g.choice(table)
        g.add(name, [x, y], lambda u, v: table[name](*spread(u, v)), False, None)
        return
    bounds = {
        "add": a.bound + b_bound,
        "subtract": a.bound + b_bound,
        "multiply": a.bound * b_bound * (2 if a.is_complex else 1),
    }
    table = {"add": jnp.add, "subtract": jnp.subtract, "multiply": jnp.multiply}
    if exact and not a.is_complex:
        table |= {"maximum": jnp.maximum, "minimum": jnp.minimum}
        table |= {"less": jnp.less, "equal": jnp.equal, "greater_equal": jnp.greater_equal}
    if not a.is_complex:
        table |= {
            "divide": lambda u, v: u / (1 + v * v),
            "atan2": lambda u, v: jnp.arctan2(u, 1 + v * v),
            "logaddexp": jnp.logaddexp,
        }
        bounds |= {"divide": a.bound, "atan2": 2.0, "logaddexp": max(a.bound, b_bound) + 1}
    name = g.choice(table)
    exact = exact and name not in ("divide", "atan2", "logaddexp")
    bound = bounds.get(name, max(a.bound, b_bound))
    g.add(name, [x, y], lambda u, v: table[name](*spread(u, v)), exact, bound)


def select(g: Builder) -> None:
    x = g.pick()
    a = g.specs[x]
    y = g.pick(lambda s: s.shape == a.shape and s.dtype == a.dtype)
    predicates = [i for i, s in g.specs.items() if s.dtype == "bool" and s.shape == a.shape]
    exact = a.exact and g.specs[y].exact
    bounds = (a.bound, g.specs[y].bound)
    bound = None if None in bounds else max(bounds)
    if predicates and g.chance(0.7):
        g.add("select", [g.choice(predicates), x, y], lax.select, exact, bound)
        return
    if a.rank == 0:
        raise Unfit
    axis = g.integer(0, a.rank - 1)
    other = g.integer(0, a.rank - 1)
    shift = g.integer(-3, 3)

    def masked(u, v):
        rows = lax.broadcasted_iota("int32", u.shape, axis)
        columns = lax.broadcasted_iota("int32", u.shape, other)
        return jnp.where(rows >= columns + shift, u, v)

    g.add(f"mask(axis={axis},{other})", [x, y], masked, exact, bound)


def clamp(g: Builder) -> None:
    x = g.pick(lambda s: s.exact and not s.is_complex and s.dtype not in ("bool", "uint8"))
    a = g.specs[x]
    low, high = g.integer(-3, 0), g.integer(0, 3)

    def run(u):
        return lax.clamp(jnp.asarray(low, u.dtype), u, jnp.asarray(high, u.dtype))

    g.add("clamp", [x], run, True, 3.0 if a.bound is not None else 3)


def convert(g: Builder) -> None:
    x = g.pick()
    a = g.specs[x]
    targets = ["float32", "bfloat16", "float64"]
    if a.exact and not a.is_complex:
        targets += ["int32", "bool", "uint8"]
    if a.is_complex:
        targets = ["real", "imag", "abs"]
    elif a.dtype in ("float32",):
        targets += ["complex"]
    if a.dtype == "bfloat16":
        # LLVM aborts on some of these conversions.
        targets.remove("float64")
    target = g.choice(t for t in targets if t != a.dtype)
    bound = a.bound
    exact = a.exact
    if a.is_integer and a.bound is None:
        if target in EXACT_LIMITS:
            bound = 15.0
    if target == "bool":
        bound = 1.0
    if target == "uint8":
        bound = None

    def run(u):
        if target in ("real", "imag"):
            return getattr(jnp, target)(u)
        if target == "abs":
            return jnp.abs(u)
        if target == "complex":
            return lax.complex(u, u + 1)
        if target == "bool":
            return u != 0
        if is_float(u.dtype) and target in ("int32", "uint8"):
            # What is not a number has no integer, and each machine gives another.
            finite = jnp.where(jnp.isfinite(u), u, jnp.zeros_like(u))
            return (finite if target == "int32" else jnp.abs(finite) % 16).astype(target)
        if target in EXACT_LIMITS and not is_float(u.dtype) and u.dtype != jnp.bool_:
            if a.bound is None:
                u = u & jnp.asarray(15, u.dtype)
        # In the wider run floats stay wide.
        return u.astype(jnp.promote_types(u.dtype, target) if is_float(u.dtype) else target)

    if target in ("float32", "bfloat16", "float64") and is_float(a.dtype):
        # Types get smaller too, but not in the wider run, whose types are all alike.
        def run(u):
            return u.astype(
                target if str(u.dtype) == a.dtype and u.dtype != jnp.float64 else u.dtype
            )

        if a.dtype == "float64":
            raise Unfit
    if target == "complex":
        bound = bound + 2
    if target == "abs":
        exact = False
        bound = 2 * bound
    g.add(f"convert to {target}", [x], run, exact, bound)


def bitcast(g: Builder) -> None:
    x = g.pick(lambda s: s.dtype == "int32" or (s.dtype == "float32" and s.exact))
    a = g.specs[x]
    if a.dtype == "float32":
        # Of zeros the sign is not kept everywhere, and in the wider run there are more bits.
        g.add(
            "bitcast to integer",
            [x],
            lambda u: lax.bitcast_convert_type(jnp.abs(u).astype("float32"), "int32"),
            False,
            None,
        )
        return
    table = {
        "bitcast to bytes": lambda u: lax.bitcast_convert_type(u, "uint8"),
        "bitcast to halves": lambda u: lax.bitcast_convert_type(u, "uint16").astype("int32"),
        "bitcast and back": lambda u: lax.bitcast_convert_type(
            lax.bitcast_convert_type(u, "uint8"), "int32"
        ),
    }
    name = g.choice(table)
    g.add(name, [x], table[name], False, None)


def iota(g: Builder) -> None:
    shape = tuple(g.dimension() for _ in range(g.integer(1, 3)))
    axis = g.integer(0, len(shape) - 1)
    dtype = g.choice(["int32", "float32", "uint8", "int32"])
    g.add(
        f"iota(axis={axis})",
        [],
        lambda: lax.broadcasted_iota(dtype, shape, axis),
        dtype != "uint8",
        float(max(shape[axis], 1)),
    )


def full(g: Builder) -> None:
    shape = tuple(g.dimension() for _ in range(g.integer(1, 2)))
    number = g.integer(-2, 2)
    g.add(f"full({number})", [], lambda: jnp.full(shape, number, "float32"), True, 2.0)


OPS = [
    (unary, 6),
    (exact_unary, 3),
    (binary, 12),
    (select, 4),
    (clamp, 1),
    (convert, 4),
    (bitcast, 1),
    (iota, 1),
    (full, 0.5),
]
