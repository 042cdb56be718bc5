"""Random programs over pairs of rows and columns, with kernels and without: as exact as XLA's.

PLIMSOLL_RANDOM_KERNELS says how many; one alone is `-k 'of_pairs[SEED]'`.
"""

import os
import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import plimsoll

NEWEST = jax.__version_info__ >= (0, 12)
COUNT = int(os.environ.get("PLIMSOLL_RANDOM_KERNELS", 60 if NEWEST else 20))
# Matrices of pairs are whole without kernels.
SIZES = [401, 512, 769, 1000, 1023]
# Where rows and columns are the same points, so many that one of each two pairs is enough.
SAME_SIZES = [1024, 1031, 1200]
WIDTHS = [1, 2, 3, 5, 16, 40]


# What is allowed beside XLA's own error: some sums cancel out. How exact kernels are is tested in
# test_kernels.py, here that nothing is left out or taken for something else.
SLACK = {np.dtype(jnp.bfloat16): 3e-2, np.dtype(np.float32): 1e-4, np.dtype(np.float64): 1e-10}


class Program:
    """A function of points, weights of rows and columns, and right-hand sides."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        pick = self.random.choice
        self.dtype = np.dtype(pick([np.float32] * 6 + [np.int32, jnp.bfloat16, np.float64]))
        self.is_integer = self.dtype == np.int32
        rows, columns, width = pick(SIZES), pick(SIZES), pick(WIDTHS)
        same = random.Random(f"same points {seed}")
        is_same = same.random() < 0.3
        if is_same:
            rows = columns = same.choice(SAME_SIZES)
        self.has_batch = self.random.random() < 0.2
        batch = [3] if self.has_batch else []
        self.limit_share = pick([0.1, 0.25, 0.5])
        shapes = [(rows, width), (columns, width), (rows,), (columns,), (columns, pick([1, 2, 4]))]
        numbers = np.random.default_rng(seed)
        scale = 3 if self.is_integer else 0.5
        self.arguments = [
            (scale * numbers.standard_normal((*batch, *shape))).astype(self.dtype)
            for shape in shapes
        ]
        if is_same:
            self.arguments[1] = self.arguments[0]
            if same.random() < 0.5:
                self.arguments[3] = self.arguments[2]
        self.steps = [self.random.random() for _ in range(200)]
        self.has_gradient = not self.is_integer and self.random.random() < 0.35
        self.is_transposed = self.random.random() < 0.2

    def __call__(self, *arguments):
        function = jax.vmap(self.single) if self.has_batch else self.single
        if not self.has_gradient:
            return function(*arguments)

        def loss(*given):
            return sum(jnp.sum(jnp.sin(part)) for part in jax.tree.leaves(function(*given)))

        return jax.grad(loss, argnums=tuple(range(len(arguments))))(*arguments)

    def single(self, x, y, w, u, v):
        steps = iter(self.steps)

        def pick(choices):
            return choices[int(next(steps) * len(choices))]

        value = pick(self.pairs())(x, y)
        for _ in range(1 + int(next(steps) * 4)):
            value = pick(self.changes())(value, w, u)
        results = []
        for _ in range(1 + int(next(steps) * 3)):
            results.append(pick(self.reductions())(value, v))
            value = value if next(steps) < 0.5 else pick(self.changes())(value, w, u)
        return results

    def pairs(self):
        def difference(x, y):
            if self.is_transposed:
                return (y[:, None, :] - x[None, :, :]).transpose(1, 0, 2)
            return x[:, None, :] - y[None, :, :]

        smooth = [
            lambda x, y: jnp.sum(difference(x, y) ** 2, axis=-1),
            lambda x, y: jnp.sum(jnp.abs(difference(x, y)), axis=-1),
            lambda x, y: x @ y.T if not self.is_transposed else (y @ x.T).T,
            lambda x, y: x[:, None, 0] * y[None, :, -1],
        ]
        if self.has_gradient:
            return smooth
        return [*smooth, lambda x, y: jnp.max(jnp.abs(difference(x, y)), axis=-1)]

    def changes(self):
        def mask(value):
            rows = lax.broadcasted_iota(jnp.int32, value.shape, 0)
            columns = lax.broadcasted_iota(jnp.int32, value.shape, 1)
            return rows, columns

        def causal(value, w, u):
            rows, columns = mask(value)
            return jnp.where(rows >= columns, value, 0)

        def band(value, w, u):
            rows, columns = mask(value)
            return jnp.where(jnp.abs(rows - columns) < 37, value, 1)

        both = [
            lambda value, w, u: value + w[:, None],
            lambda value, w, u: value - u[None, :],
            lambda value, w, u: jnp.where(w[:, None] > u[None, :], value, -value),
            causal,
            band,
        ]
        # Their gradients would tell where two numbers are equal but for their last digit.
        if not self.has_gradient:
            both += [
                lambda value, w, u: jnp.maximum(value, u[None, :]),
                lambda value, w, u: jnp.clip(value, -4, 4),
            ]
        if self.is_integer:
            return [*both, lambda value, w, u: value & 7, lambda value, w, u: value % 5]
        return [
            *both,
            lambda value, w, u: jnp.exp(-jnp.abs(value)),
            lambda value, w, u: jnp.tanh(value) * w[:, None],
            lambda value, w, u: jnp.sin(value),
            lambda value, w, u: jnp.sqrt(value * value + 0.1),
            lambda value, w, u: 1 / (1 + jnp.abs(value)),
            lambda value, w, u: jax.nn.sigmoid(value) * u[None, :],
            lambda value, w, u: jnp.log1p(jnp.abs(value)),
        ]

    def reductions(self):
        def labels(value, axis):
            """Some of them are of no segment."""
            return jnp.arange(value.shape[axis]) * 7 % 23 - 2

        whole = [
            lambda value, v: jax.ops.segment_sum(value, labels(value, 0), 20),
            lambda value, v: jax.ops.segment_max(value.T, labels(value, 1), 20),
            lambda value, v: jnp.sum(value, axis=1),
            lambda value, v: jnp.sum(value, axis=0),
            lambda value, v: jnp.sum(value),
            lambda value, v: jnp.max(value, axis=1),
            lambda value, v: jnp.min(value, axis=0),
            lambda value, v: value @ v,
        ]
        if self.has_gradient:
            return [
                lambda value, v: jnp.sum(value, axis=1) / value.shape[1],
                lambda value, v: jax.ops.segment_sum(value, labels(value, 0), 20) / len(value),
                lambda value, v: jnp.mean(value, axis=0),
                lambda value, v: jnp.mean(value),
                lambda value, v: value @ v / value.shape[1],
                lambda value, v: jax.nn.logsumexp(value, axis=1),
                lambda value, v: jax.nn.softmax(value, axis=1) @ v,
                lambda value, v: jnp.var(value, axis=1),
            ]
        if self.is_integer:
            return [
                *whole,
                lambda value, v: jnp.argmax(value, axis=1),
                lambda value, v: jnp.argmin(value, axis=0),
                lambda value, v: jnp.any(value > 9, axis=1),
                lambda value, v: jnp.all(value < 9, axis=0),
            ]
        return [
            *whole,
            lambda value, v: jnp.min(value, axis=1),
            lambda value, v: jnp.prod(1 + 0.01 * jnp.sin(value), axis=1),
            lambda value, v: jax.nn.logsumexp(value, axis=1),
            lambda value, v: jax.nn.logsumexp(value, axis=0),
            lambda value, v: jax.nn.softmax(value, axis=1) @ v,
            lambda value, v: lax.top_k(value, 4)[0],
            lambda value, v: jnp.any(value > 2, axis=1),
            lambda value, v: jnp.var(value, axis=1),
            lambda value, v: jnp.exp(-(value**2)) @ v,
        ]


def error_of(found, exact):
    difference = np.abs(np.asarray(found, np.float64) - exact)
    return np.max(difference, initial=0) / max(0.1, np.max(np.abs(exact), initial=0))


@pytest.mark.parametrize("seed", range(COUNT))
def test_programs_of_pairs(seed):
    program = Program(seed)
    with jax.enable_x64(program.dtype == np.float64):
        compiled = jax.jit(program).lower(*program.arguments).compile()
        plain = compiled(*program.arguments)
        sizes = compiled.memory_analysis()
        fixed = sizes.argument_size_in_bytes + sizes.output_size_in_bytes
        limit = fixed + 1_000_000 + int(program.limit_share * sizes.temp_size_in_bytes)
        try:
            found = plimsoll.jit(lambda *a: program(*a), memory_limit=limit)(*program.arguments)
        except plimsoll.MemoryLimitError:
            pytest.skip("the limit is too small")
    with jax.enable_x64(True):
        wide = jnp.int64 if program.is_integer else jnp.float64
        exact = jax.jit(lambda *a: program(*a))(*(jnp.asarray(a, wide) for a in program.arguments))
    for one, other, right in zip(*map(jax.tree.leaves, (found, plain, exact)), strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        if one.dtype == bool and not program.is_integer:
            # Numbers next to what they are compared with may be rounded to either side of it.
            assert np.mean(one != other) <= 0.02
            continue
        if not jnp.issubdtype(one.dtype, jnp.floating):
            np.testing.assert_array_equal(one, other)
            continue
        right = np.asarray(right, np.float64)
        assert error_of(one, right) <= 4 * error_of(other, right) + SLACK[program.dtype]
