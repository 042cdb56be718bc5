"""Makes random programs and their arguments, each from one seed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax.numpy as jnp
import numpy as np

from splitting.graph import EXACT_LIMITS, Builder, Graph, Spec, Unfit

SIZES = (1, 2, 3, 5, 7, 8, 12, 16, 24, 31, 36, 37, 48, 60, 64, 97, 128, 200, 251, 400)
SHARES = (0.002, 0.02, 0.05, 0.1, 0.3, 0.7, 0.95)
MOST_TRIES = 60


@dataclasses.dataclass
class Case:
    seed: int
    graph: Graph
    arguments: list[np.ndarray]
    # Of the largest peak that a budget can be asked for: the share that is allowed.
    share: float
    # Bytes of one value of a chunk, or 0 for no such bound.
    most_chunk: int
    # Which of the planner's programs is taken: the second is cut finer, the last is for programs of
    # some megabytes.
    attempt: int


def op_table():
    from splitting import (
        ops_bodies,
        ops_elementwise,
        ops_indexing,
        ops_linalg,
        ops_models,
        ops_moving,
        ops_reducing,
    )

    families = (
        ops_elementwise,
        ops_moving,
        ops_reducing,
        ops_indexing,
        ops_linalg,
        ops_bodies,
        ops_models,
    )
    return [entry for family in families for entry in family.OPS]


# Not differentiated by JAX.
NOT_SMOOTH = {"variadic_reduce", "while_loop", "eigenvalues", "bitcast", "gradient"}


def grow(g: Builder, nodes: int) -> None:
    """Adds that many random ops, or as many as fit."""
    table = [
        (op, weight) for op, weight in op_table() if not (g.is_smooth and op.__name__ in NOT_SMOOTH)
    ]
    weights = np.array([weight for _, weight in table], float)
    weights /= weights.sum()
    wanted = len(g.nodes) + nodes
    for _ in range(MOST_TRIES * nodes):
        if len(g.nodes) >= wanted:
            return
        op, _ = table[g.rng.choice(len(table), p=weights)]
        try:
            op(g)
        except Unfit:
            continue


def make(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    most_elements = int(rng.choice([4_000, 30_000, 120_000], p=[0.5, 0.4, 0.1]))
    g = Builder(rng, most_elements, _dimensions(rng))
    is_model = g.chance(0.2)
    if is_model:
        _model(g)
    else:
        _inputs(g)
        _large_value(g)
        grow(g, g.integer(1, 7))
    outputs = _reduced_outputs(g)
    graph = g.graph(outputs)
    has_special = g.chance(0.1)
    arguments = [_argument(rng, graph.specs[i], has_special) for i in graph.inputs]
    return Case(
        seed=seed,
        graph=graph,
        arguments=arguments,
        share=float(rng.choice([0.05, 0.1, 0.2, 0.5] if is_model else SHARES)),
        most_chunk=int(rng.choice([0, 0, 64, 1000, 8192])),
        attempt=int(rng.choice([1, 1, 2])),
    )


def _dimensions(rng: np.random.Generator) -> list[int]:
    """A few sizes, so that shapes often agree."""
    sizes = [int(n) for n in rng.choice(SIZES, 4)] + [int(rng.choice(SIZES[8:]))]
    if rng.random() < 0.03:
        sizes.append(0)
    return sizes


def _inputs(g: Builder) -> None:
    main = g.choice(["float32"] * 5 + ["bfloat16", "float64", "complex64", "int32"])
    for _ in range(g.integer(2, 4)):
        shape = tuple(g.dimension() for _ in range(g.integer(1, 3)))
        while int(np.prod(shape)) > g.most_elements // 2:
            shape = shape[1:]
        dtype = main if g.chance(0.8) else g.choice(["float32", "int32", "uint8", "bool"])
        exact = dtype not in EXACT_LIMITS or g.chance(0.5)
        g.input(Spec(shape, dtype, exact, _bound_of(dtype)))
    # Indices, and a number that is not known before the program runs.
    g.input(Spec((g.dimension(),), "int32", True, 1000.0))
    g.input(Spec((), "int32", True, 1000.0))


def _model(g: Builder) -> None:
    """Many examples and few weights, so that what is cut are the examples."""
    from splitting import ops_models

    g.most_elements = 120_000
    dtype = g.choice(["float32", "float32", "float32", "float64", "bfloat16"])
    count, width = g.choice([96, 128, 200, 251, 307]), g.choice([1, 2, 3, 4, 8, 12])
    g.input(Spec((count, width), dtype, True, 3.0))
    g.input(Spec((count, width), dtype, False, 3.0))
    g.input(Spec((g.choice([1, 3, 7, 20]), count, width), dtype, False, 3.0))
    g.input(Spec((count,), "int32", True, 1000.0))
    wanted = g.integer(1, 2)
    for _ in range(MOST_TRIES):
        op, _ = g.choice(ops_models.OPS)
        try:
            op(g)
        except Unfit:
            continue
        if len(g.nodes) >= wanted:
            return


def _large_value(g: Builder) -> None:
    """One value that is worth cutting."""
    from splitting import ops_elementwise, ops_moving, ops_reducing

    makers = [ops_elementwise.binary, ops_reducing.einsum_self, ops_moving.broadcast]
    for _ in range(MOST_TRIES):
        count = len(g.nodes)
        try:
            g.choice(makers)(g)
        except Unfit:
            continue
        made = [i for node in g.nodes[count:] for i in node.results]
        if any(g.specs[i].size * 8 >= g.most_elements for i in made):
            return
        # Too small: as if it had not been.
        for i in made:
            del g.specs[i]
        del g.nodes[count:]


def _bound_of(dtype: str) -> float:
    return {"bool": 1.0, "uint8": 255.0, "int32": 1000.0}.get(dtype, 3.0)


def _reduced_outputs(g: Builder) -> list[int]:
    """What nothing else uses, mostly made small first: a result exists as a whole."""
    from splitting import ops_reducing

    used = {i for node in g.nodes for i in node.operands}
    made = [i for node in g.nodes for i in node.results]
    outputs = []
    for number in [i for i in made if i not in used] or g.inputs[:1]:
        spec = g.specs[number]
        if spec.rank == 0 or spec.size < 64 or g.chance(0.15):
            outputs.append(number)
            continue
        reductions = [ops_reducing.reduce_sum, ops_reducing.reduce_other, ops_reducing.arg_reduce]
        for _ in range(g.integer(1, 2)):
            outputs += _applied(g, reductions, number) or [number]
    return outputs


def _applied(g: Builder, ops: list[Callable], number: int) -> list[int]:
    """What one of the ops makes of this value and of no other."""
    narrow = Builder(g.rng, g.most_elements, g.dimensions)
    narrow.ids = g.ids
    narrow.specs = {number: g.specs[number]}
    for _ in range(MOST_TRIES):
        try:
            g.choice(ops)(narrow)
            break
        except Unfit:
            continue
    g.nodes += narrow.nodes
    g.specs |= narrow.specs
    return [i for node in narrow.nodes for i in node.results]


def _argument(rng: np.random.Generator, spec: Spec, has_special: bool) -> np.ndarray:
    if spec.dtype == "bool":
        return rng.random(spec.shape) < 0.5
    if spec.is_integer:
        low = 0 if spec.dtype == "uint8" else -int(spec.bound)
        return rng.integers(low, int(spec.bound) + 1, spec.shape).astype(spec.dtype)

    def numbers():
        if spec.exact:
            return rng.integers(-int(spec.bound), int(spec.bound) + 1, spec.shape).astype(float)
        return np.clip(rng.standard_normal(spec.shape), -spec.bound, spec.bound)

    values = numbers() + 1j * numbers() if spec.is_complex else numbers()
    values = np.asarray(values)
    if has_special and spec.exact and not spec.is_complex and spec.size > 4:
        flat = values.reshape(-1)
        for special in (np.nan, np.inf, -np.inf):
            flat[rng.integers(flat.size, size=max(1, flat.size // 50))] = special
    return np.asarray(jnp.asarray(values, spec.dtype))
