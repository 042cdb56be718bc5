"""jax.scipy: special functions, distributions, linear algebra, signals and the rest."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import jax.scipy.optimize
import jax.scipy.spatial.transform
import numpy as np
from jax.scipy import special, stats

from corpus.program import Theme, c64, f32, f64, i32, integers, positive_definite

theme = Theme("scipy")

UNARY = (
    "dawsn digamma entr erf erfc erfcinv erfcx erfinv exp1 expi expit factorial fresnel gamma "
    "gammaln gammasgn i0 i0e i1 i1e log_ndtr loggamma logit ndtr ndtri sici spence wofz"
).split()
BINARY = (
    "beta betaln boxcox boxcox1p gammainc gammaincc kl_div owens_t poch rel_entr xlog1py xlogy zeta"
).split()
for name in UNARY:
    if not hasattr(special, name):
        continue
    operand = c64(5) if name == "wofz" else f32(3, 5)
    theme.add(f"special-{name}", getattr(special, name), operand)
for name in BINARY:
    if hasattr(special, name):
        theme.add(f"special-{name}", getattr(special, name), 1 + f32(5), f32(5))
SPECIAL = {
    "betainc": lambda x: special.betainc(x, x, x),
    "bernoulli": lambda x: special.bernoulli(7) + x[0],
    "bessel_jn": lambda x: special.bessel_jn(x, v=3, n_iter=10),
    "expn": lambda x: special.expn(jnp.array([1, 2, 3]), x[:3]),
    "hyp1f1": lambda x: special.hyp1f1(x, x + 1, x),
    "hyp2f1": lambda x: special.hyp2f1(x, x + 1, x + 2, x / 2),
    "log_softmax": special.log_softmax,
    "logsumexp": lambda x: special.logsumexp(x, b=x, return_sign=True),
    "logsumexp-where": lambda x: special.logsumexp(x, where=x > 0.5, keepdims=True),
    "multigammaln": lambda x: special.multigammaln(x + 3, 2),
    "polygamma": lambda x: special.polygamma(2, x),
    "softmax": special.softmax,
    "sph_harm_y": lambda x: special.sph_harm_y(
        jnp.array([2, 3]), jnp.array([1, 2]), x[:2], x[:2], n_max=4
    ),
}
for name, function in SPECIAL.items():
    theme.add(f"special-{name}", function, f32(5))
theme.add("special-gammaln-f64", special.gammaln, f64(5), x64=True)
theme.add("special-erfinv-f64", special.erfinv, f64(5), x64=True)
theme.add(
    "special-grad", jax.grad(lambda x: (special.gammainc(2.0, x) + special.ndtri(x)).sum()), f32(5)
)
if hasattr(special, "comb"):
    theme.add(
        "special-comb", lambda n, k: special.comb(n, k), 3 + 5 * f32(5), np.float32([0, 1, 2, 3, 1])
    )

# Distributions: the names of their functions, then what each is given besides x.
CONTINUOUS = "logpdf pdf cdf logcdf sf logsf ppf isf".split()
DISCRETE = "logpmf pmf cdf logcdf sf logsf".split()
DISTRIBUTIONS = {
    "bernoulli": (DISCRETE, (0.3,)),
    "beta": (CONTINUOUS, (2.0, 3.0)),
    "betabinom": (DISCRETE, (5, 2.0, 3.0)),
    "binom": (DISCRETE, (7, 0.3)),
    "cauchy": (CONTINUOUS, ()),
    "chi2": (CONTINUOUS, (3.0,)),
    "expon": (CONTINUOUS, ()),
    "gamma": (CONTINUOUS, (2.0,)),
    "gennorm": (CONTINUOUS, (1.5,)),
    "geom": (DISCRETE, (0.4,)),
    "gumbel_l": (CONTINUOUS, ()),
    "gumbel_r": (CONTINUOUS, ()),
    "laplace": (CONTINUOUS, (0.1, 2.0)),
    "logistic": (CONTINUOUS, (0.1, 2.0)),
    "nbinom": (DISCRETE, (5, 0.4)),
    "norm": (CONTINUOUS, (0.1, 2.0)),
    "pareto": (CONTINUOUS, (2.0,)),
    "poisson": (DISCRETE, (2.0,)),
    "t": (CONTINUOUS, (3.0,)),
    "truncnorm": (CONTINUOUS, (-1.0, 1.0)),
    "uniform": (CONTINUOUS, ()),
    "vonmises": (CONTINUOUS, (1.5,)),
    "wrapcauchy": (CONTINUOUS, (0.4,)),
}
for name, (functions, parameters) in DISTRIBUTIONS.items():
    distribution = getattr(stats, name)
    present = [f for f in functions if hasattr(distribution, f)]

    def all_functions(x, d=distribution, names=present, more=parameters):
        return [getattr(d, f)(x, *more) for f in names]

    theme.add(
        f"stats-{name}", all_functions, f32(5) if functions is CONTINUOUS else integers(0, 2, 5)
    )
theme.add("stats-dirichlet", stats.dirichlet.logpdf, np.float32([0.2, 0.3, 0.5]), 1 + f32(3))
theme.add(
    "stats-multinomial",
    stats.multinomial.logpmf,
    np.int32([1, 2, 4]),
    7,
    np.float32([0.2, 0.3, 0.5]),
)
theme.add(
    "stats-multivariate_normal",
    stats.multivariate_normal.logpdf,
    f32(5, 3),
    f32(3),
    positive_definite(np.float32, 3, 3),
    runnable=False,
)
theme.add(
    "stats-rankdata",
    lambda x: [stats.rankdata(x, m) for m in ("average", "min", "ordinal")],
    f32(7),
)
theme.add("stats-mode", stats.mode, i32(3, 7))
theme.add("stats-sem", stats.sem, f32(3, 7))
theme.add("stats-kde", lambda x, y: stats.gaussian_kde(x)(y), f32(2, 7), f32(2, 3), runnable=False)

S, P = f32(4, 4) + 2 * np.eye(4, dtype="float32"), positive_definite(np.float32, 4, 4)
LINALG = {
    "block_diag": lambda s, p: jsp.linalg.block_diag(s, p[:2]),
    "cho_solve": lambda s, p: jsp.linalg.cho_solve(jsp.linalg.cho_factor(p), s),
    "cholesky": lambda s, p: jsp.linalg.cholesky(p, lower=True),
    "det": lambda s, p: jsp.linalg.det(s),
    "dft": lambda s, p: jsp.linalg.dft(4, scale="sqrtn") @ s,
    "eigh": lambda s, p: jsp.linalg.eigh(p, eigvals_only=True),
    "eigh_tridiagonal": lambda s, p: jsp.linalg.eigh_tridiagonal(s[0], p[0, :3], eigvals_only=True),
    "expm": lambda s, p: jsp.linalg.expm(s),
    "expm_frechet": lambda s, p: jsp.linalg.expm_frechet(s, p),
    "funm": lambda s, p: jsp.linalg.funm(s, jnp.sin),
    "hessenberg": lambda s, p: jsp.linalg.hessenberg(s, calc_q=True),
    "hilbert": lambda s, p: jsp.linalg.hilbert(4) @ s,
    "inv": lambda s, p: jsp.linalg.inv(s),
    "lu": lambda s, p: jsp.linalg.lu(s),
    "lu_solve": lambda s, p: jsp.linalg.lu_solve(jsp.linalg.lu_factor(s), p),
    "polar": lambda s, p: jsp.linalg.polar(s, method="svd"),
    "qr": lambda s, p: jsp.linalg.qr(s, mode="economic"),
    "schur": lambda s, p: jsp.linalg.schur(s),
    "solve": lambda s, p: jsp.linalg.solve(p, s, assume_a="pos"),
    "solve_sylvester": lambda s, p: jsp.linalg.solve_sylvester(s, p, s),
    "solve_triangular": lambda s, p: jsp.linalg.solve_triangular(s, p, trans=1, lower=True),
    "sqrtm": lambda s, p: jsp.linalg.sqrtm(p),
    "svd": lambda s, p: jsp.linalg.svd(s, compute_uv=False),
    "toeplitz": lambda s, p: jsp.linalg.toeplitz(s[0], p[0]),
}
LINALG["qr_multiply"] = lambda s, p: jsp.linalg.qr_multiply(s, p)
LINALG["rsf2csf"] = lambda s, p: jsp.linalg.rsf2csf(s, p)
IN_PLAIN_OPS = {"block_diag", "dft", "hilbert", "toeplitz"}
for name, function in LINALG.items():
    theme.add(f"linalg-{name}", function, S, P, runnable=name in IN_PLAIN_OPS)

SPECIAL_MATRICES = "circulant companion fiedler fiedler_companion hankel".split()
for name in SPECIAL_MATRICES:
    theme.add(f"linalg-{name}", getattr(jsp.linalg, name), 1 + f32(5))
theme.add("linalg-leslie", jsp.linalg.leslie, f32(4), f32(3))
theme.add(
    "linalg-convolution_matrix", lambda x: jsp.linalg.convolution_matrix(x, 4, "same"), f32(3)
)
for name in "hadamard helmert invhilbert invpascal pascal".split():
    function = getattr(jsp.linalg, name)
    theme.add(f"linalg-{name}", lambda x, f=function: f(4) * x, f32(1))

SIGNAL = {
    "convolve": lambda x: jsp.signal.convolve(x, x[:5], mode="same"),
    "convolve-fft": lambda x: jsp.signal.convolve(x, x[:5], method="fft"),
    "convolve2d": lambda x: jsp.signal.convolve2d(x.reshape(8, 8), x[:9].reshape(3, 3)),
    "correlate": lambda x: jsp.signal.correlate(x, x[:5]),
    "correlate2d": lambda x: jsp.signal.correlate2d(
        x.reshape(8, 8), x[:9].reshape(3, 3), mode="valid"
    ),
    "csd": lambda x: jsp.signal.csd(x, x[::-1], nperseg=16),
    "detrend": lambda x: jsp.signal.detrend(x, type="constant"),
    "detrend-linear": lambda x: jsp.signal.detrend(x),
    "fftconvolve": lambda x: jsp.signal.fftconvolve(x, x[:5]),
    "istft": lambda x: jsp.signal.istft(jsp.signal.stft(x, nperseg=16)[2], nperseg=16),
    "stft": lambda x: jsp.signal.stft(x, nperseg=16, noverlap=5),
    "welch": lambda x: jsp.signal.welch(x, nperseg=16),
    "dct": lambda x: [jsp.fft.dct(x, type=2, norm=n) for n in (None, "ortho")],
    "dctn": lambda x: jsp.fft.dctn(x.reshape(8, 8)),
    "idct": lambda x: jsp.fft.idct(x),
    "idctn": lambda x: jsp.fft.idctn(x.reshape(8, 8)),
}
for name, function in SIGNAL.items():
    theme.add(f"signal-{name}", function, f32(64), runnable=name != "detrend-linear")

for mode in "constant nearest wrap mirror reflect".split():
    theme.add(
        f"ndimage-map_coordinates-{mode}",
        lambda x, c, m=mode: jsp.ndimage.map_coordinates(x, c, order=1, mode=m, cval=0.5),
        f32(5, 7),
        8 * f32(2, 3),
    )
theme.add(
    "ndimage-map_coordinates-nearest-neighbour",
    lambda x, c: jsp.ndimage.map_coordinates(x, c, order=0),
    f32(5, 7),
    8 * f32(2, 3),
)
for method in "linear nearest".split():
    theme.add(
        f"interpolate-{method}",
        lambda values, points, m=method: jsp.interpolate.RegularGridInterpolator(
            (np.arange(5.0), np.arange(7.0)), values, method=m, bounds_error=False, fill_value=None
        )(points),
        f32(5, 7),
        4 * f32(3, 2),
    )
theme.add("cluster-vq", jsp.cluster.vq.vq, f32(11, 3), f32(4, 3))
theme.add("integrate-trapezoid", jsp.integrate.trapezoid, f32(7), np.sort(f32(7)))
theme.add(
    "spatial-rotation",
    lambda q, x: jsp.spatial.transform.Rotation.from_quat(q).apply(x),
    f32(4),
    f32(3),
)
theme.add(
    "spatial-slerp",
    lambda q, t: jsp.spatial.transform.Slerp.init(
        jnp.arange(2.0), jsp.spatial.transform.Rotation.from_quat(q)
    )(t).as_quat(),
    f32(2, 4),
    f32(3),
)
theme.add(
    "optimize-minimize",
    lambda x: jsp.optimize.minimize(lambda v: ((v - 1) ** 2).sum(), x, method="BFGS").x,
    f32(3),
)
for name in "cg gmres bicgstab".split():
    solver = getattr(jsp.sparse.linalg, name)
    theme.add(
        f"sparse-{name}",
        lambda a, b, f=solver: f(lambda v: a @ v, b, maxiter=3)[0],
        P,
        f32(4),
        runnable=name != "gmres",
    )
