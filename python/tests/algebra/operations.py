"""What is done with matrices: products, solves, reductions, pieces, and element by element."""

from __future__ import annotations

import math
import string

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import cho_factor, cho_solve, solve_triangular

from algebra.build import INDEX, Builder, Unfit
from algebra.matrices import invertible, of_shape, vector


def product(g: Builder) -> None:
    x = g.pick(lambda s: s.rank in (1, 2))
    inner = g.shape(x)[-1]
    other = (inner,) if g.chance(0.35) else (inner, g.size())
    y = of_shape(g, other)
    scale = g.scale(x, y) * math.sqrt(max(1, inner))
    tags = []
    if g.shape(x) == g.shape(y) and all("invertible" in g.tags[i] for i in (x, y)):
        tags = ["invertible"]
    if len(other) == 2 and g.chance(0.3) and g.shape(x) == g.shape(y):
        g.add("a.T @ b", [x, y], lambda a, b: a.T @ b, scale, tags)
    else:
        g.add("a @ b", [x, y], lambda a, b: a @ b, scale, tags)


def chain(g: Builder) -> None:
    """A product of several matrices, often with a vector at its end."""
    sizes = [g.size() for _ in range(g.integer(3, 5))]
    operands = []
    flipped = []
    for rows, columns in zip(sizes, sizes[1:], strict=False):
        flipped.append(g.chance(0.3))
        operands.append(of_shape(g, (columns, rows) if flipped[-1] else (rows, columns)))
    has_vector = g.chance(0.6)
    if has_vector:
        operands.append(vector(g, sizes[-1]))
        flipped.append(False)
    from_left = g.chance(0.7)

    def run(*factors):
        factors = [f.T if flip else f for f, flip in zip(factors, flipped, strict=True)]
        if not from_left:
            factors = factors[::-1]
        result = factors[0]
        for factor in factors[1:]:
            result = result @ factor if from_left else factor @ result
        return result

    scale = g.scale(*operands) * math.sqrt(max(1, math.prod(sizes[1:])))
    g.add(f"chain(from left {from_left}, flipped {flipped})", operands, run, scale)


def transposed(g: Builder) -> None:
    x = g.pick(lambda s: s.rank >= 2)
    order = list(map(int, g.rng.permutation(len(g.shape(x)))))
    swap = {"lower": "upper", "upper": "lower"}
    tags = [swap.get(tag, tag) for tag in g.tags[x]] if order == [1, 0] else []
    g.add(f"transpose{order}", [x], lambda a: jnp.transpose(a, order), g.scale(x), tags)


def plus(g: Builder) -> None:
    x = g.pick()
    y = of_shape(g, g.shape(x))
    first, second = g.number(), g.number()
    run = g.choice(
        [
            lambda a, b: a + b,
            lambda a, b: a - b,
            lambda a, b: a * jnp.asarray(first, a.dtype) + b * jnp.asarray(second, b.dtype),
        ]
    )
    g.add(f"a + b ({first}, {second})", [x, y], run, g.scale(x) + g.scale(y))


def scaled(g: Builder) -> None:
    x = g.pick()
    number = g.number()
    kind = g.choice(["constant", "scalar", "negative", "quotient"])
    tags = g.tags[x] - {"definite"} if kind != "scalar" else ()
    if kind == "scalar":
        y = of_shape(g, ())
        g.add("s * a", [x, y], lambda a, s: s * a, g.scale(x, y))
    elif kind == "negative":
        g.add("-a", [x], lambda a: -a, g.scale(x), tags)
    elif kind == "quotient" and not g.is_integer:
        run = lambda a: a / jnp.asarray(number, a.dtype)  # noqa: E731
        g.add(f"a / {number}", [x], run, g.scale(x) / abs(number), tags)
    else:
        run = lambda a: jnp.asarray(number, a.dtype) * a  # noqa: E731
        g.add(f"{number} * a", [x], run, g.scale(x) * abs(number), tags)


def times(g: Builder) -> None:
    """Element by element, also along rows and columns."""
    x = g.pick(lambda s: s.rank >= 1)
    shape = g.shape(x)
    axis = g.integer(0, len(shape) - 1)
    if g.chance(0.3):
        y = of_shape(g, shape)
        g.add("a * b", [x, y], lambda a, b: a * b, g.scale(x, y))
        return
    y = vector(g, shape[axis])
    places = [1] * len(shape)
    places[axis] = -1

    def run(a, v):
        return a * v.reshape(places)

    g.add(f"scaled along {axis}", [x, y], run, g.scale(x, y))


def einsum(g: Builder) -> None:
    letters = string.ascii_lowercase[: g.integer(2, 5)]
    sizes = {letter: g.size() for letter in letters}
    terms = [
        "".join(g.rng.permutation(list(letters))[: g.integer(1, 3)]) for _ in range(g.integer(2, 4))
    ]
    if g.chance(0.15):
        # The diagonal of a matrix.
        terms[0] = letters[0] * 2
    used = sorted(set("".join(terms)))
    kept = "".join(g.rng.permutation(used)[: g.integer(0, min(2, len(used)))])
    if math.prod(sizes[letter] for letter in used) > 200_000_000:
        raise Unfit
    operands = [of_shape(g, tuple(sizes[letter] for letter in term)) for term in terms]
    summed = math.prod(sizes[letter] for letter in used if letter not in kept)
    formula = ",".join(terms) + "->" + kept
    optimize = g.choice([True, False])

    def run(*values):
        return jnp.einsum(formula, *values, optimize="optimal" if optimize else "greedy")

    g.add(f"einsum({formula})", operands, run, g.scale(*operands) * math.sqrt(max(1, summed)))


def of_kronecker(g: Builder) -> None:
    (m, n, p, q) = (g.choice([1, 2, 3, 5, 7, 11, 13]) for _ in range(4))
    a, b = g.input((m, n)), g.input((p, q))
    is_left = g.chance(0.7)
    inner = n * q if is_left else m * p
    x = vector(g, inner) if g.chance(0.7) else of_shape(g, (inner, 3) if is_left else (3, inner))

    def run(a, b, x):
        return jnp.kron(a, b) @ x if is_left else x @ jnp.kron(a, b)

    g.add(f"kron @ x (left {is_left})", [a, b, x], run, math.sqrt(inner) * g.scale(x))


def inverse(g: Builder) -> None:
    _no_integers(g)
    x = invertible(g)
    g.add("inv", [x], jnp.linalg.inv, g.scale(x), g.tags[x])


def solve(g: Builder) -> None:
    """One of the ways to write inv(A) B."""
    _no_integers(g)
    x = invertible(g)
    n = g.shape(x)[0]
    y = of_shape(g, (n,) if g.chance(0.5) else (n, g.choice([1, 2, 5, n])))
    ways = {
        "inv(a) @ b": lambda a, b: jnp.linalg.inv(a) @ b,
        "solve(a, b)": jnp.linalg.solve,
        "solve(a.T, b)": lambda a, b: jnp.linalg.solve(a.T, b),
        "inv(a).T @ b": lambda a, b: jnp.linalg.inv(a).T @ b,
        "b.T @ inv(a)": lambda a, b: b.T @ jnp.linalg.inv(a),
        "inv(a) @ (a.T @ b)": lambda a, b: jnp.linalg.inv(a) @ (a.T @ b),
        "b.T @ inv(a) @ b": lambda a, b: b.T @ jnp.linalg.inv(a) @ b / n,
        "b.T @ solve(a, b)": lambda a, b: b.T @ jnp.linalg.solve(a, b) / n,
        "sum(b * solve(a, b))": lambda a, b: jnp.sum(b * jnp.linalg.solve(a, b)) / n,
    }
    if "definite" in g.tags[x]:
        ways |= {
            "cho_solve": lambda a, b: cho_solve(cho_factor(a), b),
            "b.T @ cho_solve": lambda a, b: b.T @ cho_solve(cho_factor(a, lower=True), b) / n,
            "solve(pos)": lambda a, b: jax.scipy.linalg.solve(a, b, assume_a="pos"),
            "inv by halves": lambda a, b: _by_halves(jnp.linalg.cholesky(a), b),
        }
    for tag, is_lower in (("lower", True), ("upper", False)):
        if tag in g.tags[x]:
            ways |= {
                f"solve_triangular({tag})": lambda a, b, is_lower=is_lower: solve_triangular(
                    a, b, lower=is_lower
                ),
                f"solve_triangular({tag}, T)": lambda a, b, is_lower=is_lower: solve_triangular(
                    a, b, lower=is_lower, trans=1
                ),
            }
    name = g.choice(sorted(ways))
    # An inverse is about as large as the matrix is, if it is well conditioned.
    g.add(name, [x, y], ways[name], g.scale(y))


def _by_halves(lower, b):
    half = solve_triangular(lower, b, lower=True)
    return half.T @ half / b.shape[0]


def determinant(g: Builder) -> None:
    _no_integers(g)
    x = invertible(g)
    ways = {"slogdet": lambda a: jnp.linalg.slogdet(a)[1], "log(s exp(y))": _log_of_determinant}
    if "definite" in g.tags[x]:
        ways["log(det)"] = lambda a: jnp.log(jnp.linalg.det(a))
        ways["sum(log(diag(chol)))"] = lambda a: jnp.sum(jnp.log(jnp.diag(jnp.linalg.cholesky(a))))
    name = g.choice(sorted(ways))
    if g.is_complex:
        # Its result is real.
        raise Unfit
    g.add(name, [x], ways[name], float(g.shape(x)[0]))


def _log_of_determinant(a):
    sign, logarithm = jnp.linalg.slogdet(a)
    return jnp.log(jnp.abs(sign) * jnp.exp(logarithm))


def both_solves(g: Builder) -> None:
    """A solve, and one with the transpose, as in a gradient."""
    _no_integers(g)
    x = invertible(g)
    n = g.shape(x)[0]
    y, z = vector(g, n), vector(g, n)

    def run(a, b, c):
        return jnp.linalg.solve(a, b), jnp.linalg.solve(a.T, c)

    g.add_all("solve(a, b), solve(a.T, c)", [x, y, z], run, max(g.scale(y), g.scale(z)))


def trace(g: Builder) -> None:
    x = g.pick(lambda s: s.rank == 2)
    n = min(g.shape(x))
    offset = g.integer(-1, 1) if g.chance(0.3) else 0
    g.add(f"trace({offset})", [x], lambda a: jnp.trace(a, offset), g.scale(x) * math.sqrt(n + 1))


def diagonal_of(g: Builder) -> None:
    x = g.pick(lambda s: s.rank >= 2)
    last = len(g.shape(x)) - 1
    g.add("diagonal", [x], lambda a: jnp.diagonal(a, axis1=last - 1, axis2=last), g.scale(x))


def reduced(g: Builder) -> None:
    x = g.pick(lambda s: s.rank >= 1)
    shape = g.shape(x)
    axes = tuple(sorted(map(int, g.rng.permutation(len(shape))[: g.integer(1, len(shape))])))
    count = max(1, math.prod(shape[axis] for axis in axes))
    kind = g.choice(["sum", "sum", "sum", "mean", "max", "min", "norm", "prod"])
    if kind in ("max", "min") and g.is_complex or kind in ("mean", "norm") and g.is_integer:
        kind = "sum"
    if kind == "prod" and (count > 8 or g.is_smooth):
        kind = "sum"
    ways = {
        "sum": lambda a: jnp.sum(a, axes),
        "mean": lambda a: jnp.mean(a, axes),
        "max": lambda a: jnp.max(a, axes),
        "min": lambda a: jnp.min(a, axes),
        "prod": lambda a: jnp.prod(a, axes),
        "norm": lambda a: jnp.sum(a * jnp.conj(a), axes),
    }
    scales = {"sum": math.sqrt(count), "mean": 1.0, "norm": count * g.scale(x)}
    g.add(f"{kind}{axes}", [x], ways[kind], g.scale(x) * scales.get(kind, 1.0))


def of_monotone(g: Builder) -> None:
    """The maximum or minimum of what rises or falls."""
    if g.is_complex:
        raise Unfit
    x = g.pick(lambda s: s.rank >= 1 and s.size > 0)
    axis = g.integer(0, len(g.shape(x)) - 1)
    reduce = g.choice([jnp.max, jnp.min])
    ways = {"-a": lambda a: -a, "2 a + 1": lambda a: 2 * a + 1, "3 - a": lambda a: 3 - a}
    if not g.is_integer:
        ways |= {
            "exp(tanh(a))": lambda a: jnp.exp(jnp.tanh(a)),
            "sqrt(1 + a a)": lambda a: jnp.sqrt(1 + a * a),
            "a / -3": lambda a: a / -3,
            "abs(a) a a": lambda a: jnp.abs(a) ** 2,
            "logistic": jax.nn.sigmoid,
            "1 / (1 + exp(a))": lambda a: 1 / (1 + jnp.exp(jnp.tanh(a))),
        }
    name = g.choice(sorted(ways))
    way = ways[name]
    g.add(f"{reduce.__name__}({name}, {axis})", [x], lambda a: reduce(way(a), axis), g.scale(x))


def sum_of_pattern(g: Builder) -> None:
    """Sums of what is equal along them, of factors that are, and of sums."""
    x = g.pick(lambda s: s.rank in (1, 2) and s.size > 0)
    n = g.choice(size for size in g.sizes if size > 0)
    rank = len(g.shape(x))
    ways = {
        "sum(broadcast)": lambda a: jnp.sum(jnp.broadcast_to(a, (n, *a.shape)), 0),
        "sum(sum)": lambda a: jnp.sum(jnp.sum(a, -1)),
        "sum(transpose)": lambda a: jnp.sum(a.T, 0),
        "sum(a * column)": lambda a: jnp.sum(a * a[..., :1], -1),
        "sum(a + row)": lambda a: jnp.sum(a + a[0], 0),
        "sum(pad)": lambda a: jnp.sum(jnp.pad(a, [(1, 2)] * rank), -1),
        "sum of stacked": lambda a: jnp.sum(jnp.stack([a, a * a, -a]), 0),
        "sum of concatenated": lambda a: jnp.sum(jnp.concatenate([a, a * a], 0), 0),
    }
    if not g.is_complex:
        ways["max(pad)"] = lambda a: jnp.max(
            jnp.pad(a, [(0, 3)] * rank, constant_values=_least(a.dtype)), -1
        )
        ways["max of stacked"] = lambda a: jnp.max(jnp.stack([a, -a, a * a]), 0)
    if not g.is_integer:
        ways["sum(a / column)"] = lambda a: jnp.sum(a / (2 + a[..., :1] ** 2), -1)
        ways["mean(scaled)"] = lambda a: jnp.mean(0.3 * a, 0)
    name = g.choice(sorted(ways))
    count = max(1, math.prod(g.shape(x)))
    scale = {"sum(broadcast)": n, "sum(sum)": math.sqrt(count)}.get(name, 1.0) * g.scale(x)
    g.add(name, [x], ways[name], scale)


def _least(dtype):
    return jnp.iinfo(dtype).min if jnp.issubdtype(dtype, jnp.integer) else -jnp.inf


def concatenated(g: Builder) -> None:
    x = g.pick(lambda s: s.rank >= 1)
    others = [of_shape(g, g.shape(x)) for _ in range(g.integer(1, 2))]
    operands = [x, *others]
    axis = g.integer(0, len(g.shape(x)) - 1)
    scale = max(g.scale(i) for i in operands)
    if g.chance(0.4):
        g.add(f"stack({axis})", operands, lambda *v: jnp.stack(v, axis), scale)
    else:
        g.add(f"concatenate({axis})", operands, lambda *v: jnp.concatenate(v, axis), scale)


def product_of_pieces(g: Builder) -> None:
    """[A B] [x; y]"""
    first, second, rows = g.size(), g.size(), g.size()
    is_vector = g.chance(0.5)
    shapes = [(first,), (second,)] if is_vector else [(first, 3), (second, 3)]
    operands = [of_shape(g, (rows, first)), of_shape(g, (rows, second))]
    operands += [of_shape(g, shape) for shape in shapes]

    def run(a, b, x, y):
        return jnp.concatenate([a, b], 1) @ jnp.concatenate([x, y])

    scale = max(g.scale(i) for i in operands[:2]) * max(g.scale(i) for i in operands[2:])
    g.add("[a b] @ [x; y]", operands, run, scale * math.sqrt(first + second + 1))


def product_of_sum(g: Builder) -> None:
    """(A + B) x, where a product with B alone is cheap: it is diagonal or of low rank."""
    n, rank = g.choice(size for size in g.sizes if size > 0), g.integer(1, 3)
    a, u = g.input((n, n)), g.input((n, rank))
    x = of_shape(g, (n,) if g.chance(0.6) else (n, g.size()))
    matrices = {"gram": lambda a: a @ a.conj().T, "any": lambda a: a}
    if not g.is_complex:
        matrices["abs"] = jnp.abs
    terms = {
        "diagonal": lambda u: jnp.diag(u[:, 0] * u[:, 0].conj()),
        "u u.T": lambda u: u @ u.conj().T,
        "outer": lambda u: jnp.outer(u[:, 0], u[:, 0].conj()),
    }
    matrix, term = g.choice(matrices), g.choice(terms)

    def run(a, u, x):
        return (matrices[matrix](a) + terms[term](u)) @ x

    g.add(f"({matrix} + {term}) @ x", [a, u, x], run, g.scale(x) * n)


def pieces_of_computed(g: Builder) -> None:
    """What is concatenated to be computed at once, and taken apart again."""
    x = g.pick(lambda s: s.rank >= 1 and s.size > 0)
    y = of_shape(g, g.shape(x))
    size = g.shape(x)[0]
    cut = g.integer(1, 2 * size - 1)
    way = (lambda a: a * a - 3) if g.is_integer or g.is_complex else jnp.tanh

    def run(a, b):
        both = way(jnp.concatenate([a, b]))
        return both[:size], both[size:], both[1:cut][1:]

    g.add_all(f"pieces of computed, {cut}", [x, y], run, max(g.scale(x), g.scale(y)))


def piece(g: Builder) -> None:
    """A slice, in any of the ways they are written."""
    x = g.pick(lambda s: s.rank >= 1 and s.size > 0)
    shape = g.shape(x)
    axis = g.integer(0, len(shape) - 1)
    size = shape[axis]
    low = g.integer(0, size - 1)
    high = g.integer(low + 1, size)
    step = g.choice([1, 1, 2, 3])
    before = (slice(None),) * axis
    places = g.rng.integers(0, size, g.integer(1, 4)).astype(INDEX)
    ways = {
        f"[{low}:{high}:{step}]": lambda a: a[(*before, slice(low, high, step))],
        f"[{low}]": lambda a: a[(*before, low)],
        "[::-1]": lambda a: jnp.flip(a, axis),
        f"take{places.tolist()}": lambda a: jnp.take(a, places, axis),
        f"take({low}, ..., {high}, {step})": lambda a: jnp.take(
            a, np.arange(low, high, step, INDEX), axis
        ),
        f"roll {low}": lambda a: jnp.roll(a, low, axis),
        f"take, falling {low}": lambda a: jnp.take(
            a, np.arange(high - 1, low - 1, -1, INDEX), axis
        ),
        "split": lambda a: jnp.split(a, [low, high], axis)[1],
    }
    name = g.choice(sorted(ways))
    g.add(f"{name} along {axis}", [x], ways[name], g.scale(x))


def padded(g: Builder) -> None:
    x = g.pick(lambda s: s.rank >= 1)
    widths = [(g.integer(0, 3), g.integer(0, 3)) for _ in g.shape(x)]
    value = g.choice([0, 0, 1])
    run = lambda a: jnp.pad(a, widths, constant_values=value)  # noqa: E731
    g.add(f"pad{widths} with {value}", [x], run, g.scale(x))


def reshaped(g: Builder) -> None:
    x = g.pick(lambda s: s.rank >= 1)
    shape = g.shape(x)
    ways = {
        "ravel": jnp.ravel,
        "[None]": lambda a: a[None],
        "[..., None]": lambda a: a[..., None],
        "squeeze": jnp.squeeze,
        "reversed shape": lambda a: a.reshape(shape[::-1]),
        "broadcast": lambda a: jnp.broadcast_to(a[..., None], (*shape, 3)),
    }
    name = g.choice(sorted(ways))
    g.add(name, [x], ways[name], g.scale(x))


def elementwise(g: Builder) -> None:
    if g.is_integer:
        ways = {"abs": jnp.abs, "relu": lambda a: jnp.maximum(a, 0), "a & 15": lambda a: a & 15}
    elif g.is_complex:
        ways = {"conj": jnp.conj, "tanh": lambda a: a / (2 + a * jnp.conj(a))}
    else:
        ways = {
            "tanh": jnp.tanh,
            "sin": jnp.sin,
            "exp(-a a)": lambda a: jnp.exp(-a * a),
            "a a": lambda a: a**2,
            "sqrt(1 + a a)": lambda a: jnp.sqrt(1 + a * a),
            "1 / (1 + a a)": lambda a: 1 / (1 + a * a),
            "log(1 + a a)": lambda a: jnp.log(1 + a * a),
            "relu": jax.nn.relu,
            "softmax": lambda a: jax.nn.softmax(a, -1) if a.ndim and a.size else a,
            "logsumexp": lambda a: jax.nn.logsumexp(a, -1) if a.ndim and a.size else a,
            "centred": lambda a: a - jnp.mean(a, 0) if a.ndim and a.size else a,
        }
    x = g.pick()
    name = g.choice(sorted(ways))
    g.add(name, [x], ways[name], g.scale(x) if name not in ("a a",) else g.scale(x, x))


def masked(g: Builder) -> None:
    x = g.pick(lambda s: s.rank == 2)
    name, mask = g.choice(
        [
            ("tril", lambda a: jnp.tril(a)),
            ("triu", lambda a: jnp.triu(a, 1)),
            ("without diagonal", lambda a: a * (1 - jnp.eye(*a.shape, dtype=a.dtype))),
            ("where", lambda a: jnp.where(jnp.arange(a.shape[1]) % 2 == 0, a, 0)),
        ]
    )
    g.add(name, [x], mask, g.scale(x))


def distances(g: Builder) -> None:
    """Squared distances of points, in the two ways they are written."""
    x = g.pick(lambda s: s.rank == 2 and 0 < s.shape[1] <= 24)
    y = of_shape(g, (g.size(), g.shape(x)[1]))

    def by_difference(a, b):
        difference = a[:, None, :] - b[None, :, :]
        return jnp.sum(difference * difference, -1)

    def by_squares(a, b):
        return jnp.sum(a * a, 1)[:, None] + jnp.sum(b * b, 1) - 2 * a @ b.T

    def of_whole_numbers(a, b):
        return by_difference(jnp.clip(jnp.round(a), -9, 9), jnp.clip(jnp.round(b), -9, 9))

    run = g.choice([by_difference, by_squares, of_whole_numbers])
    if run is of_whole_numbers and (g.is_complex or g.is_integer):
        run = by_difference
    scale = g.shape(x)[1] * (g.scale(x) ** 2 + g.scale(y) ** 2)
    g.add(run.__name__, [x, y], run, scale)


def _no_integers(g: Builder) -> None:
    if g.is_integer:
        raise Unfit


# Each with its weight.
OPS = [
    *((product, 6), (chain, 4), (transposed, 2), (plus, 3), (scaled, 3), (times, 3)),
    *((einsum, 3), (of_kronecker, 2), (inverse, 2), (solve, 5), (determinant, 1)),
    *((both_solves, 1), (pieces_of_computed, 2), (product_of_sum, 2)),
    *((trace, 2), (diagonal_of, 2), (reduced, 4), (of_monotone, 2), (sum_of_pattern, 3)),
    *((concatenated, 4), (product_of_pieces, 2), (piece, 5), (padded, 2), (reshaped, 2)),
    *((elementwise, 3), (masked, 2), (distances, 2)),
]
