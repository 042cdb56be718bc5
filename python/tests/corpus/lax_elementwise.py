"""jax.lax, one value at a time: every unary, binary and ternary function over several dtypes."""

from __future__ import annotations

import numpy as np
from jax import lax

from corpus.program import (
    Theme,
    bf16,
    boolean,
    c64,
    c128,
    f16,
    f32,
    f64,
    i4,
    i8,
    i16,
    i32,
    i64,
    integers,
    u4,
    u8,
    u16,
    u32,
    u64,
)

theme = Theme("lax_elementwise")

# Odd shapes on purpose: primes, ones, nothing at all, scalars.
FLOATS = [(f32(3, 7),), (f16(1),), (bf16(0, 5),), (f32(),)]
COMPLEX = [(c64(2, 1),)]
SIGNED = [(i32(5),), (i8(1, 3),)]
UNSIGNED = [
    (u32(5),),
    (
        u8(
            0,
        ),
    ),
]

FLOAT_ONLY = (
    "acos acosh asin asinh atan atanh bessel_i0e bessel_i1e ceil digamma erf erf_inv erfc floor "
    "is_finite lgamma reciprocal"
).split()
FLOAT_AND_COMPLEX = (
    "abs cbrt cos cosh exp exp2 expm1 log log1p logistic rsqrt sin sinh sqrt tan tanh neg sign "
    "square"
).split()
WITH_COMPLEX = set(FLOAT_AND_COMPLEX) - {"cbrt"} | {
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "reciprocal",
}
WITH_INTEGERS = {"abs", "neg", "sign", "square"}

for name in FLOAT_ONLY + FLOAT_AND_COMPLEX:
    groups = FLOATS + (COMPLEX if name in WITH_COMPLEX else [])
    groups = groups + (SIGNED if name in WITH_INTEGERS else [])
    if name == "acosh":
        groups = [(1 + array,) for (array,) in groups]
    theme.add_over(name, getattr(lax, name), *groups)
    theme.add(f"{name}-f64", getattr(lax, name), (name == "acosh") + f64(2, 3), x64=True)

if hasattr(lax, "log2"):
    theme.add_over("log2", lax.log2, *FLOATS)
if hasattr(lax, "one_minus_square"):
    theme.add_over("one_minus_square", lax.one_minus_square, *FLOATS)
if hasattr(lax, "polynomial"):
    theme.add("polynomial", lambda x: lax.polynomial(x, [1.0, -2.0, 0.5]), f32(11))

for name in ("bitwise_not", "clz", "population_count"):
    theme.add_over(name, getattr(lax, name), *SIGNED, *UNSIGNED, (i16(2, 2),), (u16(3),))
    theme.add_over(f"{name}-64", getattr(lax, name), (i64(3),), (u64(2),), x64=True)

for name in ("real", "imag", "conj"):
    theme.add_over(name, getattr(lax, name), (c64(3, 5),), (c64(),))
    theme.add(f"{name}-c128", getattr(lax, name), c128(2), x64=True)
theme.add_over("complex", lax.complex, (f32(3), f32(3)))
theme.add("complex-c128", lax.complex, f64(3), f64(3), x64=True)

for method in lax.RoundingMethod:
    theme.add_over(f"round-{method.name.lower()}", lambda x, m=method: lax.round(x, m), *FLOATS)
for exponent, mantissa in ((5, 10), (8, 7), (1, 0), (11, 52)):
    theme.add(
        f"reduce_precision-{exponent}-{mantissa}",
        lambda x, e=exponent, m=mantissa: lax.reduce_precision(x, e, m),
        f32(7),
    )
for power in (-3, 0, 1, 2, 5):
    theme.add_over(
        f"integer_pow{power}", lambda x, p=power: lax.integer_pow(x, p), (f32(3),), (c64(2),)
    )


def pairs(*makers):
    """Two different arrays of each kind."""
    return [(maker(3, 5), maker(3, 5)[::-1].copy()) for maker in makers]


ARITHMETIC = "add sub mul div rem max min".split()
for name in ARITHMETIC:
    makers = [f32, f16, bf16, i32, i8, u32, u8, i16, u16]
    if name not in ("rem",):
        makers.append(c64)
    theme.add_over(name, getattr(lax, name), *pairs(*makers))
    theme.add_over(f"{name}-64", getattr(lax, name), *pairs(f64, i64, u64), x64=True)

for name in "eq ne lt le gt ge".split():
    makers = [f32, f16, bf16, i32, i8, u32, u8, boolean]
    if name in ("eq", "ne"):
        makers.append(c64)
    theme.add_over(name, getattr(lax, name), *pairs(*makers))
    theme.add_over(f"{name}-64", getattr(lax, name), *pairs(f64, i64, u64), x64=True)

for name in "bitwise_and bitwise_or bitwise_xor".split():
    theme.add_over(name, getattr(lax, name), *pairs(boolean, i32, i8, u32, u16))
for name in "shift_left shift_right_arithmetic shift_right_logical".split():
    theme.add_over(name, getattr(lax, name), *pairs(i32, i8, u32, u16))
theme.add_over("add-i4", lax.add, *pairs(i4, u4), runnable=False)

theme.add_over("pow", lax.pow, *pairs(f32, f16, bf16, c64), (f32(3), i32(3)))
theme.add_over("atan2", lax.atan2, *pairs(f32, f16, bf16))
theme.add_over("nextafter", lax.nextafter, *pairs(f32, bf16, f16))
theme.add_over("igamma", lax.igamma, *pairs(f32))
theme.add_over("igammac", lax.igammac, *pairs(f32))
theme.add_over("igamma_grad_a", lax.igamma_grad_a, *pairs(f32))
theme.add_over("random_gamma_grad", lax.random_gamma_grad, *pairs(f32))
theme.add_over("polygamma", lax.polygamma, (np.float32([1, 2, 3]), f32(3)))
theme.add_over("zeta", lax.zeta, (1 + 5 * f32(3), f32(3)))
theme.add_over("betainc", lax.betainc, (f32(5), f32(5), f32(5)))
if hasattr(lax, "mulhi"):
    theme.add_over("mulhi", lax.mulhi, *pairs(i32, u32), runnable=False)

theme.add_over("clamp", lax.clamp, *[(m(), m(3, 5), m()) for m in (f32, i32, u8, bf16)])
theme.add_over("clamp-array", lax.clamp, (f32(3), 2 * f32(3), 1 + f32(3)))
theme.add_over(
    "select", lax.select, (boolean(3, 5), f32(3, 5), -f32(3, 5)), (boolean(), i32(2), i32(2) + 1)
)
theme.add("select_n-bool", lax.select_n, boolean(3), f32(3), -f32(3))
theme.add("select_n-int", lax.select_n, integers(0, 3, 5), f32(5), -f32(5), 2 * f32(5))
theme.add("select_n-one", lambda x: lax.select_n(np.int32(0), x), f32(5))

# Functions with a say over how exact the result must be.
ACCURATE = "cbrt cos exp exp2 expm1 log log1p logistic rsqrt sin sqrt tan tanh".split()
for name in ACCURATE:
    function = getattr(lax, name)
    theme.add(
        f"{name}-highest",
        lambda x, f=function: f(x, accuracy=lax.AccuracyMode.HIGHEST),
        f32(3),
        runnable=False,
    )
    theme.add(
        f"{name}-tolerance",
        lambda x, f=function: f(x, accuracy=lax.Tolerance(atol=1e-5, rtol=0.25, ulps=3)),
        f32(3),
        runnable=False,
    )
theme.add(
    "exp-default-accuracy",
    lambda x: lax.exp(x, accuracy=lax.AccuracyMode.DEFAULT),
    f32(3),
)

KINDS = {"f32": f32, "bf16": bf16, "f16": f16, "i32": i32, "u8": u8, "bool": boolean, "c64": c64}


@theme.program(*[maker(3) for maker in KINDS.values()])
def convert_between_all(*arrays):
    dtypes = [array.dtype for array in arrays]
    real = [a for a in arrays if not np.iscomplexobj(a)]
    return [lax.convert_element_type(a, dtype) for a in real for dtype in dtypes]


@theme.program(f64(3), i64(3), u64(3), c128(3), x64=True)
def convert_from_64(*arrays):
    return [
        lax.convert_element_type(a.real if a.dtype.kind == "c" else a, d)
        for a in arrays
        for d in ("float32", "int32", "uint8", "bool", "complex64")
    ]


theme.add("broadcast_like", lax.broadcast_like, f32(1, 3), f32(5, 3))
theme.add("stop_gradient", lax.stop_gradient, f32(3))
theme.add("stage", lax.stage, f32(3))
theme.add("optimization_barrier", lambda x, y: lax.optimization_barrier((x, y)), f32(3), i32(2))
theme.add("dce_sink", lambda x: (lax.dce_sink(x), x + 1)[1], f32(3))
theme.add("full", lambda: (lax.full((3, 1), 2.5), lax.full((0,), 1), lax.full((), True)))
theme.add("full_like", lambda x: lax.full_like(x, 7), i32(2, 3))
theme.add("iota", lambda: [lax.iota(d, 5) for d in ("int32", "uint8", "float32", "complex64")])
theme.add(
    "broadcasted_iota", lambda: [lax.broadcasted_iota("int32", (2, 3, 5), d) for d in range(3)]
)
theme.add("empty", lambda: lax.empty((3, 0), "float32"))
