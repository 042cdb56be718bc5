"""Runs one random expression as it is and as algebra makes it, and compares both with float64."""

from __future__ import annotations

import collections
import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from algebra.check import FEW_ULPS, MOST_WORSE
from algebra.generate import Case
from plimsoll import ir, roundtrip
from splitting.check import compile_in_place_of, norm, show_difference, ulp, widened
from splitting.graph import WIDE

# Each op computed alone. Otherwise XLA may compute a value in two places to different digits, which
# a gradient of a maximum does not stand: it looks for the element that is equal to the maximum.
OP_BY_OP = {
    "xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT",
    "xla_disable_hlo_passes": "fusion",
}
# Draws of arguments that are off by a rounding error: of XLA's own error, and of how
# ill-conditioned an expression is.
DRAWS = 4
# So many more before a result is called wrong: one draw may be unlucky, so what counts in the end
# is the usual error, and a difference that cancels to nothing may have a rounding error more.
MORE_DRAWS = 28
MOST_WORSE_USUALLY = 3
# By how many such rounding errors of the arguments results may be off, whatever XLA's error is.
MOST_ARGUMENT_ULPS = 4


class Failure(AssertionError):
    """A simplified program that is not valid, or not exact enough."""


@dataclasses.dataclass
class Outcome:
    # How often each was applied.
    rules: dict[str, int]
    # Whether a result had to be compared with float64.
    needed_reference: bool = False
    # Whether the results agree only if each op is computed alone.
    needed_op_by_op: bool = False
    # Results that are less exact than XLA's by more than a factor of two, but not by more than what
    # rounding errors of the arguments explain: (error, XLA's own).
    explained: list[tuple[float, float]] = dataclasses.field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def run(case: Case, strict: bool = False, disabled: Sequence[str] = ()) -> Outcome:
    """Raises Failure if the simplified program is not the program."""
    with jax.enable_x64(case.is_wide):
        lowered = jax.jit(case.graph).lower(*case.arguments)
        program = roundtrip.graph_of(lowered.compiler_ir())
        try:
            simplified, report = program.simplify(strict=strict, disabled=disabled)
            simplified.verify()
            # Rules have to cope with what they made, too.
            simplified.simplify(strict=strict, disabled=disabled)[0].verify()
        except Exception as error:
            raise Failure(f"algebra failed: {error}") from error
        outcome = Outcome(dict(collections.Counter(rule["rule"] for rule in report["rules"])))
        if not outcome.rules:
            return outcome
        try:
            _compare(case, lowered, simplified.text_bytes(), outcome, None)
        except Failure:
            outcome.needed_op_by_op = True
            _compare(case, lowered, simplified.text_bytes(), outcome, OP_BY_OP)
    return outcome


def _compare(
    case: Case, lowered: Any, text: bytes, outcome: Outcome, options: dict[str, str] | None
) -> None:
    plain = lowered.compile(options)
    try:
        # Another function, or JAX would find what it has compiled.
        copy = jax.jit(lambda *arguments: case.graph(*arguments))
        changed = compile_in_place_of(copy.lower(*case.arguments), text, options)
    except Exception as error:
        raise Failure(f"XLA refused the simplified program: {error}") from error
    expected = [np.asarray(r) for r in plain(*case.arguments)]
    results = [np.asarray(r) for r in changed(*case.arguments)]
    Comparison(case, plain, changed, outcome).compare(expected, results)


class Comparison:
    def __init__(self, case: Case, plain: Any, changed: Any, outcome: Outcome):
        self.case = case
        self.plain = plain
        self.changed = changed
        self.outcome = outcome

    def compare(self, expected: Sequence[np.ndarray], results: Sequence[np.ndarray]) -> None:
        suspects = []
        for place, (x, y) in enumerate(zip(expected, results, strict=True)):
            if x.shape != y.shape or x.dtype != y.dtype:
                raise Failure(f"result {place} is {y.dtype}{y.shape}, not {x.dtype}{x.shape}")
            if str(x.dtype) not in WIDE:
                if not np.array_equal(x, y):
                    raise Failure(f"result {place} differs: {show_difference(x, y, x == y)}")
            elif not _is_near(x, y):
                suspects.append((place, x, y))
        if suspects:
            self.outcome.needed_reference = True
            self._compare_with_reference(suspects)

    def _compare_with_reference(self, suspects) -> None:
        """Neither is the truth: the simplified program may be off twice as far as XLA's own."""
        rng = np.random.default_rng(self.case.seed)
        reference = jax.jit(lambda *arguments: self.case.graph(*arguments))
        draws = [self.case.arguments]
        truths, plains, changed = [], [], []
        for count in (DRAWS, MORE_DRAWS):
            draws += [[_disturb(rng, a) for a in self.case.arguments] for _ in range(count)]
            for draw in draws[len(truths) :]:
                with jax.enable_x64(True):
                    truths.append(_all_widened(reference(*_all_widened(draw))))
                plains.append(_all_widened(self.plain(*draw)))
                changed.append(_all_widened(self.changed(*draw)))
            try:
                for place, x, y in suspects:
                    results = [[r[place] for r in each] for each in (truths, plains, changed)]
                    with np.errstate(invalid="ignore"):
                        self._judge(place, x, y, *results)
                return
            except Failure:
                if count == MORE_DRAWS:
                    raise

    def _judge(self, place, x, y, truths, plains, changed) -> None:
        truth = truths[0]
        usual = np.isfinite(truth) & np.isfinite(x)
        lost = usual & ~np.isfinite(y)
        if np.any(lost):
            raise Failure(f"result {place} is not finite: {show_difference(x, y, ~lost)}")
        # Where XLA overflows, or where there is nothing to compute, anything is as good.
        usual &= np.isfinite(y)
        for other in (*truths, *plains, *changed):
            usual &= np.isfinite(other)

        def off(a, b):
            return norm(np.where(usual, a - b, 0))

        size = norm(np.where(usual, truth, 0))
        # Of programs of float64 XLA's own error is not known: it is what an ulp makes of them.
        own = max(off(p, t) for p, t in zip(plains, truths, strict=True))
        sensitivity = max(off(t, truth) for t in truths)
        errors = [off(c, t) for c, t in zip(changed, truths, strict=True)]
        error, worse = errors[0], MOST_WORSE
        if len(errors) > 1 + DRAWS:
            error, worse = float(np.median(errors)), MOST_WORSE_USUALLY
        # Sums of so many terms, in another order.
        longest = max((n for a in self.case.arguments for n in a.shape), default=1)
        few = (FEW_ULPS + 2 * math.sqrt(longest)) * ulp(x.dtype) * size
        if error <= worse * own + few:
            return
        if error <= worse * own + MOST_ARGUMENT_ULPS * sensitivity + few:
            if str(x.dtype) != "float64":
                self.outcome.explained.append((error / (size or 1), own / (size or 1)))
            return
        raise Failure(
            f"result {place}, {x.dtype}{list(x.shape)}, is off by {error:.3g} from float64, XLA's "
            f"own by {own:.3g}; an ulp in the arguments changes it by {sensitivity:.3g} of "
            f"{size:.3g}: "
            + show_difference(x, y, np.abs(y - truth) < np.max(np.abs(y - truth), initial=0))
        )


def _is_near(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether they are the same to a few units of the last place: no reference is needed."""
    if not (np.all(np.isfinite(x)) and np.all(np.isfinite(y))):
        return bool(np.array_equal(x, y, equal_nan=True))
    wide_x, wide_y = widened(x), widened(y)
    return norm(wide_x - wide_y) <= FEW_ULPS * ulp(x.dtype) * norm(wide_x)


def _disturb(rng: np.random.Generator, array: np.ndarray) -> np.ndarray:
    """Off by an ulp, and still symmetric if it was."""
    if str(array.dtype) not in WIDE:
        return array
    signs = rng.choice([-1, 0, 1], array.shape)
    if array.ndim == 2 and array.shape[0] == array.shape[1] and np.array_equal(array, array.T):
        signs = np.tril(signs) + np.tril(signs, -1).T
    return np.asarray(jnp.asarray(widened(array) * (1 + ulp(array.dtype) * signs), array.dtype))


def _all_widened(arrays) -> list[np.ndarray]:
    arrays = [np.asarray(array) for array in arrays]
    return [widened(a) if str(a.dtype) in WIDE else a for a in arrays]


def blamed(case: Case, strict: bool = False) -> list[str]:
    """The rules without which the case does not fail."""
    names = [rule["name"] for rule in ir.rules()]
    return [name for name in names if not fails(case, case.graph, case.arguments, strict, [name])]


def fails(case: Case, graph, arguments, strict: bool = False, disabled: Sequence[str] = ()) -> bool:
    try:
        run(dataclasses.replace(case, graph=graph, arguments=list(arguments)), strict, disabled)
    except Failure:
        return True
    except Exception:
        return False
    return False


def shrink(case: Case, strict: bool = False) -> Case:
    """A smaller case that fails too: fewer outputs, and arguments in the place of nodes."""
    graph = case.graph
    # A differentiated program has weights of its outputs behind its inputs.
    arguments = list(case.arguments[: len(graph.inputs)])
    weights = list(case.arguments[len(graph.inputs) :])
    plain = dataclasses.replace(graph, is_differentiated=False)
    if fails(case, plain, arguments, strict):
        graph, weights = plain, []
    for number in [i for node in graph.nodes for i in node.results]:
        smaller = dataclasses.replace(graph, outputs=[number]).without_dead_nodes()
        if fails(case, smaller, arguments + weights, strict):
            graph = smaller
            break
    for node in list(graph.nodes):
        if not any(other is node for other in graph.nodes):
            continue
        given = list(node.results)
        part = dataclasses.replace(graph, outputs=given, is_differentiated=False)
        try:
            with jax.enable_x64(case.is_wide):
                values = jax.jit(part)(*arguments)
        except Exception:
            continue
        smaller = dataclasses.replace(
            graph,
            inputs=graph.inputs + given,
            nodes=[other for other in graph.nodes if other is not node],
        ).without_dead_nodes()
        more = arguments + [np.asarray(value) for value in values]
        if fails(case, smaller, more + weights, strict):
            graph, arguments = smaller, more
    used = {i for node in graph.nodes for i in node.operands} | set(graph.outputs)
    kept = [k for k, i in enumerate(graph.inputs) if i in used]
    graph = dataclasses.replace(graph, inputs=[graph.inputs[k] for k in kept])
    return dataclasses.replace(case, graph=graph, arguments=[arguments[k] for k in kept] + weights)
