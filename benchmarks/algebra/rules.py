"""One program for each rule, measured with all others switched off."""

import jax
import jax.numpy as jnp
import numpy as np
from benchmarks.algebra.table import program
from benchmarks.arrays import definite, integers, lower, normal, regular

import plimsoll

RULES = "One rule at a time"


def rule(title: str):
    """The decorated function has the rule's name."""
    return program(RULES, title)


@rule("two of four stacked arrays")
def slice_of_concatenate(n=4_000_000):
    def read(a, b, c, d):
        state = jnp.stack([a, b, c, d])
        return jnp.sin(state[0]) * state[2, ::2].sum()

    return read, [normal(n, seed=seed) for seed in range(4)]


@rule("tanh of two arrays at once")
def elementwise_of_concatenate(n=4_000_000):
    def both(a, b):
        made = jnp.tanh(jnp.concatenate([a, b]))
        return made[:n] @ a, made[n:]

    return both, [normal(n), normal(n, seed=1)]


@rule("the sum of two arrays' elements")
def reduce_of_concatenate(n=8_000_000):
    def total(a, b):
        return jnp.sum(jnp.concatenate([a * a, jnp.sin(b)]))

    return total, [normal(n), normal(n, seed=1)]


@rule("[A B] [x; y]")
def dot_of_concatenate(n=4000):
    def product(a, b, x, y):
        return jnp.concatenate([a, b], axis=1) @ jnp.concatenate([x, y])

    return product, [normal(n, n), normal(n, n, seed=1), normal(n), normal(n, seed=1)]


@rule("a pendulum whose angle and speed are stacked")
def concatenated_loop_state(n=500_000, turns=64):
    def swing(state):
        def step(_, state):
            angle, speed = state
            speed = speed - 0.01 * jnp.sin(angle)
            return jnp.stack([angle + 0.01 * speed, speed])

        return jax.lax.fori_loop(0, turns, step, state)[0]

    return swing, [normal(2, n)]


@rule("the largest hash of a row's positions")
def narrow_integers(n=6000):
    def largest(a):
        with jax.enable_x64(True):
            rows = jax.lax.broadcasted_iota("uint64", (n, n), 0)
            positions = rows * n + jax.lax.broadcasted_iota("uint64", (n, n), 1)
            hashed = (positions * 2654435761 ^ 40503).astype("uint32")
        return jnp.max(hashed ^ a.astype("uint32")[:, None], axis=1)

    return largest, [integers(1 << 30, n)]


@rule("the largest random bits of rows")
def shift_to_zero(n=3000):
    def largest(seed):
        return jnp.max(jax.random.bits(jax.random.key(seed[0]), (n, n)), axis=1)

    return largest, [integers(100, 1)]


@rule("padded for a stencil of which the middle is used")
def slice_of_pad(n=4000):
    return lambda a: jnp.pad(a, 1)[1:-1, 1:-1] * 2, [normal(n, n)]


@rule("rows, then columns, then every other one")
def slice_of_slice(n=4000):
    return lambda a: jnp.sin(a[10:][:, 5:][::2]), [normal(n, n)]


@rule("three columns of what is broadcast")
def slice_of_view(n=4000):
    def read(a):
        return jnp.cumsum(jnp.broadcast_to(jnp.exp(a)[:, None], (n, n))[:, :3], axis=0)

    return read, [normal(n)]


@rule("every other row, by an array of indices")
def gather_of_constant(n=1000):
    return lambda a: a[np.arange(0, n, 2)] * 2, [normal(n, 16_000)]


@rule("4,096 rows of a table of 8,192")
def one_hot_product(n=4096, classes=8192):
    return lambda i, w: jax.nn.one_hot(i, classes) @ w, [integers(classes, n), normal(classes, 64)]


@rule("cross-entropy by a one-hot matrix")
def one_hot_sum(n=4096, classes=8192):
    def loss(labels, x):
        return -jnp.sum(jax.nn.one_hot(labels, classes) * x, axis=-1).mean()

    return loss, [integers(classes, n), normal(n, classes)]


@rule("the gradient of a score of each row")
def scatter_as_select(n=4096, classes=8192):
    def scores(i, x):
        return jnp.sum(jnp.take_along_axis(x, i[:, None], axis=1) ** 2)

    return (
        lambda i, x: x - 0.1 * jax.grad(scores, argnums=1)(i, x),
        [integers(classes, n), normal(n, classes)],
    )


@rule("sums of rows by label")
def one_hot_transposed_product(n=4096, classes=8192):
    return lambda i, x: jax.nn.one_hot(i, classes).T @ x, [integers(classes, n), normal(n, 64)]


@rule("the sum of row sums")
def sum_of_sum(n=4000):
    return lambda a: jnp.sum(jnp.sum(a.T, axis=0)), [normal(n, n)]


@rule("the sum of equal columns")
def sum_of_broadcast(n=8000):
    def total(v):
        return jnp.sum(jnp.broadcast_to(jnp.exp(v)[:, None], (n, n)), axis=1)

    return total, [normal(n)]


@rule("row sums of scaled rows")
def sum_through_product(n=4000):
    return lambda a, v: jnp.sum(a * jnp.exp(v)[:, None], axis=1), [normal(n, n), normal(n)]


@rule("row sums of what is padded to twice the width")
def reduce_of_pad(n=4000):
    return lambda a: jnp.sum(jnp.pad(a, ((0, 0), (0, n))), axis=1), [normal(n, n)]


@rule("the largest exponential of each row")
def max_of_monotone(n=4000):
    return lambda a: jnp.max(jnp.exp(a), axis=1), [normal(n, n)]


@rule("squared distances of points on a grid")
def distance_expand(n=1500):
    def distances(x, y):
        return jnp.sum((x[:, None] - y[None]) ** 2, axis=-1)

    return distances, [integers(1000, n, 64), integers(1000, n, 64, seed=1)]


@rule("A B v")
def reorder_products(n=2000):
    return lambda a, b, v: a @ b @ v, [normal(n, n), normal(n, n, seed=1), normal(n)]


@rule("diag(d) A")
def diagonal_products(n=2000):
    return lambda d, a: jnp.diag(d) @ a, [normal(n), normal(n, n)]


@rule("(A ⊗ B) x")
def kronecker_products(n=64):
    return lambda a, b, x: jnp.kron(a, b) @ x, [normal(n, n), normal(n, n, seed=1), normal(n * n)]


@rule("the scores of the right classes alone")
def gather_of_product(n=4096, classes=8192):
    def scores(labels, x, w):
        return jnp.take_along_axis(x @ w, labels[:, None], axis=1)

    return scores, [integers(classes, n), normal(n, 64), normal(64, classes)]


@rule("the last row of A B")
def slice_of_product(n=2000):
    return lambda a, b: (a @ b)[-1], [normal(n, n), normal(n, n, seed=1)]


@rule("log-softmax at the labels")
def gather_of_elementwise(n=4096, classes=8192):
    def loss(labels, x):
        return -jax.nn.log_softmax(x)[jnp.arange(n), labels].mean()

    return loss, [integers(classes, n), normal(n, classes)]


@rule("every fiftieth column of tanh(A)")
def slice_of_elementwise(n=4000):
    return lambda a, b: jnp.tanh(a + b)[:, ::50], [normal(n, n), normal(n)]


@rule("softmax(S) V")
def softmax_product(n=4000):
    return lambda s, v: jax.nn.softmax(s) @ v, [normal(n, n), normal(n, 16)]


@rule("(K + U U') v of a kernel of points")
def product_of_sum(n=4000):
    def product(x, u, v):
        return (jnp.exp(x @ x.T) + jnp.exp(u) @ jnp.exp(u).T) @ v

    return product, [normal(n, 4) / 4, normal(n, 64, seed=1), normal(n, 16)]


@rule("A + A' of a kernel of points")
def symmetric_transpose(n=4000):
    def both(x):
        kernel = jnp.exp(x @ x.T)
        return kernel + kernel.T

    return both, [normal(n, 4) / 4]


@rule("A x and x' A of a stated A")
def symmetric_product(n=4000):
    def both(a, x):
        a = plimsoll.assume(a, "symmetric")
        return a @ x, x @ a

    return both, [definite(n), normal(n)]


@rule("inv(A) b")
def inverse_times(n=1000):
    return lambda a, b: jnp.linalg.inv(a) @ b, [regular(n), normal(n)]


@rule("inv(L) B by a solve with the identity")
def triangular_inverse_times(n=1500):
    def product(a, b):
        inverse = jax.scipy.linalg.solve_triangular(a, jnp.eye(n), lower=True)
        return inverse @ b

    return product, [lower(n), normal(n, 8)]


@rule("y' inv(K) y by a Cholesky factorisation")
def quadratic_form(n=1000):
    def form(k, y):
        factor = jax.scipy.linalg.cho_factor(k, lower=True)
        return jnp.sum(y * jax.scipy.linalg.cho_solve(factor, y))

    return form, [definite(n), normal(n, n)]


@rule("ridge regression by a solve")
def positive_definite_solve(n=1000):
    def ridge(x, y):
        return jnp.linalg.solve(x.T @ x + jnp.eye(n), x.T @ y)

    return ridge, [normal(n, n), normal(n)]


@rule("solves with A and with its transpose")
def shared_factor(n=1000):
    def solves(a, b, c):
        return jnp.linalg.solve(a, b), jnp.linalg.solve(a.T, c)

    return solves, [regular(n), normal(n), normal(n, seed=1)]


@rule("log(det(K))")
def logdet_of_factor(n=1000):
    def logarithm(k):
        sign, log_determinant = jnp.linalg.slogdet(k)
        return jnp.log(jnp.abs(sign) * jnp.exp(log_determinant / n))

    return logarithm, [definite(n)]
