"""The application examples of the Linnea paper, written naively.

Barthels, Psarras and Bientinesi, "Linnea: Automatic Generation of Efficient Linear Algebra
Programs" (ACM Transactions on Mathematical Software 47, 2021). As there, properties of arguments
are stated; inverses are written as inverses. Sizes are smaller by a factor of two to four.
"""

import jax.numpy as jnp
from benchmarks.algebra.table import program
from benchmarks.arrays import definite, lower, normal, regular, uniform

import plimsoll

LINNEA = "Linnea"
inv = jnp.linalg.inv


def spd(matrix):
    return plimsoll.assume(matrix, "positive definite")


def low(matrix):
    return plimsoll.assume(matrix, "lower triangular")


def sym(matrix):
    return plimsoll.assume(matrix, "symmetric")


@program(LINNEA, "least squares")
def least_squares(n=1500, m=500):
    return (lambda x, y: inv(x.T @ x) @ x.T @ y), [normal(n, m), normal(n, seed=1)]


@program(LINNEA, "generalised least squares")
def generalised_least_squares(n=1500, m=500):
    def solution(s, x, y):
        s = spd(s)
        return inv(x.T @ inv(s) @ x) @ x.T @ inv(s) @ y

    return solution, [definite(n), normal(n, m), normal(n, seed=1)]


@program(LINNEA, "optimisation 1")
def optimisation_1(n=1500, m=700):
    def solution(a, d, b, c):
        w = jnp.diag(d)
        return w @ (a.T @ inv(a @ w @ a.T) @ b - c)

    return solution, [normal(m, n), uniform(n) + 0.5, normal(m, seed=1), normal(n, seed=2)]


@program(LINNEA, "optimisation 2")
def optimisation_2(n=1500, m=700):
    def solution(a, d, b, c, x):
        w = jnp.diag(d)
        forward = w @ a.T @ inv(a @ w @ a.T) @ (b - a @ x)
        return forward, w @ (a.T @ inv(a @ w @ a.T) @ a @ x - c)

    vectors = [normal(m, seed=1), normal(n, seed=2), normal(n, seed=3)]
    return solution, [normal(m, n), uniform(n) + 0.5, *vectors]


@program(LINNEA, "signal processing")
def signal_processing(n=1000):
    def solution(a, b, r, d, y):
        gram = inv(a).T @ b.T @ b @ inv(a)
        return inv(gram + r.T @ jnp.diag(d) @ r) @ gram @ y

    matrices = [regular(n), regular(n, seed=1), regular(n, seed=2)[:-1]]
    return solution, [*matrices, uniform(n - 1) + 0.5, normal(n, seed=3)]


@program(LINNEA, "inversion of a triangular matrix by blocks")
def triangular_inversion(n=1000, m=200):
    def blocks(l00, l11, l22, l21, l10, l20):
        l00, l11, l22 = low(l00), low(l11), low(l22)
        return l10 @ inv(l00), l20 + inv(l22) @ l21 @ inv(l11) @ l10, inv(l11), -inv(l22) @ l21

    factors = [lower(n), lower(m, seed=1), lower(n, seed=2)]
    return blocks, [*factors, normal(n, m), normal(m, n, seed=1), normal(n, n, seed=2)]


@program(LINNEA, "ensemble Kalman filter 1")
def ensemble_1(n=1000, k=200):
    def analysis(b, h, r, y, x):
        return x + inv(inv(spd(b)) + h.T @ inv(spd(r)) @ h) @ (y - h @ x)

    return analysis, [
        definite(n),
        regular(n, seed=1),
        definite(n, seed=2),
        normal(n, k, seed=3),
        normal(n, k, seed=4),
    ]


@program(LINNEA, "ensemble Kalman filter 2")
def ensemble_2(n=1500, m=500, k=200):
    def increment(b, h, r, y, x):
        r = spd(r)
        return inv(inv(spd(b)) + h.T @ inv(r) @ h) @ h.T @ inv(r) @ (y - h @ x)

    return increment, [
        definite(n),
        normal(m, n) / n**0.5,
        definite(m, seed=1),
        normal(m, k, seed=2),
        normal(n, k, seed=3),
    ]


@program(LINNEA, "ensemble Kalman filter 3")
def ensemble_3(n=1500, m=500, k=200):
    def increment(h, r, y, x, xb):
        x = low(x)
        inner = spd(r) + h @ x @ (h @ x).T
        return x @ (h @ x).T @ inv(inner) @ (y - h @ xb)

    return increment, [
        normal(m, n) / n**0.5,
        definite(m, seed=1),
        normal(m, k, seed=2),
        lower(n),
        normal(n, k, seed=3),
    ]


@program(LINNEA, "image restoration 1")
def restoration_1(n=1500, m=500):
    def step(h, y, v, u, weight):
        weight = plimsoll.assume(weight, "positive")
        return inv(h.T @ h + weight * jnp.eye(n)) @ (h.T @ y + weight * (v - u))

    arguments = [normal(m, n) / n**0.5, normal(m, seed=1), normal(n, seed=2), normal(n, seed=3)]
    return step, [*arguments, uniform() + 0.5]


@program(LINNEA, "image restoration 2")
def restoration_2(n=1500, m=500):
    def step(h, y, x):
        inverse = h.T @ inv(h @ h.T)
        return inverse, inverse @ y + (jnp.eye(n) - inverse @ h) @ x

    return step, [normal(m, n) / n**0.5, normal(m, seed=1), normal(n, seed=2)]


def randomised(n, q):
    return [definite(n), normal(n, q), regular(n, seed=1), regular(n, seed=2)]


@program(LINNEA, "randomised inversion 1")
def randomised_inversion_1(n=1000, q=100):
    def step(w, s, a, x):
        w = spd(w)
        middle = s @ inv(s.T @ a @ w @ a.T @ s) @ s.T
        return middle, x + w @ a.T @ middle @ (jnp.eye(n) - a @ x)

    return step, randomised(n, q)


@program(LINNEA, "randomised inversion 2")
def randomised_inversion_2(n=1000, q=100):
    def step(w, s, a, x):
        w = spd(w)
        middle = s @ inv(s.T @ a.T @ w @ a @ s) @ s.T
        return middle, x + (jnp.eye(n) - x @ a.T) @ middle @ a.T @ w

    return step, randomised(n, q)


@program(LINNEA, "randomised inversion 3")
def randomised_inversion_3(n=1000, q=100):
    def step(w, s, a, x):
        w, a, x = spd(w), sym(a), sym(x)
        middle = s @ inv(s.T @ a @ w @ a @ s) @ s.T
        right = middle @ a @ w
        left = x @ a - jnp.eye(n)
        return (
            x - left @ right - (left @ right).T + right.T @ (a @ x @ a - a) @ right,
            middle,
            right,
            left,
        )

    w, s, a, x = randomised(n, q)
    return step, [w, s, a + a.T, x + x.T]


@program(LINNEA, "randomised inversion 4")
def randomised_inversion_4(n=1000, q=100):
    def step(s, a, x):
        a, x = spd(a), sym(x)
        middle = s @ inv(s.T @ a @ s) @ s.T
        eye = jnp.eye(n)
        return middle + (eye - middle @ a) @ x @ (eye - a @ middle)

    w, s, _, x = randomised(n, q)
    return step, [s, w, x + x.T]


def newton(m, n, k):
    return [normal(m, k) / m**0.5, normal(m, n, seed=1) / m**0.5]


@program(LINNEA, "stochastic Newton 1")
def stochastic_newton_1(m=1500, n=500, k=300):
    def step(w, a, b, count):
        b = spd(b)
        inner = (count - 1) * jnp.eye(k) + w.T @ a @ b @ a.T @ w
        update = jnp.eye(n) - a.T @ w @ inv(inner) @ w.T @ a @ b
        return count / (count - 1) * b @ update

    return step, [*newton(m, n, k), definite(n), uniform() + 3]


@program(LINNEA, "stochastic Newton 2")
def stochastic_newton_2(m=1500, n=500, k=300):
    def step(w, a, weight):
        weight = plimsoll.assume(weight, "positive")
        inner = weight * jnp.eye(k) + w.T @ a @ a.T @ w
        return (jnp.eye(n) - a.T @ w @ inv(inner) @ w.T @ a) / weight

    return step, [*newton(m, n, k), uniform() + 0.5]


@program(LINNEA, "Tikhonov regularisation 1")
def tikhonov_1(n=1500, m=200):
    def solution(a, g, b):
        return inv(a.T @ a + g.T @ g) @ a.T @ b

    return solution, [normal(n, m), regular(m), normal(n, seed=1)]


@program(LINNEA, "Tikhonov regularisation 2")
def tikhonov_2(n=1500, m=200):
    def solution(a, b, weight):
        weight = plimsoll.assume(weight, "positive")
        return inv(a.T @ a + weight * jnp.eye(m)) @ a.T @ b

    return solution, [normal(n, m), normal(n, seed=1), uniform() + 0.5]


@program(LINNEA, "generalised Tikhonov regularisation 1")
def tikhonov_3(n=1500, m=200):
    def solution(a, p, q, b, x):
        p, q = spd(p), spd(q)
        return inv(a.T @ p @ a + q) @ (a.T @ p @ b + q @ x)

    return solution, [normal(n, m), definite(n), definite(m), normal(n, seed=1), normal(m, seed=2)]


def _tikhonov_by_hand(a, p, q, b, x):
    """From the right. Written as below, XLA multiplies matrices, which it sums in blocks: that is
    slower and, here, more exact than with vectors. The result is a small rest of large terms."""
    right = a.T @ (p @ (b - a @ x))
    return x + jnp.linalg.solve(a.T @ p @ a + q, right)


@program(LINNEA, "generalised Tikhonov regularisation 2", by_hand=_tikhonov_by_hand)
def tikhonov_4(n=1500, m=200):
    def solution(a, p, q, b, x):
        p, q = spd(p), spd(q)
        return x + inv(a.T @ p @ a + q) @ a.T @ p @ (b - a @ x)

    return solution, [normal(n, m), definite(n), definite(m), normal(n, seed=1), normal(m, seed=2)]


def estimator(n, m):
    matrices = [normal(m, n) / n**0.5, definite(n), definite(m, seed=1)]
    return [*matrices, normal(m, seed=2), normal(n, seed=3)]


@program(LINNEA, "LMMSE estimator 1")
def lmmse_1(n=1000, m=700):
    def estimate(a, cx, cz, y, x):
        cx, cz = spd(cx), spd(cz)
        return cx @ a.T @ inv(a @ cx @ a.T + cz) @ (y - a @ x) + x

    return estimate, estimator(n, m)


@program(LINNEA, "LMMSE estimator 2")
def lmmse_2(n=1000, m=700):
    def estimate(a, cx, cz, y, x):
        cx, cz = spd(cx), spd(cz)
        return inv(a.T @ inv(cz) @ a + inv(cx)) @ a.T @ inv(cz) @ (y - a @ x) + x

    return estimate, estimator(n, m)


def gain_step(a, covariance, noise, y, x):
    covariance = spd(covariance)
    gain = covariance @ a.T @ inv(a @ covariance @ a.T + spd(noise))
    return gain, x + gain @ (y - a @ x), (jnp.eye(len(x)) - gain @ a) @ covariance


@program(LINNEA, "LMMSE estimator 3")
def lmmse_3(n=1000, m=700):
    return gain_step, estimator(n, m)


@program(LINNEA, "Kalman filter")
def kalman_filter(n=400):
    return gain_step, estimator(n, n)
