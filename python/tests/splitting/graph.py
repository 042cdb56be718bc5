"""A random program as data: nodes over values, so that it can be run, made smaller and shown.

Each value has a `Spec`, which says what is known of it without running the program: how large it
can get, and whether it is exact. A float is exact if it holds integers that are so small that sums
and products of them are the same in whatever order they are made. Only exact values go where a
rounding error would be magnified (comparisons, sorting, indices), and come out bit by bit.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np

FLOATS = ("float32", "bfloat16", "float64", "complex64")
INTEGERS = ("int32", "uint8", "bool")
# The largest integer of which a type holds all smaller ones.
EXACT_LIMITS = {"bfloat16": 2**8, "float32": 2**24, "complex64": 2**24, "float64": 2**53}
WIDE = {
    "bfloat16": "float64",
    "float32": "float64",
    "float64": "float64",
    "complex64": "complex128",
    "complex128": "complex128",
}
# Larger numbers that are not exact are scaled down, or a few products later they would overflow.
LARGEST_INEXACT = 64.0


class Unfit(Exception):
    """An op that does not go with the values there are: another is tried."""


@dataclasses.dataclass(frozen=True)
class Spec:
    shape: tuple[int, ...]
    dtype: str
    exact: bool
    # No element is larger, special ones (infinities and NaN) aside. None for integers that wrap.
    bound: float | None

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def is_integer(self) -> bool:
        return self.dtype not in EXACT_LIMITS

    @property
    def is_complex(self) -> bool:
        return self.dtype == "complex64"

    @property
    def struct(self) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(self.shape, self.dtype)

    def __str__(self) -> str:
        kind = "" if self.is_integer else " exact" if self.exact else " inexact"
        return f"{self.dtype}{list(self.shape)}{kind}"


@dataclasses.dataclass(frozen=True)
class Node:
    name: str
    operands: tuple[int, ...]
    # From the operands to a list of results. It takes the types from its operands, so that the same
    # node computes in wider ones when it is given such.
    function: Callable[..., Sequence[jax.Array]]
    results: tuple[int, ...]


@dataclasses.dataclass(eq=False)
class Graph:
    specs: dict[int, Spec]
    inputs: list[int]
    nodes: list[Node]
    outputs: list[int]

    def __call__(self, *arguments: jax.Array) -> tuple[jax.Array, ...]:
        values = dict(zip(self.inputs, arguments, strict=True))
        for node in self.nodes:
            results = node.function(*(values[i] for i in node.operands))
            values.update(zip(node.results, results, strict=True))
        return tuple(values[i] for i in self.outputs)

    def without_dead_nodes(self) -> Graph:
        needed = set(self.outputs)
        kept = []
        for node in reversed(self.nodes):
            if needed.isdisjoint(node.results):
                continue
            kept.append(node)
            needed.update(node.operands)
        return dataclasses.replace(self, nodes=kept[::-1])

    def __str__(self) -> str:
        lines = [f"  v{i} = argument {self.specs[i]}" for i in self.inputs]
        for node in self.nodes:
            results = ", ".join(f"v{i}: {self.specs[i]}" for i in node.results)
            lines.append(f"  {results} = {node.name}({', '.join(f'v{i}' for i in node.operands)})")
        lines.append(f"  return {', '.join(f'v{i}' for i in self.outputs)}")
        return "\n".join(lines)


class Builder:
    """Adds nodes to a graph, with random choices from one generator."""

    def __init__(self, rng: np.random.Generator, most_elements: int, dimensions: Sequence[int]):
        self.rng = rng
        self.most_elements = most_elements
        self.dimensions = list(dimensions)
        self.specs: dict[int, Spec] = {}
        self.inputs: list[int] = []
        self.nodes: list[Node] = []
        self.ids = itertools.count()
        # How deep inside of bodies of loops and the like this graph is.
        self.depth = 0
        # Only functions that can be differentiated, and only floats that are not exact.
        self.is_smooth = False

    def choice(self, items):
        items = list(items)
        if not items:
            raise Unfit
        return items[self.rng.integers(len(items))]

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def integer(self, low: int, high: int) -> int:
        """One of low, ..., high."""
        return int(self.rng.integers(low, high + 1))

    def dimension(self) -> int:
        return int(self.choice(self.dimensions))

    def input(self, spec: Spec) -> int:
        number = next(self.ids)
        self.specs[number] = spec
        self.inputs.append(number)
        return number

    def pick(self, fits: Callable[[Spec], bool] = lambda spec: True) -> int:
        """A value for which that holds; rather a late one, so that graphs are deep."""
        found = [i for i, spec in self.specs.items() if fits(spec)]
        if not found:
            raise Unfit
        late = found[-4:]
        return self.choice(late if self.chance(0.6) else found)

    def add(
        self,
        name: str,
        operands: Sequence[int],
        function: Callable,
        exact: bool = False,
        bound: float | None = 1.0,
    ) -> list[int]:
        """Adds a node; `exact` and `bound` are those of all results that are floats."""
        structs = [self.specs[i].struct for i in operands]
        scale = 1.0
        if bound is not None and not math.isfinite(bound):
            raise Unfit
        if not exact and bound is not None and bound > LARGEST_INEXACT:
            scale = 1.0 / bound
            bound = 1.0

        def run(*values):
            results = function(*values)
            results = list(results) if isinstance(results, tuple | list) else [results]
            if scale == 1.0:
                return results
            return [r * jnp.asarray(scale, r.dtype) if is_float(r.dtype) else r for r in results]

        shapes = jax.eval_shape(run, *structs)
        if sum(math.prod(shape.shape) for shape in shapes) > self.most_elements:
            raise Unfit
        results = []
        for shape in shapes:
            dtype = str(shape.dtype)
            fits = bound is not None and bound <= EXACT_LIMITS.get(dtype, math.inf)
            number = next(self.ids)
            if is_float(dtype):
                spec = Spec(shape.shape, dtype, exact and fits, bound)
            else:
                spec = Spec(shape.shape, dtype, True, bound if exact else None)
            self.specs[number] = spec
            results.append(number)
        self.nodes.append(Node(name, tuple(operands), run, tuple(results)))
        return results

    def child(self) -> Builder:
        """For the body of a loop or the like."""
        child = Builder(self.rng, self.most_elements, self.dimensions)
        child.depth = self.depth + 1
        child.is_smooth = self.is_smooth
        return child

    def graph(self, outputs: Sequence[int]) -> Graph:
        return Graph(self.specs, self.inputs, self.nodes, list(outputs)).without_dead_nodes()


def is_float(dtype) -> bool:
    return bool(jnp.issubdtype(dtype, jnp.inexact))
