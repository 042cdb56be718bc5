"""Products, convolutions, Fourier transforms and the linear algebra of jax.lax.linalg."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from corpus.program import (
    Theme,
    bf16,
    c64,
    c128,
    f16,
    f32,
    f64,
    i8,
    i32,
    positive_definite,
    u8,
)

theme = Theme("lax_linear")
F32 = jnp.float32

theme.add_over("dot", lax.dot, *[(k(3, 5), k(5, 7)) for k in (f32, f16, bf16, i32, u8, c64)])
theme.add_over("dot-vector", lax.dot, (f32(5), f32(5)), (f32(3, 5), f32(5)))
theme.add("dot-f64", lax.dot, f64(3, 5), f64(5, 7), x64=True)
theme.add("dot-empty", lax.dot, f32(3, 0), f32(0, 7))
theme.add("batch_matmul", lax.batch_matmul, f32(2, 3, 5), f32(2, 5, 7))

DIMENSIONS = {
    "plain": (((1,), (0,)), ((), ())),
    "transposed": (((0,), (1,)), ((), ())),
    "outer": (((), ()), ((), ())),
    "all": (((0, 1), (1, 0)), ((), ())),
    "batch": (((1,), (0,)), ((0,), (1,))),
}
for name, numbers in DIMENSIONS.items():
    theme.add(
        f"dot_general-{name}",
        lambda x, y, n=numbers: lax.dot_general(x, y, n),
        f32(5, 3) if name in ("transposed", "all", "batch") else f32(3, 5),
        f32(3, 5) if name in ("all", "batch") else f32(5, 5),
    )
theme.add(
    "dot_general-two-batch-dims",
    lambda x, y: lax.dot_general(x, y, (((3,), (1,)), ((0, 2), (3, 0)))),
    f32(2, 3, 5, 7),
    f32(5, 7, 1, 2),
)
for precision in ("DEFAULT", "HIGH", "HIGHEST"):
    theme.add(
        f"dot-precision-{precision.lower()}",
        lambda x, y, p=precision: lax.dot(x, y, precision=getattr(lax.Precision, p)),
        f32(3, 5),
        f32(5, 7),
    )
theme.add(
    "dot-two-precisions",
    lambda x, y: lax.dot(x, y, precision=(lax.Precision.HIGH, lax.Precision.DEFAULT)),
    f32(3, 5),
    f32(5, 7),
)
PRESET_TYPES = {
    "F16_F16_F16": f16,
    "F16_F16_F32": f16,
    "BF16_BF16_BF16": bf16,
    "BF16_BF16_F32": bf16,
    "F64_F64_F64": f64,
}
for preset in lax.DotAlgorithmPreset:
    if "F8" in preset.name:
        continue
    kind = PRESET_TYPES.get(preset.name, f32)
    theme.add(
        f"dot-{preset.name.lower()}",
        lambda x, y, p=preset: lax.dot(x, y, precision=p, preferred_element_type=x.dtype),
        kind(3, 5),
        kind(5, 7),
        x64=kind is f64,
        platforms=("cuda",),  # The CPU has few of them.
        runnable=False,
    )
theme.add(
    "dot-algorithm",
    lambda x, y: lax.dot(
        x, y, precision=lax.DotAlgorithm(jnp.bfloat16, jnp.bfloat16, F32, 1, 1, 6, False)
    ),
    f32(3, 5),
    f32(5, 7),
    platforms=("cuda",),
    runnable=False,
)
for fp8 in ("ANY_F8_ANY_F8_F32", "ANY_F8_ANY_F8_F32_FAST_ACCUM"):
    theme.add(
        f"dot-{fp8.lower()}",
        lambda x, y, p=fp8: lax.dot(
            x.astype("float8_e4m3fn"),
            y.astype("float8_e5m2"),
            precision=getattr(lax.DotAlgorithmPreset, p),
            preferred_element_type=F32,
        ),
        f32(3, 5),
        f32(5, 7),
        platforms=("cuda",),
        runnable=False,
    )
theme.add(
    "dot-preferred",
    lambda x, y: lax.dot(x, y, preferred_element_type=jnp.int32),
    i8(3, 5),
    i8(5, 7),
)
theme.add(
    "dot-mixed", lambda x, y: lax.dot(x, y, preferred_element_type=F32), bf16(3, 5), bf16(5, 7)
)

SIZES = np.int32([2, 0, 3, 2])
theme.add("ragged_dot", lax.ragged_dot, f32(7, 3), f32(4, 3, 5), SIZES)
theme.add(
    "ragged_dot-grad",
    jax.grad(lambda x, y, s: lax.ragged_dot(x, y, s).sum(), (0, 1)),
    f32(7, 3),
    f32(4, 3, 5),
    SIZES,
)
theme.add(
    "ragged_dot-tpu",
    lax.ragged_dot,
    f32(7, 3),
    f32(4, 3, 5),
    SIZES,
    platforms=("tpu",),
    runnable=False,
)
theme.add(
    "ragged_dot_general",
    lambda x, y, s: lax.ragged_dot_general(
        x,
        y,
        s,
        lax.RaggedDotDimensionNumbers((((0,), (0,)), ((), ())), [0], []),
    ),
    f32(7, 3),
    f32(7, 5),
    SIZES,
)
theme.add(
    "scaled_dot",
    lambda x, y, a, b: lax.scaled_dot(
        x.astype("float8_e4m3fn"),
        y.astype("float8_e4m3fn"),
        lhs_scale=a.astype("float8_e8m0fnu"),
        rhs_scale=b.astype("float8_e8m0fnu"),
        preferred_element_type=jnp.bfloat16,
    ),
    f32(3, 64),
    f32(64, 5),
    f32(3, 2),
    f32(2, 5),
    runnable=False,
)

X, W = f32(2, 3, 7, 5), f32(4, 3, 3, 2)
NHWC = ("NHWC", "HWIO", "NHWC")
CONVOLUTIONS = {
    "valid": dict(window_strides=(1, 1), padding="VALID"),
    "same": dict(window_strides=(2, 1), padding="SAME"),
    "same_lower": dict(window_strides=(2, 2), padding="SAME_LOWER"),
    "explicit": dict(window_strides=(1, 1), padding=((1, 2), (0, 3))),
    "negative-padding": dict(window_strides=(1, 1), padding=((-1, 2), (0, -1))),
    "lhs-dilated": dict(window_strides=(1, 1), padding=((1, 1), (0, 0)), lhs_dilation=(2, 3)),
    "rhs-dilated": dict(window_strides=(1, 1), padding="VALID", rhs_dilation=(2, 1)),
    "highest": dict(window_strides=(1, 1), padding="VALID", precision=lax.Precision.HIGHEST),
}
for name, options in CONVOLUTIONS.items():
    theme.add(f"conv-{name}", lambda x, w, o=options: lax.conv_general_dilated(x, w, **o), X, W)
    theme.add(
        f"conv-{name}-grad",
        jax.grad(lambda x, w, o=options: (lax.conv_general_dilated(x, w, **o) ** 2).sum(), (0, 1)),
        X,
        W,
    )
theme.add(
    "conv-nhwc",
    lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=NHWC),
    f32(2, 7, 5, 3),
    f32(3, 2, 3, 4),
)
GROUPED = dict(window_strides=(1, 1), padding="SAME", dimension_numbers=NHWC)
theme.add(
    "conv-grouped",
    jax.value_and_grad(
        lambda x, w: lax.conv_general_dilated(x, w, feature_group_count=3, **GROUPED).sum(), (0, 1)
    ),
    f32(2, 7, 5, 6),
    f32(3, 2, 2, 9),
)
theme.add(
    "conv-batch-grouped",
    lambda x, w: lax.conv_general_dilated(x, w, batch_group_count=2, **GROUPED),
    f32(4, 7, 5, 3),
    f32(3, 2, 3, 4),
)
theme.add(
    "conv-1d",
    lambda x, w: lax.conv_general_dilated(x, w, (1,), "VALID"),
    f32(2, 3, 11),
    f32(5, 3, 3),
)
theme.add(
    "conv-3d",
    lambda x, w: lax.conv_general_dilated(x, w, (1, 1, 1), "SAME"),
    f32(1, 2, 3, 5, 4),
    f32(3, 2, 2, 1, 3),
)
theme.add("conv-0d", lambda x, w: lax.conv_general_dilated(x, w, (), ()), f32(3, 5), f32(7, 5))
theme.add(
    "conv-bf16", lambda x, w: lax.conv(x, w, (1, 1), "SAME"), bf16(1, 2, 5, 5), bf16(3, 2, 3, 3)
)
theme.add(
    "conv-i8",
    lambda x, w: lax.conv(x, w, (1, 1), "SAME", preferred_element_type=jnp.int32),
    i8(1, 2, 5, 5),
    i8(3, 2, 3, 3),
)
theme.add(
    "conv-complex", lambda x, w: lax.conv(x, w, (1, 1), "SAME"), c64(1, 2, 5, 5), c64(3, 2, 3, 3)
)
theme.add(
    "conv-empty", lambda x, w: lax.conv(x, w, (1, 1), "SAME"), f32(0, 2, 5, 5), f32(3, 2, 3, 3)
)
theme.add(
    "conv-vmap",
    jax.vmap(lambda x, w: lax.conv(x, w, (1, 1), "VALID")),
    f32(2, 1, 3, 5, 5),
    f32(2, 4, 3, 3, 3),
)
theme.add(
    "conv_with_general_padding",
    lambda x, w: lax.conv_with_general_padding(x, w, (1, 2), ((1, 0), (0, 1)), (1, 1), (2, 1)),
    X,
    W,
)
for padding in ("SAME", "VALID"):
    theme.add(
        f"conv_transpose-{padding.lower()}",
        lambda x, w, p=padding: lax.conv_transpose(x, w, (2, 3), p, rhs_dilation=(1, 2)),
        f32(2, 5, 7, 3),
        f32(3, 2, 3, 4),
    )
theme.add(
    "conv_transpose-kernel",
    lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME", transpose_kernel=True),
    f32(2, 5, 7, 4),
    f32(3, 2, 3, 4),
)
theme.add(
    "conv_general_dilated_local",
    lambda x, w: lax.conv_general_dilated_local(x, w, (1, 1), "VALID", (2, 2)),
    f32(2, 3, 4, 5),
    f32(5, 12, 3, 4),
)


@theme.program(X, W)
def conv_shape_helpers(x, w):
    """Functions that answer with shapes and permutations, and one convolution that uses them."""
    numbers = lax.conv_dimension_numbers(x.shape, w.shape, ("NCHW", "OIHW", "NCHW"))
    lax.conv_general_permutations(("NCHW", "OIHW", "NCHW"))
    shape = lax.conv_shape_tuple(x.shape, w.shape, (1, 1), ((0, 0), (0, 0)))
    out = lax.conv_general_dilated(x, w, (1, 1), "VALID", dimension_numbers=numbers)
    return out.reshape(shape)


theme.add(
    "conv_general_dilated_patches",
    lambda x: lax.conv_general_dilated_patches(x, (2, 3), (1, 2), "SAME"),
    f32(2, 3, 5, 7),
)

for kind in ("FFT", "IFFT", "RFFT", "IRFFT"):
    operand = f32(3, 7) if kind == "RFFT" else c64(3, 7)
    length = 12 if kind == "IRFFT" else 7
    theme.add(f"fft-{kind.lower()}", lambda x, k=kind, n=length: lax.fft(x, k, (n,)), operand)
    theme.add(
        f"fft-{kind.lower()}-2d",
        lambda x, k=kind, n=length: lax.fft(x, k, (3, n)),
        operand,
    )
theme.add("fft-c128", lambda x: lax.fft(x, "FFT", (2, 3, 5)), c128(2, 3, 5), x64=True)
theme.add("fft-grad", jax.grad(lambda x: jnp.abs(lax.fft(x, "RFFT", (8,))).sum()), f32(3, 8))

# jax.lax.linalg: custom calls of LAPACK, which need jaxlib's own handlers to run.
SQUARE = {"f32": f32(5, 5), "c64": c64(2, 3, 3)}
SYMMETRIC = {
    "f32": positive_definite(np.float32, 5, 5),
    "c64": positive_definite(np.complex64, 3, 3),
}
GENERAL = {
    "eig": lax.linalg.eig,
    "hessenberg": lax.linalg.hessenberg,
    "lu": lax.linalg.lu,
    "qr": lax.linalg.qr,
    "qr-full": lambda x: lax.linalg.qr(x, full_matrices=False),
    "qr-pivoting": lambda x: lax.linalg.qr(x, pivoting=True),
    "schur": lax.linalg.schur,
    "svd": lax.linalg.svd,
    "svd-values": lambda x: lax.linalg.svd(x, compute_uv=False),
    "svd-thin": lambda x: lax.linalg.svd(x[..., :2], full_matrices=False),
}
HERMITIAN = {
    "cholesky": lax.linalg.cholesky,
    "cholesky-upper": lambda x: lax.linalg.cholesky(x, symmetrize_input=False).mT,
    "eigh": lax.linalg.eigh,
    "eigh-upper": lambda x: lax.linalg.eigh(x, lower=False, sort_eigenvalues=False),
    "qdwh": lambda x: lax.linalg.qdwh(x)[0],
    "tridiagonal": lax.linalg.tridiagonal,
}
for table, operands in ((GENERAL, SQUARE), (HERMITIAN, SYMMETRIC)):
    for name, function in table.items():
        for suffix, operand in operands.items():
            theme.add(f"{name}-{suffix}", function, operand, runnable=False)
theme.add(
    "cholesky-f64",
    lax.linalg.cholesky,
    positive_definite(np.float64, 4, 4),
    x64=True,
    runnable=False,
)
theme.add(
    "svd-f64-grad",
    jax.grad(lambda x: lax.linalg.svd(x, compute_uv=False)[0].sum()),
    f64(3, 4),
    x64=True,
    runnable=False,
)
theme.add(
    "eigh-grad", jax.grad(lambda x: lax.linalg.eigh(x)[0].sum()), SYMMETRIC["f32"], runnable=False
)
theme.add("householder_product", lax.linalg.householder_product, f32(5, 3), f32(3), runnable=False)
theme.add("ormqr", lax.linalg.ormqr, f32(5, 3), f32(3), f32(5, 2), runnable=False)
theme.add(
    "lu_pivots_to_permutation",
    lambda p: lax.linalg.lu_pivots_to_permutation(p, 5),
    np.int32([[2, 1, 4]]),
)
theme.add("cholesky_update", lax.linalg.cholesky_update, np.triu(f32(4, 4)), f32(4))
theme.add(
    "symmetric_product",
    lambda a, c: lax.linalg.symmetric_product(a, c, alpha=2.0, beta=3.0),
    f32(4, 3),
    f32(4, 4),
)
theme.add(
    "tridiagonal_solve",
    lax.linalg.tridiagonal_solve,
    f32(5),
    3 + f32(5),
    f32(5),
    f32(5, 2),
    runnable=False,
)
TRIANGULAR = {
    "left-lower": dict(left_side=True, lower=True),
    "right-upper": dict(left_side=False, lower=False),
    "transpose": dict(left_side=True, lower=True, transpose_a=True),
    "unit": dict(left_side=True, lower=True, unit_diagonal=True),
    "adjoint": dict(left_side=True, lower=False, transpose_a=True, conjugate_a=True),
}
for name, options in TRIANGULAR.items():
    kind = c64 if name == "adjoint" else f32
    theme.add(
        f"triangular_solve-{name}",
        lambda a, b, o=options: lax.linalg.triangular_solve(a, b, **o),
        np.eye(4, dtype=kind(1).dtype) + kind(4, 4),
        kind(4, 4),
        runnable=False,
    )
theme.add(
    "triangular_solve-tpu",
    lambda a, b: lax.linalg.triangular_solve(a, b, transpose_a=True, unit_diagonal=True),
    f32(3, 4, 4),
    f32(3, 2, 4),
    platforms=("tpu",),
    runnable=False,
)
theme.add("cholesky-tpu", lax.linalg.cholesky, f32(4, 4), platforms=("tpu",), runnable=False)
theme.add("svd-tpu", lax.linalg.svd, f32(5, 3), platforms=("tpu",), runnable=False)
theme.add("eigh-tpu", lax.linalg.eigh, f32(5, 5), platforms=("tpu",), runnable=False)
theme.add("qr-cuda", lax.linalg.qr, f32(5, 3), platforms=("cuda",), runnable=False)
theme.add("eigh-cuda", lax.linalg.eigh, f32(5, 5), platforms=("cuda",), runnable=False)
theme.add("lu-cuda", lax.linalg.lu, f32(2, 5, 5), platforms=("cuda",), runnable=False)
theme.add("svd-rocm", lax.linalg.svd, f32(5, 3), platforms=("rocm",), runnable=False)
