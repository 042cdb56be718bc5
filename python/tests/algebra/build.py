"""A random expression as data: splitting's graph, with what is known of its matrices."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np

from splitting.graph import Graph, Node, Spec, Unfit, is_float

MOST_TRIES = 40
# Of constants of 64 bits, JAX mixes up what it has traced with its 64-bit types and without.
INDEX = "int32"
# Numbers are scaled back into this range, so that nothing overflows a few products later.
LARGEST, SMALLEST = 8.0, 0.1


@dataclasses.dataclass(eq=False)
class Program(Graph):
    """The outputs of a graph; with `is_differentiated`, the gradients of a sum of them as well.

    The last argument then holds the weights of the sum.
    """

    is_differentiated: bool = False

    def __call__(self, *arguments: jax.Array) -> tuple[jax.Array, ...]:
        if not self.is_differentiated:
            return super().__call__(*arguments)
        *arguments, weights = arguments
        places = [k for k, argument in enumerate(arguments) if is_float(argument.dtype)]

        def total(*chosen):
            given = list(arguments)
            for place, argument in zip(places, chosen, strict=True):
                given[place] = argument
            results = Graph.__call__(self, *given)
            return sum(_weighted_sum(weights, result) for result in results), results

        both = jax.value_and_grad(total, tuple(range(len(places))), has_aux=True)
        (_, results), gradients = both(*(arguments[k] for k in places))
        return (*results, *gradients)


def _weighted_sum(weights: jax.Array, result: jax.Array) -> jax.Array:
    return jnp.sum(jnp.resize(weights, result.shape) * result)


class Builder:
    """Adds nodes to a graph, with random choices from one generator.

    The bound of a value's spec is a guess of its numbers' size: the root of the mean square. Tags
    say what else is known: "invertible" (and well conditioned), "lower", "upper", "definite".
    """

    def __init__(self, rng: np.random.Generator, dtype: str, sizes: Sequence[int], most: int):
        self.rng = rng
        self.dtype = dtype
        self.sizes = list(sizes)
        self.most_elements = most
        self.specs: dict[int, Spec] = {}
        self.tags: dict[int, frozenset[str]] = {}
        self.inputs: list[int] = []
        self.nodes: list[Node] = []
        # How arguments are made: "normal", "symmetric", "definite", "lower".
        self.kinds: dict[int, str] = {}
        self.depth = 0
        # Only what JAX can differentiate backward.
        self.is_smooth = False

    @property
    def is_integer(self) -> bool:
        return self.dtype == "int32"

    @property
    def is_complex(self) -> bool:
        return self.dtype == "complex64"

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

    def size(self) -> int:
        return int(self.choice(self.sizes))

    def number(self) -> float:
        """A constant that float32 holds."""
        if self.is_integer:
            return int(self.choice([-3, -1, 2, 5]))
        return float(self.choice([-2.0, -1.0, -0.5, 0.25, 0.75, 1.5, 3.0]))

    def input(self, shape: Sequence[int], kind: str = "normal") -> int:
        if math.prod(shape) > self.most_elements:
            raise Unfit
        number = len(self.specs)
        self.specs[number] = Spec(tuple(shape), self.dtype, self.is_integer, 1.0)
        self.tags[number] = frozenset()
        self.kinds[number] = kind
        self.inputs.append(number)
        return number

    def pick(self, fits: Callable[[Spec], bool] = lambda spec: True) -> int:
        """A value for which that holds; rather a late one, so that graphs are deep."""
        found = [i for i, spec in self.specs.items() if spec.dtype == self.dtype and fits(spec)]
        late = found[-4:]
        return self.choice(late if self.chance(0.6) else found)

    def tagged(self, tag: str) -> int:
        found = [i for i, tags in self.tags.items() if tag in tags]
        return self.choice(found[-4:])

    def shape(self, number: int) -> tuple[int, ...]:
        return self.specs[number].shape

    def scale(self, *numbers: int) -> float:
        return math.prod(self.specs[i].bound for i in numbers)

    def like(self) -> int:
        """Any value: nodes that take nothing get their type from it."""
        found = [i for i, spec in self.specs.items() if spec.dtype == self.dtype]
        return found[0] if found else self.input((2,))

    def add(
        self,
        name: str,
        operands: Sequence[int],
        function: Callable,
        scale: float = 1.0,
        tags: Sequence[str] = (),
    ) -> int:
        """A node with one result. The function takes types from its operands."""
        return self.add_all(name, operands, lambda *values: [function(*values)], scale, tags)[0]

    def add_all(
        self,
        name: str,
        operands: Sequence[int],
        function: Callable,
        scale: float = 1.0,
        tags: Sequence[str] = (),
    ) -> list[int]:
        factor = 1.0
        if not self.is_integer and not SMALLEST <= scale <= LARGEST:
            # A power of two, as people do not write it, would lose nothing.
            factor = float(f"{1 / scale:.2g}")
            scale *= factor
            name += f" * {factor:.2g}"

        def run(*values):
            results = function(*values)
            if factor == 1.0:
                return list(results)
            return [r * jnp.asarray(np.float32(factor), r.dtype) for r in results]

        try:
            shapes = jax.eval_shape(run, *(self.specs[i].struct for i in operands))
        except (TypeError, ValueError, ZeroDivisionError, IndexError) as error:
            raise Unfit from error
        if sum(math.prod(shape.shape) for shape in shapes) > self.most_elements:
            raise Unfit
        results = []
        for shape in shapes:
            number = len(self.specs)
            self.specs[number] = Spec(shape.shape, str(shape.dtype), self.is_integer, scale)
            self.tags[number] = frozenset(tags)
            results.append(number)
        self.nodes.append(Node(name, tuple(operands), run, tuple(results)))
        return results

    def child(self) -> Builder:
        """For the body of a loop or what is mapped. All it needs are inputs."""
        child = Builder(self.rng, self.dtype, self.sizes, self.most_elements)
        child.depth = self.depth + 1
        child.is_smooth = self.is_smooth
        return child

    def unused(self) -> list[int]:
        used = {i for node in self.nodes for i in node.operands}
        return [i for node in self.nodes for i in node.results if i not in used]

    def program(self, outputs: Sequence[int], is_differentiated: bool = False) -> Program:
        graph = Program(self.specs, self.inputs, self.nodes, list(outputs), is_differentiated)
        graph = graph.without_dead_nodes()
        needed = set(graph.outputs) | {i for node in graph.nodes for i in node.operands}
        return dataclasses.replace(graph, inputs=[i for i in graph.inputs if i in needed])
