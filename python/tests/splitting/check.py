"""Runs one random program as it is and as it is planned, and compares the results."""

from __future__ import annotations

import collections
import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import compiler

from plimsoll import ir, roundtrip
from plimsoll.planner import Planner
from splitting.generate import Case
from splitting.graph import WIDE, Graph

# In units of the last place of the largest element, what is not looked at any further.
FEW_ULPS = 8
# Algebra has tests of its own, and may lose infinities that come from one order of sums alone.
NO_ALGEBRA = tuple(rule["name"] for rule in ir.rules())
# Draws of arguments that are off by a rounding error, which show how ill-conditioned a program is.
DRAWS = 3


class Failure(AssertionError):
    """A planned program that is not valid or gives other results."""


@dataclasses.dataclass
class Outcome:
    # The cuts that were made, as the planner tells.
    made: list[dict[str, Any]]
    peak: int
    # Whether a result had to be compared with one in float64.
    needed_reference: bool = False

    @property
    def loops(self) -> int:
        return sum(cut["loops"] for cut in self.made)

    def as_json(self) -> dict[str, Any]:
        kinds = collections.Counter[str]()
        for cut in self.made:
            kinds.update(cut["ops"])
        return {
            "loops": self.loops,
            "peak": self.peak,
            "needed_reference": self.needed_reference,
            "kinds": kinds,
        }


def run(case: Case) -> Outcome:
    """Raises Failure if the planned program is not the program."""
    jitted = jax.jit(case.graph)
    lowered = jitted.lower(*case.arguments)
    program = roundtrip.graph_of(lowered.compiler_ir())
    try:
        attempt, outcome = plan(program, case)
    except Exception as error:
        raise Failure(f"planning failed: {error}") from error
    if not outcome.made:
        return outcome
    text = attempt.module.text_bytes()
    plain = lowered.compile()
    try:
        # Another function, or JAX would find what it has compiled.
        copy = jax.jit(lambda *arguments: case.graph(*arguments))
        planned = compile_in_place_of(copy.lower(*case.arguments), text)
    except Exception as error:
        raise Failure(f"XLA refused the planned program: {error}") from error
    expected = [np.asarray(r) for r in plain(*case.arguments)]
    results = [np.asarray(r) for r in planned(*case.arguments)]
    compare(case, plain, expected, results, outcome)
    return outcome


def plan(program: Any, case: Case):
    """A planned program, with less and less room until something is cut."""
    # With all the room there is nothing is cut, but the peak is known.
    whole = Planner(program, budget=2**60, disabled=NO_ALGEBRA).next()
    peak = whole.plan["peak_before"]
    for share in (case.share, case.share / 10, 0):
        options = {"budget": max(1, int(peak * share)), "disabled": NO_ALGEBRA}
        if case.most_chunk:
            options["most_chunk"] = case.most_chunk
        planner = Planner(program, **options)
        attempt = planner.next()
        for _ in range(case.attempt - 1):
            planner.tell(2 * options["budget"])
            attempt = planner.next() or attempt
        if attempt.plan["made"]:
            break
    return attempt, Outcome(attempt.plan["made"], peak)


def compile_in_place_of(
    lowered: Any, text: bytes, compiler_options: dict[str, str] | None = None
) -> Any:
    """The program `text` compiled and called as the lowered one would be."""
    compile_ = compiler.backend_compile_and_load
    calls = []

    def compile_other(backend, module, *rest, **options):
        calls.append(module)
        return compile_(backend, roundtrip.parse(text, module), *rest, **options)

    compiler.backend_compile_and_load = compile_other
    try:
        compiled = lowered.compile(compiler_options)
    finally:
        compiler.backend_compile_and_load = compile_
    assert len(calls) == 1
    return compiled


def compare(
    case: Case,
    plain: Any,
    expected: Sequence[np.ndarray],
    results: Sequence[np.ndarray],
    outcome: Outcome,
) -> None:
    suspects = []
    alone = OpByOp(case)
    for place, (number, x, y) in enumerate(zip(case.graph.outputs, expected, results, strict=True)):
        spec = case.graph.specs[number]
        if x.shape != y.shape or x.dtype != y.dtype:
            raise Failure(f"v{number} has another type: {y.dtype}{y.shape}, not {x.dtype}{x.shape}")
        if spec.exact:
            same = (x == y) | (is_nan(x) & is_nan(y))
            if not np.all(same) and not alone.agrees(place, y):
                raise Failure(f"v{number} ({spec}) differs: {show_difference(x, y, same)}")
            continue
        wide_x, wide_y = widened(x), widened(y)
        # Infinities and NaN have to be in the same places.
        special = ~np.isfinite(wide_x) | ~np.isfinite(wide_y)
        same = (wide_x == wide_y) | (is_nan(wide_x) & is_nan(wide_y))
        if not np.all(same | ~special):
            if alone.agrees(place, y):
                continue
            raise Failure(f"v{number} ({spec}) differs: {show_difference(x, y, same | ~special)}")
        wide_x, wide_y = np.where(special, 0, wide_x), np.where(special, 0, wide_y)
        rounding, _ = unit(case.graph, number)
        if norm(wide_x - wide_y) > FEW_ULPS * rounding * norm(wide_x):
            suspects.append((place, number, wide_x, wide_y, special))
    if suspects:
        outcome.needed_reference = True
        _compare_with_reference(case, plain, suspects)


class OpByOp:
    """The results with each op compiled alone, which tell who is right if two programs differ.

    XLA's own program is not always: a sum of two equal bytes is odd (255 instead of 254), NaN are
    lost, and slices of slices begin elsewhere if they begin outside (openxla/xla issue 49121).
    """

    def __init__(self, case: Case):
        self.case = case

    @functools.cached_property
    def results(self) -> list[np.ndarray]:
        with jax.disable_jit():
            return [np.asarray(r) for r in self.case.graph(*map(jnp.asarray, self.case.arguments))]

    def agrees(self, place: int, y: np.ndarray) -> bool:
        """Whether exact numbers, infinities and NaN are these."""
        x = self.results[place]
        same = (x == y) | (is_nan(x) & is_nan(y))
        if not self.case.graph.specs[self.case.graph.outputs[place]].exact:
            same |= np.isfinite(widened(x)) & np.isfinite(widened(y))
        return bool(np.all(same))


def _compare_with_reference(case: Case, plain, suspects) -> None:
    """Neither is the truth: the planned program may be off as far as XLA's own is, twice."""
    wide_arguments = [widened(a) if str(a.dtype) in WIDE else a for a in case.arguments]
    reference = [np.asarray(r) for r in jax.jit(case.graph)(*wide_arguments)]
    rng = np.random.default_rng(case.seed)
    disturbed = [plain(*(_disturb(rng, a) for a in case.arguments)) for _ in range(DRAWS)]
    for place, number, x, y, special in suspects:
        truth = np.where(special, 0, widened(reference[place]))
        sensitivity = max(
            norm(np.where(special, 0, widened(np.asarray(d[place]))) - x) for d in disturbed
        )
        spec = case.graph.specs[number]
        own, other = norm(x - truth), norm(y - truth)
        # XLA adds long dimensions up as a tree, and chunks come one after the other: errors that
        # wander. Short types are added up in float32.
        rounding, size = unit(case.graph, number)
        few = FEW_ULPS * rounding + 2 * min(rounding, ulp("float32")) * math.sqrt(size)
        # What cancels out is as large as its rounding errors.
        floor = few * (spec.bound or 1)
        allowed = 2 * own + 4 * sensitivity + few * norm(truth) + floor
        if not other <= allowed:
            raise Failure(
                f"v{number} ({spec}) is off by {other:.3g} from float64, XLA's own by {own:.3g}; "
                f"an ulp in the arguments changes it by {sensitivity:.3g} of {norm(truth):.3g}: "
                + show_difference(x, y, np.abs(x - y) < np.max(np.abs(x - y), initial=0))
            )


def _disturb(rng: np.random.Generator, array: np.ndarray) -> np.ndarray:
    if str(array.dtype) not in WIDE:
        return array
    factors = 1 + ulp(array.dtype) * rng.choice([-1, 0, 1], array.shape)
    return np.asarray(jnp.asarray(widened(array) * factors, array.dtype))


def norm(array: np.ndarray) -> float:
    """The largest element: of a result that holds small and large numbers, the large ones count."""
    return float(np.max(np.abs(array), initial=0.0))


def ulp(dtype: Any) -> float:
    return float(jnp.finfo(dtype).eps)


def unit(graph: Graph, number: int) -> tuple[float, int]:
    """The coarsest rounding on the way to a value, and the largest number of elements."""
    alone = dataclasses.replace(graph, outputs=[number]).without_dead_nodes()
    used = {number} | {i for node in alone.nodes for i in (*node.operands, *node.results)}
    units = [ulp(graph.specs[i].dtype) for i in used if not graph.specs[i].is_integer]
    # Bodies of loops may round to float32 inside, or to what they say.
    for node in alone.nodes:
        units += [ulp("float32")] * ("[" in node.name)
        units += [ulp(dtype) for dtype in ("bfloat16", "float16") if f"to {dtype}" in node.name]
    return max(units), max(graph.specs[i].size for i in used)


def widened(array: np.ndarray) -> np.ndarray:
    return np.asarray(array).astype(WIDE[str(array.dtype)])


def is_nan(array: np.ndarray) -> np.ndarray:
    return array != array


def show_difference(x: np.ndarray, y: np.ndarray, same: np.ndarray) -> str:
    places = np.argwhere(~same)
    if len(places) == 0:
        return "nowhere"
    first = tuple(int(i) for i in places[0])
    return f"{y[first]} instead of {x[first]} at {first}, {len(places)} of {x.size} elements"


def fails(case: Case, graph: Graph, arguments: Sequence[np.ndarray]) -> bool:
    try:
        run(dataclasses.replace(case, graph=graph, arguments=list(arguments)))
    except Failure:
        return True
    except Exception:
        return False
    return False


def shrink(case: Case) -> Case:
    """A smaller case that fails too: fewer outputs, and arguments in the place of nodes."""
    graph = case.graph
    for number in [i for node in graph.nodes for i in node.results]:
        smaller = dataclasses.replace(graph, outputs=[number]).without_dead_nodes()
        if fails(case, smaller, case.arguments):
            graph = smaller
            break
    arguments = list(case.arguments)
    for node in list(graph.nodes):
        if not any(other is node for other in graph.nodes):
            continue
        given = [i for i in node.results]
        try:
            values = jax.jit(dataclasses.replace(graph, outputs=given))(*arguments)
        except Exception:
            continue
        smaller = dataclasses.replace(
            graph,
            inputs=graph.inputs + given,
            nodes=[other for other in graph.nodes if other is not node],
        ).without_dead_nodes()
        new_arguments = arguments + [np.asarray(v) for v in values]
        if fails(case, smaller, new_arguments):
            graph, arguments = smaller, new_arguments
    used = {i for node in graph.nodes for i in node.operands} | set(graph.outputs)
    kept = [k for k, i in enumerate(graph.inputs) if i in used]
    graph = dataclasses.replace(graph, inputs=[graph.inputs[k] for k in kept])
    return dataclasses.replace(case, graph=graph, arguments=[arguments[k] for k in kept])
