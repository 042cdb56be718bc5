"""Makes random expressions over matrices with known properties, and arguments, from one seed."""

from __future__ import annotations

import dataclasses

import jax
import numpy as np

from algebra.build import MOST_TRIES, Builder, Program, Unfit

# Algebra is about products of large matrices, and about what goes wrong with small ones.
LARGE = (64, 97, 100, 128, 150, 211, 256)
SMALL = (1, 2, 3, 5, 7, 11, 13, 24)
MOST_ELEMENTS = 120_000
# More elements of a result have the same weights again.
MOST_WEIGHTS = 1009


@dataclasses.dataclass
class Case:
    seed: int
    graph: Program
    arguments: list[np.ndarray]
    dtype: str
    # Whether JAX has its 64-bit types: then indices are other types, also in programs of float32.
    is_wide: bool


def make(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    dtype = str(
        rng.choice(["float32", "float64", "int32", "complex64"], p=[0.66, 0.14, 0.12, 0.08])
    )
    is_wide = dtype == "float64" or rng.random() < 0.5
    with jax.enable_x64(is_wide):
        return _made(seed, rng, dtype, is_wide)


def _made(seed: int, rng: np.random.Generator, dtype: str, is_wide: bool) -> Case:
    g = Builder(rng, dtype, _sizes(rng), MOST_ELEMENTS)
    is_differentiated = g.chance(0.3) and dtype.startswith("float")
    g.is_smooth = is_differentiated
    for _ in range(g.integer(1, 2)):
        g.input([g.size() for _ in range(g.integer(1, 2))])
    grow(g, g.integer(2, 9))
    graph = g.program(g.unused() or g.inputs, is_differentiated)
    arguments = [_argument(rng, graph.specs[i], g.kinds[i]) for i in graph.inputs]
    if is_differentiated:
        arguments.append(rng.standard_normal(MOST_WEIGHTS, "float32").astype(dtype))
    return Case(seed, graph, arguments, dtype, is_wide)


def grow(g: Builder, count: int) -> None:
    """Adds that many random ops, or as many as fit."""
    from algebra import bodies, operations

    table = operations.OPS + (bodies.OPS if g.depth == 0 else [])
    weights = np.array([weight for _, weight in table], float)
    weights /= weights.sum()
    done = 0
    for _ in range(MOST_TRIES * count):
        if done >= count:
            return
        op, _ = table[g.rng.choice(len(table), p=weights)]
        try:
            op(g)
            done += 1
        except Unfit:
            continue


def _sizes(rng: np.random.Generator) -> list[int]:
    """A few sizes, so that shapes often agree."""
    if rng.random() < 0.25:
        sizes = rng.choice(SMALL, 3)
    else:
        sizes = [*rng.choice(LARGE, 2), *rng.choice(SMALL, 2)]
    sizes = [int(size) for size in sizes]
    if rng.random() < 0.04:
        sizes.append(0)
    return sizes


def _argument(rng: np.random.Generator, spec, kind: str) -> np.ndarray:
    if spec.is_integer:
        return rng.integers(-4, 5, spec.shape).astype(spec.dtype)
    values = rng.standard_normal(spec.shape)
    if spec.is_complex:
        values = (values + 1j * rng.standard_normal(spec.shape)) / np.sqrt(2)
    # Arguments are numbers that float32 holds, also in programs of float64, and stay symmetric.
    values = np.asarray(values).astype("complex64" if spec.is_complex else "float32")
    if kind == "symmetric":
        values = values + values.T
    elif kind == "definite":
        n = max(1, spec.shape[0])
        values = values @ values.T / np.float32(n) + np.eye(spec.shape[0], dtype=values.dtype)
        values = (values + values.T) / 2
    return values.astype(spec.dtype)
