"""jax.numpy, with its linear algebra and Fourier transforms."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from corpus.program import (
    Theme,
    boolean,
    c64,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    integers,
    positive_definite,
    u8,
    u32,
)

theme = Theme("numpy")

UNARY_ANY = (
    "abs absolute angle conj conjugate copy fabs imag isfinite isinf isnan isneginf isposinf "
    "negative nan_to_num positive real sign signbit square sort_complex"
).split()
UNARY_FLOAT = (
    "acos acosh asin asinh atan atanh arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cos "
    "cosh deg2rad degrees exp exp2 expm1 floor frexp i0 log log10 log1p log2 modf rad2deg radians "
    "reciprocal rint round sin sinc sinh spacing sqrt tan tanh trunc unwrap"
).split()
for name in UNARY_ANY + UNARY_FLOAT:
    groups = [(f32(3, 5),)]
    if name not in ("spacing", "frexp", "modf", "unwrap"):
        groups.append((i32(7),))
    if name in ("acosh", "arccosh"):
        groups = [(1 + f32(3, 5),), (i32(7),)]
    theme.add_over(name, getattr(jnp, name), *groups)

BINARY_FLOAT = (
    "arctan2 atan2 copysign float_power fmax fmin fmod heaviside hypot logaddexp logaddexp2 "
    "nextafter true_divide"
).split()
BINARY_ANY = (
    "add divide divmod equal floor_divide greater greater_equal less less_equal logical_and "
    "logical_or logical_xor maximum minimum mod multiply not_equal pow power remainder subtract "
    "allclose array_equal array_equiv isclose"
).split()
BINARY_INTEGER = (
    "bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor gcd lcm left_shift "
    "right_shift"
).split()
for name in BINARY_FLOAT:
    theme.add_over(name, getattr(jnp, name), (f32(3, 5), f32(5)), (f16(3), f32(3)))
for name in BINARY_ANY:
    theme.add_over(name, getattr(jnp, name), (f32(3, 5), f32(5)), (i32(3), u8(3)), (i8(7), i16(7)))
for name in BINARY_INTEGER:
    theme.add_over(name, getattr(jnp, name), (i32(3, 5), i32(5)), (u8(3), u8(3)))
theme.add("ldexp", jnp.ldexp, f32(5), i32(5))
theme.add_over("bitwise_count", jnp.bitwise_count, (i32(5),), (u8(3),))
theme.add_over("bitwise_invert", jnp.bitwise_invert, (i32(5),), (boolean(3),))
theme.add_over("logical_not", jnp.logical_not, (f32(5),), (boolean(3),))
theme.add_over("complex-division", jnp.divide, (c64(3), c64(3)))

REDUCTIONS = (
    "all any amax amin argmax argmin average count_nonzero max mean median min nanargmax nanargmin "
    "nanmax nanmean nanmedian nanmin nanprod nanstd nansum nanvar prod ptp std sum var"
).split()
for name in REDUCTIONS:
    function = getattr(jnp, name)
    theme.add(name, lambda x, f=function: (f(x), f(x, axis=1), f(x, axis=-3)), f32(2, 3, 5))
for name in "nanargmax nanmean nansum nanmax nanmedian".split():
    operand = f32(3, 5)
    operand[0, 2] = np.nan
    function = getattr(jnp, name)
    theme.add(f"{name}-nan", lambda x, f=function: f(x, axis=1), operand)
theme.add(
    "sum-where", lambda x, m: jnp.sum(x, axis=0, where=m, initial=2.0), f32(3, 5), boolean(3, 5)
)
theme.add(
    "mean-keepdims", lambda x: jnp.mean(x, (0, 2), keepdims=True, dtype="float16"), f32(2, 3, 5)
)
theme.add("var-ddof", lambda x: jnp.var(x, ddof=1, axis=0), c64(3, 5))
theme.add("sum-f64", jnp.sum, f64(3, 5), x64=True)
for method in "linear lower higher midpoint nearest".split():
    theme.add(
        f"quantile-{method}", lambda x, m=method: jnp.quantile(x, 0.3, 1, method=m), f32(3, 7)
    )
theme.add("percentile", lambda x: jnp.percentile(x, jnp.array([10, 90]), axis=0), f32(7, 2))
theme.add("nanquantile", lambda x: jnp.nanquantile(x, 0.5), f32(7, 2))
theme.add("nanpercentile", lambda x: jnp.nanpercentile(x, 50), f32(7, 2))
if hasattr(jnp, "minmax"):
    theme.add("minmax", jnp.minmax, f32(7))
for name in "cumprod cumsum nancumprod nancumsum cumulative_sum cumulative_prod".split():
    function = getattr(jnp, name)
    theme.add(name, lambda x, f=function: f(x, axis=0), f32(5, 2))
theme.add("cumulative_sum-initial", lambda x: jnp.cumulative_sum(x, include_initial=True), i32(5))

X, Y, V = f32(3, 5), f32(5, 3), f32(7)
SHAPES = {
    "append": lambda x, y, v: jnp.append(x, v),
    "array_split": lambda x, y, v: jnp.array_split(v, 3),
    "atleast": lambda x, y, v: (jnp.atleast_1d(v[0]), jnp.atleast_2d(v), jnp.atleast_3d(x)),
    "block": lambda x, y, v: jnp.block([[x, x], [x, x]]),
    "broadcast_arrays": lambda x, y, v: jnp.broadcast_arrays(v[:5], x),
    "broadcast_to": lambda x, y, v: jnp.broadcast_to(v, (2, 3, 7)),
    "column_stack": lambda x, y, v: jnp.column_stack([v, v]),
    "concat": lambda x, y, v: jnp.concat([x, y.T], axis=0),
    "concatenate": lambda x, y, v: jnp.concatenate([x, y], axis=None),
    "delete": lambda x, y, v: jnp.delete(x, np.array([0, 2]), axis=1),
    "diag": lambda x, y, v: (jnp.diag(v, 1), jnp.diag(x, -1)),
    "diagflat": lambda x, y, v: jnp.diagflat(v[:3]),
    "diagonal": lambda x, y, v: jnp.diagonal(x, 1),
    "dsplit": lambda x, y, v: jnp.dsplit(x.reshape(1, 5, 3), 3),
    "dstack": lambda x, y, v: jnp.dstack([x, x]),
    "expand_dims": lambda x, y, v: jnp.expand_dims(x, (0, 2)),
    "flip": lambda x, y, v: (jnp.flip(x), jnp.fliplr(x), jnp.flipud(x)),
    "hsplit": lambda x, y, v: jnp.hsplit(x, [1, 3]),
    "hstack": lambda x, y, v: jnp.hstack([x, x]),
    "insert": lambda x, y, v: jnp.insert(v, 2, 9.0),
    "kron": lambda x, y, v: jnp.kron(x, y),
    "matrix_transpose": lambda x, y, v: jnp.matrix_transpose(x),
    "meshgrid": lambda x, y, v: jnp.meshgrid(v, v[:2], indexing="ij"),
    "moveaxis": lambda x, y, v: jnp.moveaxis(x[None], 0, -1),
    "pad-constant": lambda x, y, v: jnp.pad(x, ((1, 2), (0, 1)), constant_values=3),
    "pad-edge": lambda x, y, v: jnp.pad(x, 2, mode="edge"),
    "pad-linear_ramp": lambda x, y, v: jnp.pad(v, 2, mode="linear_ramp"),
    "pad-maximum": lambda x, y, v: jnp.pad(v, 2, mode="maximum", stat_length=3),
    "pad-mean": lambda x, y, v: jnp.pad(v, 2, mode="mean"),
    "pad-reflect": lambda x, y, v: jnp.pad(x, 1, mode="reflect"),
    "pad-symmetric": lambda x, y, v: jnp.pad(x, 1, mode="symmetric", reflect_type="odd"),
    "pad-wrap": lambda x, y, v: jnp.pad(x, 4, mode="wrap"),
    "permute_dims": lambda x, y, v: jnp.permute_dims(x, (1, 0)),
    "ravel": lambda x, y, v: jnp.ravel(x, order="F"),
    "repeat": lambda x, y, v: jnp.repeat(v, np.array([0, 1, 2, 3, 0, 1, 2])),
    "repeat-traced": lambda x, y, v: jnp.repeat(v, (v > 0.4).astype(int), total_repeat_length=6),
    "reshape": lambda x, y, v: (x.reshape(5, -1), x.reshape((5, 3), order="F")),
    "resize": lambda x, y, v: jnp.resize(v, (3, 5)),
    "roll": lambda x, y, v: (jnp.roll(x, 2), jnp.roll(x, (1, -1), (0, 1))),
    "roll-dynamic": lambda x, y, v: jnp.roll(x, v[0].astype(int), 1),
    "rollaxis": lambda x, y, v: jnp.rollaxis(x[None], 2),
    "rot90": lambda x, y, v: jnp.rot90(x, 3),
    "split": lambda x, y, v: jnp.split(x, [1, 3], axis=1),
    "squeeze": lambda x, y, v: jnp.squeeze(x[None]),
    "stack": lambda x, y, v: jnp.stack([x, x], axis=-1),
    "swapaxes": lambda x, y, v: jnp.swapaxes(x, 0, 1),
    "tile": lambda x, y, v: jnp.tile(x, (2, 1, 2)),
    "transpose": lambda x, y, v: x.T,
    "tril": lambda x, y, v: (jnp.tril(x), jnp.triu(x, 1), jnp.tri(3, 5, 1)),
    "trim": lambda x, y, v: jnp.vander(v[:3], 4, increasing=True),
    "unstack": lambda x, y, v: jnp.unstack(x, axis=1),
    "vsplit": lambda x, y, v: jnp.vsplit(y, [2]),
    "vstack": lambda x, y, v: jnp.vstack([x, x]),
}
PRODUCTS = {
    "convolve": lambda x, y, v: [jnp.convolve(v, v[:3], m) for m in ("full", "same", "valid")],
    "corrcoef": lambda x, y, v: jnp.corrcoef(x),
    "correlate": lambda x, y, v: jnp.correlate(v, v[:3], "full"),
    "cov": lambda x, y, v: jnp.cov(x, aweights=np.arange(1, 6)),
    "cross": lambda x, y, v: jnp.cross(y, y[::-1]),
    "dot": lambda x, y, v: jnp.dot(x, y),
    "einsum": lambda x, y, v: jnp.einsum("ij,jk->ik", x, y),
    "einsum-diagonal": lambda x, y, v: jnp.einsum("ii->i", x @ y),
    "einsum-three": lambda x, y, v: jnp.einsum("ab,bc,cd->d", x, y, x),
    "einsum-batch": lambda x, y, v: jnp.einsum("...i,...i->...", x, x),
    "inner": lambda x, y, v: jnp.inner(x, x),
    "matmul": lambda x, y, v: x @ y,
    "matmul-precision": lambda x, y, v: jnp.matmul(x, y, precision="highest"),
    "matvec": lambda x, y, v: jnp.matvec(x, v[:5]),
    "outer": lambda x, y, v: jnp.outer(x, v),
    "tensordot": lambda x, y, v: jnp.tensordot(x, y, axes=[[0, 1], [1, 0]]),
    "trace": lambda x, y, v: jnp.trace(x, offset=1),
    "vdot": lambda x, y, v: jnp.vdot(v, v),
    "vecdot": lambda x, y, v: jnp.vecdot(x, x),
    "vecmat": lambda x, y, v: jnp.vecmat(v[:3], x),
}
SELECTION = {
    "unique_all": lambda x, y, v: jnp.unique_all((v * 4).astype(int), size=5),
    "unique_counts": lambda x, y, v: jnp.unique_counts((v * 4).astype(int), size=5),
    "unique_inverse": lambda x, y, v: jnp.unique_inverse((v * 4).astype(int), size=5),
    "unique_values": lambda x, y, v: jnp.unique_values((v * 4).astype(int), size=5),
    "ix_": lambda x, y, v: x[jnp.ix_(np.array([0, 2]), np.array([1, 3]))],
    "triu_indices": lambda x, y, v: (x[jnp.triu_indices(3)], x[:, :3][jnp.diag_indices(3)]),
    "isreal": lambda x, y, v: (jnp.isreal(x), jnp.iscomplex(x), jnp.invert(x > 0.5)),
    "bin_edges": lambda x, y, v: jnp.histogram_bin_edges(v, bins=3),
    "argpartition": lambda x, y, v: jnp.sort(jnp.argpartition(v, 3)[:3]),
    "argsort": lambda x, y, v: jnp.argsort(x, axis=0, descending=True),
    "argwhere": lambda x, y, v: jnp.argwhere(x > 0.5, size=4, fill_value=-1),
    "bincount": lambda x, y, v: jnp.bincount((v * 5).astype(int), length=5),
    "choose": lambda x, y, v: jnp.choose(jnp.array([0, 1, 0]), [v[:3], v[3:6]], mode="clip"),
    "clip": lambda x, y, v: jnp.clip(x, 0.3, 0.6),
    "compress": lambda x, y, v: jnp.compress(np.arange(3) != 1, x, axis=0, size=2),
    "diff": lambda x, y, v: jnp.diff(x, n=2, prepend=0.0),
    "digitize": lambda x, y, v: jnp.digitize(x, jnp.array([0.2, 0.5, 0.7])),
    "ediff1d": lambda x, y, v: jnp.ediff1d(v, to_begin=1.0),
    "extract": lambda x, y, v: jnp.extract(v > 0.5, v, size=3, fill_value=0),
    "flatnonzero": lambda x, y, v: jnp.flatnonzero(v > 0.5, size=3),
    "fill_diagonal": lambda x, y, v: jnp.fill_diagonal(x, 2.0, inplace=False),
    "gradient": lambda x, y, v: jnp.gradient(x, 0.5),
    "histogram": lambda x, y, v: jnp.histogram(v, bins=4, range=(0, 1)),
    "histogram2d": lambda x, y, v: jnp.histogram2d(v, v, bins=3),
    "histogramdd": lambda x, y, v: jnp.histogramdd(y, bins=2),
    "interp": lambda x, y, v: jnp.interp(x, jnp.arange(7) / 7, v, left=0.0, period=None),
    "intersect1d": lambda x, y, v: jnp.intersect1d(v, v[:3], size=3),
    "isin": lambda x, y, v: jnp.isin(v, v[:3]),
    "lexsort": lambda x, y, v: jnp.lexsort((v, v > 0.5)),
    "nonzero": lambda x, y, v: jnp.nonzero(x > 0.5, size=5),
    "packbits": lambda x, y, v: jnp.packbits(v > 0.5, bitorder="little"),
    "partition": lambda x, y, v: jnp.sort(jnp.partition(v, 3)[:3]),
    "piecewise": lambda x, y, v: jnp.piecewise(v, [v < 0.3, v > 0.6], [-1.0, jnp.sin, 2.0]),
    "place": lambda x, y, v: jnp.place(v, v > 0.5, jnp.array([1.0, 2.0]), inplace=False),
    "put": lambda x, y, v: jnp.put(v, jnp.array([1, 3]), 5.0, inplace=False),
    "put_along_axis": lambda x, y, v: jnp.put_along_axis(
        x, jnp.array([[1], [0], [2]]), 9.0, 1, inplace=False
    ),
    "ravel_multi_index": lambda x, y, v: jnp.ravel_multi_index(
        ((v[:3] * 3).astype(int), (v[3:6] * 4).astype(int)), (3, 4), mode="wrap"
    ),
    "searchsorted": lambda x, y, v: [
        jnp.searchsorted(jnp.sort(v), x, method=m) for m in ("scan", "sort", "compare_all")
    ],
    "select": lambda x, y, v: jnp.select([v < 0.3, v > 0.6], [v, -v], 7.0),
    "setdiff1d": lambda x, y, v: jnp.setdiff1d(v, v[:3], size=4),
    "setxor1d": lambda x, y, v: jnp.setxor1d(v[:4], v[2:], size=6),
    "sort": lambda x, y, v: (jnp.sort(x, axis=None), jnp.sort(x, descending=True)),
    "take": lambda x, y, v: jnp.take(x, jnp.array([0, 9, -1]), axis=1, mode="fill"),
    "take_along_axis": lambda x, y, v: jnp.take_along_axis(x, jnp.argsort(x), axis=1),
    "trapezoid": lambda x, y, v: jnp.trapezoid(v, dx=0.1),
    "tril_indices": lambda x, y, v: x[jnp.tril_indices(3, 1)],
    "union1d": lambda x, y, v: jnp.union1d(v[:4], v[2:], size=7),
    "unique": lambda x, y, v: jnp.unique((v * 4).astype(int), size=4, return_counts=True),
    "unpackbits": lambda x, y, v: jnp.unpackbits((v * 255).astype("uint8")),
    "unravel_index": lambda x, y, v: jnp.unravel_index((v * 15).astype(int), (3, 5)),
    "where": lambda x, y, v: jnp.where(x > 0.5, x, 0),
    "where-size": lambda x, y, v: jnp.where(v > 0.5, size=3),
}
MAKERS = {
    "arange": lambda x, y, v: jnp.arange(2, 11, 3) + v[:3],
    "eye": lambda x, y, v: jnp.eye(3, 5, 1) + x,
    "full": lambda x, y, v: jnp.full((3, 1), 2.5) + x,
    "geomspace": lambda x, y, v: jnp.geomspace(1.0, 8.0, 7) * v,
    "linspace": lambda x, y, v: jnp.linspace(v[0], v[1], 5, endpoint=False),
    "logspace": lambda x, y, v: jnp.logspace(0, 2, 7) * v,
    "windows": lambda x, y, v: [
        jnp.bartlett(7),
        jnp.blackman(7),
        jnp.hamming(7),
        jnp.hanning(7),
        jnp.kaiser(7, 2.0),
    ],
    "indices": lambda x, y, v: jnp.indices((2, 3)),
    "ones_zeros": lambda x, y, v: (jnp.ones((2, 0)), jnp.zeros_like(x), jnp.ones_like(v, int)),
    "polynomials": lambda x, y, v: (
        jnp.polyval(v, x),
        jnp.polyadd(v, v[:3]),
        jnp.polysub(v, v[:2]),
        jnp.polymul(v, v[:3]),
        jnp.polyder(v),
        jnp.polyint(v),
        jnp.poly(v[:3]),
    ),
    "polydiv": lambda x, y, v: jnp.polydiv(v, v[:3]),
    "mgrid": lambda x, y, v: jnp.mgrid[0:2, 0:3] * v[0],
    "c_r_": lambda x, y, v: (jnp.r_[v, 1.0], jnp.c_[v, v]),
    "frompyfunc": lambda x, y, v: jnp.frompyfunc(lambda a, b: a * b + 1, 2, 1)(v, v),
    "ufunc-methods": lambda x, y, v: (
        jnp.add.reduce(v),
        jnp.multiply.accumulate(v),
        jnp.add.outer(v, v),
    ),
    "vectorize": lambda x, y, v: jnp.vectorize(jnp.dot, signature="(n),(n)->()")(x, v[:5]),
    "apply_along_axis": lambda x, y, v: jnp.apply_along_axis(jnp.sort, 0, x),
    "apply_over_axes": lambda x, y, v: jnp.apply_over_axes(jnp.sum, x, [0, 1]),
    "fromfunction": lambda x, y, v: jnp.fromfunction(lambda i, j: i * 5 + j, (3, 5)) + x,
    "astype": lambda x, y, v: [x.astype(d) for d in ("int8", "uint32", "float16", "bool")],
    "view": lambda x, y, v: x.view("int32"),
}
for table in (SHAPES, PRODUCTS, SELECTION, MAKERS):
    for name, function in table.items():
        theme.add(f"api-{name}", function, X, Y, V)

S, P = f32(4, 4) + 2 * np.eye(4, dtype="float32"), positive_definite(np.float32, 4, 4)
LINALG = {
    "cholesky": lambda s, p: jnp.linalg.cholesky(p),
    "cond": lambda s, p: jnp.linalg.cond(s),
    "det": lambda s, p: jnp.linalg.det(s),
    "eig": lambda s, p: jnp.linalg.eig(s),
    "eigh": lambda s, p: jnp.linalg.eigh(p),
    "eigvals": lambda s, p: jnp.linalg.eigvals(s),
    "eigvalsh": lambda s, p: jnp.linalg.eigvalsh(p),
    "inv": lambda s, p: jnp.linalg.inv(s),
    "lstsq": lambda s, p: jnp.linalg.lstsq(s, p[:, 0]),
    "matrix_power": lambda s, p: jnp.linalg.matrix_power(s, 5),
    "matrix_rank": lambda s, p: jnp.linalg.matrix_rank(s),
    "multi_dot": lambda s, p: jnp.linalg.multi_dot([s, p, s]),
    "norm": lambda s, p: [jnp.linalg.norm(s, o) for o in (None, 1, np.inf, "fro", -1)],
    "norm-2": lambda s, p: jnp.linalg.norm(s, 2),
    "pinv": lambda s, p: jnp.linalg.pinv(s),
    "qr": lambda s, p: jnp.linalg.qr(s, "complete"),
    "slogdet": lambda s, p: jnp.linalg.slogdet(s),
    "solve": lambda s, p: jnp.linalg.solve(s, p),
    "polyfit": lambda s, p: jnp.polyfit(s[0], p[0], 2),
    "roots": lambda s, p: jnp.roots(s[0], strip_zeros=False),
    "svdvals": lambda s, p: jnp.linalg.svdvals(s),
    "matrix_norm": lambda s, p: jnp.linalg.matrix_norm(s, ord="nuc"),
    "svd": lambda s, p: jnp.linalg.svd(s, full_matrices=False),
    "tensorinv": lambda s, p: jnp.linalg.tensorinv(s.reshape(2, 2, 4), ind=2),
    "tensorsolve": lambda s, p: jnp.linalg.tensorsolve(s.reshape(2, 2, 4), p[:2, :2]),
    "vector_norm": lambda s, p: jnp.linalg.vector_norm(s, ord=3),
}
IN_PLAIN_OPS = {"matrix_power", "multi_dot", "norm", "vector_norm"}
for name, function in LINALG.items():
    theme.add(f"linalg-{name}", function, S, P, runnable=name in IN_PLAIN_OPS)

for (
    name
) in "fft fft2 fftn hfft ifft ifft2 ifftn ihfft irfft irfft2 irfftn rfft rfft2 rfftn".split():
    operand = f32(3, 8) if name in ("ihfft", "rfft", "rfft2", "rfftn") else c64(3, 8)
    theme.add(f"fft-{name}", getattr(jnp.fft, name), operand)
theme.add("fft-shift", lambda x: (jnp.fft.fftshift(x), jnp.fft.ifftshift(x)), f32(7))
theme.add("fft-freq", lambda: (jnp.fft.fftfreq(7), jnp.fft.rfftfreq(8, 0.5)))
theme.add("fft-norm", lambda x: jnp.fft.fft(x, n=11, norm="ortho"), c64(7))

theme.add("uint-arithmetic", lambda x: (x - 7) // 3 % 5, u32(11))
theme.add("bit-tricks", lambda x: (x << 3) ^ (x >> 1) | ~x, u32(11))
theme.add("weak-types", lambda x, i: (x * 2, i * 2, x + 1j, i / 2, -i), f32(3), i32(3))
theme.add("python-scalars", lambda a, b, c, d: a * b + c + d, 2, 3.5, True, 1j)
theme.add(
    "image-resize",
    lambda x: [jax.image.resize(x, (5, 7), m) for m in ("nearest", "linear", "cubic", "lanczos3")],
    f32(3, 4),
)
theme.add(
    "image-scale",
    lambda x: jax.image.scale_and_translate(
        x, (5, 5), (0, 1), jnp.array([1.5, 0.7]), jnp.array([0.1, 0.2]), "linear"
    ),
    f32(3, 4),
)
theme.add("take-large", lambda x, i: x[i], f32(101, 3), integers(0, 101, 17))
