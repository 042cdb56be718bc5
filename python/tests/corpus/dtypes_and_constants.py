"""Every element type, as argument, result and constant, and constants with awkward values."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax

from corpus.program import Theme, array

theme = Theme("dtypes")

NARROW = ["int2", "uint2", "int4", "uint4"]
INTEGERS = ["int8", "int16", "int32", "uint8", "uint16", "uint32"]
WIDE = ["int64", "uint64", "float64", "complex128"]
FLOATS = ["bfloat16", "float16", "float32"]
TINY_FLOATS = [
    "float4_e2m1fn",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
]
# ml_dtypes has them; whether JAX takes them as well depends on the version.
TINY_FLOATS += [n for n in ("float6_e2m3fn", "float6_e3m2fn") if hasattr(jnp, n)]
ALL = ["bool", "complex64", "int1"] + NARROW + INTEGERS + WIDE + FLOATS + TINY_FLOATS
RUNNABLE = set(["bool", "complex64"] + INTEGERS + WIDE + FLOATS)


def dtype(name):
    return np.dtype(getattr(ml_dtypes, name, None) or name)


for name in ALL:
    options = dict(x64=name in WIDE, runnable=name in RUNNABLE)
    values = array(dtype(name), 3, 5)
    theme.add(f"{name}-through", lambda x: x, values, **options)
    theme.add(f"{name}-moves", lambda x: (x.T, x[1:, ::2], x.reshape(-1), x[:0]), values, **options)
    theme.add(f"{name}-constant", lambda x, c=values: (c, x.T), values, **options)
    theme.add(f"{name}-splat", lambda n=name: jnp.ones((2, 7), dtype(n)), **options)
    theme.add(f"{name}-scalar", lambda n=name: jnp.ones((), dtype(n)), **options)
    theme.add(f"{name}-empty", lambda n=name: np.zeros((0, 3), dtype(n)), **options)
    if name in FLOATS + TINY_FLOATS and "e8m0" not in name:
        theme.add(
            f"{name}-convert",
            lambda x, n=name: (x.astype("float32"), (x.astype("float32") * 2).astype(dtype(n))),
            values,
            **options,
        )


def bits(dtype, *patterns):
    """Floats by their bits, since some NaNs cannot be written otherwise."""
    unsigned = np.dtype(f"u{np.dtype(dtype).itemsize}")
    return np.array(patterns, unsigned).view(dtype)


F32_PATTERNS = (
    0x00000000,
    0x80000000,
    0x7F800000,
    0xFF800000,
    0x7FC00000,
    0xFFC00000,
    0x7F800001,
    0x7FABCDEF,
    0xFFFFFFFF,
    0x00000001,
    0x807FFFFF,
    0x00800000,
    0x7F7FFFFF,
    0x3F800001,
    0x3DCCCCCD,
    0x4B800001,
)
F64_PATTERNS = (
    0,
    1 << 63,
    0x7FF0000000000000,
    0xFFF0000000000000,
    0x7FF8000000000000,
    0x7FF0000000000001,
    0xFFFABCDEF0123456,
    1,
    0x000FFFFFFFFFFFFF,
    0x7FEFFFFFFFFFFFFF,
    0x3FB999999999999A,
)
F16_PATTERNS = (0, 0x8000, 0x7C00, 0xFC00, 0x7E00, 0x7C01, 0xFFFF, 1, 0x83FF, 0x7BFF, 0x2E66)
BF16_PATTERNS = (0, 0x8000, 0x7F80, 0xFF80, 0x7FC0, 0x7F81, 0xFFFF, 1, 0x807F, 0x7F7F, 0x3DCD)
AWKWARD = {
    "float32": bits(np.float32, *F32_PATTERNS),
    "float64": bits(np.float64, *F64_PATTERNS),
    "float16": bits(np.float16, *F16_PATTERNS),
    "bfloat16": bits(ml_dtypes.bfloat16, *BF16_PATTERNS),
}
for name, values in AWKWARD.items():
    x64 = name == "float64"
    theme.add(f"awkward-{name}", lambda v=values: v, x64=x64, runnable=False)
    theme.add(
        f"awkward-{name}-splats",
        lambda vs=values: [np.full((2, 3), v) for v in vs],
        x64=x64,
        runnable=False,
    )
    theme.add(f"awkward-{name}-scalars", lambda vs=values: list(vs), x64=x64, runnable=False)
for name in TINY_FLOATS:
    width = ml_dtypes.finfo(dtype(name)).bits
    every = np.arange(1 << width, dtype=np.uint8).view(dtype(name))
    theme.add(f"awkward-{name}", lambda v=every: v, runnable=False)
    theme.add(
        f"awkward-{name}-splats",
        lambda vs=every: [np.full((3,), v) for v in vs[::17]],
        runnable=False,
    )
C64 = (
    np.stack([AWKWARD["float32"], AWKWARD["float32"][::-1]], axis=1).reshape(-1).view(np.complex64)
)
theme.add("awkward-complex64", lambda: C64, runnable=False)
theme.add("awkward-complex64-splats", lambda: [np.full((2, 2), c) for c in C64], runnable=False)

for name in INTEGERS + ["int64", "uint64"]:
    limits = np.iinfo(name)
    extremes = np.array([limits.min, 0, 1, limits.max], name)
    theme.add(
        f"extremes-{name}",
        lambda e=extremes: (e, e.min(), e.max(), np.full((2, 2), e[3])),
        x64="64" in name,
    )
for name in NARROW:
    low, high = ml_dtypes.iinfo(dtype(name)).min, ml_dtypes.iinfo(dtype(name)).max
    every = np.arange(low, high + 1).astype(dtype(name))
    theme.add(f"extremes-{name}", lambda e=every: (e, e[:3], e[1:2]), runnable=False)

SIZES = (1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 100, 101, 127, 128, 129)
theme.add("bool-constants", lambda: [np.arange(n) % 3 == 0 for n in SIZES])
theme.add("bool-constants-2d", lambda: [np.eye(n, dtype=bool) for n in (1, 2, 3, 8, 9)])
theme.add(
    "bool-all-true", lambda: (np.ones((3, 5), bool), np.zeros((3, 5), bool), np.ones(8, bool))
)
theme.add(
    "i4-constants", lambda: [np.arange(n).astype(ml_dtypes.int4) for n in SIZES], runnable=False
)
theme.add("large-f32", lambda x: x + np.arange(5003, dtype=np.float32), np.float32(1))
theme.add("large-i8", lambda x: x + np.arange(4099).astype(np.int8), np.int8(1))
theme.add("large-bf16", lambda: np.arange(1031).astype(ml_dtypes.bfloat16))
theme.add("large-bool", lambda: np.arange(4099) % 7 < 3)
theme.add("large-i4", lambda: np.arange(1031).astype(ml_dtypes.int4), runnable=False)
theme.add("large-c64", lambda: np.exp(1j * np.arange(257)).astype(np.complex64))
theme.add("large-f64", lambda: np.sqrt(np.arange(257.0)), x64=True)
theme.add("large-splat", lambda x: x + np.full((1000, 1000), 0.1, np.float32), np.float32(1))
theme.add("large-4d", lambda: np.arange(7 * 5 * 3 * 11, dtype=np.int16).reshape(7, 5, 3, 11))
theme.add(
    "decimal-digits",
    lambda: np.float32(
        [0.1, 1 / 3, 1e-38, 3.4e38, 123456792.0, 1e10, 16777216.0, 5e-324, 2.5, 1e16]
    ),
)
theme.add(
    "constant-as-argument",
    lambda x: x + np.arange(5003, dtype=np.float32),
    np.float32(1),
    config={"jax_use_simplified_jaxpr_constants": True},
    runnable=False,
)
theme.add(
    "float0",
    lambda x: jax.vjp(lambda i: i * 2.0, x)[1](np.ones(3, np.float32)),
    np.int32([1, 2, 3]),
    runnable=False,
)
theme.add(
    "x64-mixed",
    lambda x: lax.convert_element_type(x, "float32") @ np.ones((5, 2), "float32"),
    array("float64", 3, 5),
    x64=True,
)
