"""`plimsoll.rule`: a rule of algebra that the user states (docs/rules.md).

The core looks for the pattern in the forms that it has for small arrays of some numbers of
dimensions. Where it finds one, it asks here for both sides for the arrays that are there.
"""

import ctypes
import hashlib
import inspect
import itertools
import json
import pickle
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from plimsoll import ir, roundtrip
from plimsoll._native import RULE_LOWER, check, lib
from plimsoll.errors import PlimsollError
from plimsoll.log import logger

if TYPE_CHECKING:
    import jax

# How many dimensions arguments have at most where the pattern is looked for, by their number.
_MOST_DIMENSIONS = {1: 5, 2: 4, 3: 3, 4: 2, 5: 2}
_SAMPLE_SIZE = 3
# How far both sides may be apart on samples, as a part of the largest number.
_TOLERANCE = 1e-3

_DTYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}


class Rule:
    """A rule of the user's own, which is used until it is removed. Made by `plimsoll.rule`."""

    def __init__(
        self,
        pattern: Callable,
        result: Callable,
        when: Callable[..., bool] | None,
        name: str,
        samples: Sequence["_Sample"],
    ):
        self.name = name
        """As PLIMSOLL_DISABLE takes it."""
        self._sides = pattern, result
        self._when = when
        self._number = next(_numbers)
        programs = [program for sample in samples for program in sample.patterns]
        hashed = hashlib.sha256(name.encode())
        for program in itertools.chain(programs, (sample.result for sample in samples)):
            hashed.update(ir.Module(program, "a rule").text_bytes(locations=False))
        for function in (pattern, result, when):
            hashed.update(_fingerprint(function))
        self._key = hashed.hexdigest()
        handle = ctypes.c_void_p()
        # It is asked as soon as it is added.
        _rules[self._number] = self
        try:
            check(
                lib.plimsoll_rule_add(
                    name.encode(),
                    (ctypes.c_char_p * len(programs))(*programs),
                    (ctypes.c_size_t * len(programs))(*map(len, programs)),
                    len(programs),
                    _lower,
                    self._number,
                    ctypes.byref(handle),
                )
            )
        except BaseException:
            del _rules[self._number]
            raise
        self._handle = handle.value

    def remove(self) -> None:
        """The rule is not used for programs that are compiled from now on."""
        with _lock:
            handle, self._handle = self._handle, None
            if handle is not None:
                del _rules[self._number]
                lib.plimsoll_rule_remove(handle)

    def __repr__(self) -> str:
        return f"<plimsoll.Rule {self.name}{'' if self._handle else ', removed'}>"

    def _answer(self, types: list[dict[str, Any]], answer: int) -> None:
        import jax

        if any(one.get("element_type") not in _DTYPES for one in types):
            return
        arguments = [
            jax.ShapeDtypeStruct(tuple(one["shape"]), _DTYPES[one["element_type"]]) for one in types
        ]
        pattern, result = self._sides
        try:
            program = _lowered(pattern, arguments)
        except Exception as error:
            logger.debug("the rule %s is not for %s: %s", self.name, _text(arguments), error)
            return
        try:
            if self._when is not None and not self._when(*arguments):
                reason = f"its condition does not hold for {_text(arguments)}"
            else:
                other = _lowered(result, arguments)
                lib.plimsoll_rule_answer(answer, program, len(program), other, len(other))
                return
        except Exception as error:
            reason = f"for {_text(arguments)}: {type(error).__name__}: {error}"
        lib.plimsoll_rule_refuse(answer, program, len(program), reason.encode())


def rule(
    pattern: Callable,
    result: Callable,
    when: Callable[..., bool] | None = None,
    name: str | None = None,
) -> Rule:
    """States that `result(*args)` can be computed where a program computes `pattern(*args)`.

        plimsoll.rule(lambda a, b: jnp.trace(a @ b), lambda a, b: jnp.sum(a * b.T))

    Both are functions of the same arrays that JAX can trace. The pattern is found in whatever
    order operands stand and for all sizes; it is replaced where that is thought to take less time
    or memory, and `when` allows it: it is given a jax.ShapeDtypeStruct for each argument. `name` is
    for PLIMSOLL_DISABLE. Programs that are compiled already stay as they are.
    """
    with _lock:
        name = name or _default_name(pattern)
        samples = _samples(pattern, result, when, name)
        samples = _agreeing(pattern, result, name, samples)
        try:
            samples = _with_programs(pattern, result, samples)
        except TypeError as error:
            raise _mistake(name, str(error)) from None
        return Rule(pattern, result, when, name, samples)


def key() -> str:
    """What of the rules belongs into the persistent cache's key."""
    return " ".join(one._key for one in list(_rules.values()))


class _Sample:
    """Arguments for which both sides give the same type."""

    def __init__(self, arguments: Sequence["jax.ShapeDtypeStruct"]):
        self.arguments = arguments
        self.patterns: list[bytes] = []
        """The pattern as a program, for all kinds of numbers that make a difference."""
        self.result = b""


def _samples(
    pattern: Callable, result: Callable, when: Callable | None, name: str
) -> list[_Sample]:
    """Arguments of each number of dimensions for which the pattern can be traced."""
    import jax

    count = _argument_count(pattern, name)
    for function, what in ((result, "the result"), (when, "the condition")):
        if function is None:
            continue
        try:
            inspect.signature(function).bind(*range(count))
        except TypeError as error:
            raise _mistake(name, f"the pattern takes {count} arguments; {what}: {error}") from None
        except ValueError:
            pass  # Its arguments are not known.
    samples = []
    fault = f"{name} takes no arguments"
    dimensions = range(_MOST_DIMENSIONS[count] + 1)
    for ranks in sorted(itertools.product(dimensions, repeat=count), key=sum):
        arguments = [jax.ShapeDtypeStruct((_SAMPLE_SIZE,) * rank, "float32") for rank in ranks]
        try:
            expected = _type_of(pattern, arguments)
        except Exception as error:
            if not samples:
                fault = f"the pattern cannot be traced for {_text(arguments)}: {error}"
            continue
        try:
            given = _type_of(result, arguments)
        except Exception as error:
            fault = f"the result cannot be traced for {_text(arguments)}: {error}"
            continue
        if given != expected:
            fault = f"for {_text(arguments)} the pattern gives {expected}, the result {given}"
            continue
        samples.append(_Sample(arguments))
    if not samples:
        raise _mistake(name, fault)
    return samples


def _argument_count(pattern: Callable, name: str) -> int:
    try:
        parameters = inspect.signature(pattern).parameters.values()
    except ValueError:
        raise _mistake(name, "the pattern's arguments are not known") from None
    if any(one.kind is one.VAR_POSITIONAL for one in parameters):
        raise _mistake(name, "the pattern takes any number of arguments")
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    count = sum(one.kind in places and one.default is one.empty for one in parameters)
    if count not in _MOST_DIMENSIONS:
        most = max(_MOST_DIMENSIONS)
        raise _mistake(name, f"the pattern takes {count} arguments; it must be 1 to {most}")
    return count


def _type_of(function: Callable, arguments: Sequence["jax.ShapeDtypeStruct"]) -> str:
    import jax

    given = jax.eval_shape(function, *arguments)
    if not isinstance(given, jax.ShapeDtypeStruct):
        raise TypeError("it must give one array")
    return _text([given])


def _agreeing(
    pattern: Callable, result: Callable, name: str, samples: list[_Sample]
) -> list[_Sample]:
    """The samples for which both sides give the same numbers.

    Rules are seldom meant for arrays of all numbers of dimensions: they are not used for others.
    """
    import jax
    import numpy as np

    random = np.random.RandomState(0)

    def numbers(sample: _Sample) -> list[list[np.ndarray]]:
        # One number may happen to be positive.
        count = 1 if any(one.shape for one in sample.arguments) else 4
        draws = [random.standard_normal] * count + [lambda shape: random.uniform(0.5, 2, shape)]
        return [[np.float32(draw(one.shape)) for one in sample.arguments] for draw in draws]

    # All at once, because each compilation takes its time.
    @jax.jit
    def both(values: Any) -> Any:
        return [[(pattern(*x), result(*x)) for x in sample] for sample in values]

    agreeing, faults = [], []
    for sample, given in zip(samples, both([numbers(sample) for sample in samples]), strict=True):
        difference = next(filter(None, itertools.starmap(_difference, given)), None)
        if difference is None:
            agreeing.append(sample)
            continue
        faults.append(
            f"for {_text(sample.arguments)} the pattern gives {difference[0]:.6g} where the result"
            f" gives {difference[1]:.6g}"
        )
    # What holds for single numbers alone is a slip.
    if faults and not any(one.shape for sample in agreeing for one in sample.arguments):
        raise _mistake(name, faults[0])
    for fault in faults:
        logger.debug("the rule %s is not used: %s", name, fault)
    return agreeing


def _difference(expected: Any, given: Any) -> tuple[float, float] | None:
    """The numbers that are furthest apart, if that is too far.

    Where the pattern gives no number, the result may give any.
    """
    import numpy as np

    expected, given = (np.asarray(x, np.float64).ravel() for x in (expected, given))
    is_number = np.isfinite(expected)
    expected, given = expected[is_number], given[is_number]
    if not expected.size:
        return None
    # Not "greater": what is no number is too far.
    apart = np.where(np.isfinite(given), np.abs(given - expected), np.inf)
    worst = int(np.argmax(apart))
    if apart[worst] <= _TOLERANCE * np.max(np.abs(expected)):
        return None
    return float(expected[worst]), float(given[worst])


def _with_programs(pattern: Callable, result: Callable, samples: list[_Sample]) -> list[_Sample]:
    import jax

    for sample in samples:
        sample.patterns.append(_lowered(pattern, sample.arguments))
        sample.result = _lowered(result, sample.arguments)
        # Sums of short numbers and the like are taken in longer ones.
        short = [jax.ShapeDtypeStruct(one.shape, "bfloat16") for one in sample.arguments]
        try:
            text = str(jax.make_jaxpr(pattern)(*short)).replace("bf16", "f32")
            if text != str(jax.make_jaxpr(pattern)(*sample.arguments)):
                sample.patterns.append(_lowered(pattern, short))
        except Exception as error:
            logger.debug("not for short numbers: %s", error)
    return samples


def _lowered(function: Callable, arguments: Sequence["jax.ShapeDtypeStruct"]) -> bytes:
    """The function as a program. Calls of Python are refused: nobody would keep them alive."""
    import jax

    # A function of its own, or JAX would keep what it traced for as long as the user's lives.
    traced = jax.jit(lambda *args: function(*args), keep_unused=True).trace(*arguments)
    if "callback" in str(traced.jaxpr):
        raise TypeError("it calls Python while it runs")
    return roundtrip.bytecode_of(traced.lower().compiler_ir())


def _text(arguments: Sequence["jax.ShapeDtypeStruct"]) -> str:
    return ", ".join(f"{one.dtype}[{','.join(map(str, one.shape))}]" for one in arguments)


def _fingerprint(function: Callable | None) -> bytes:
    """Something that is different for functions that do different things."""
    code = getattr(function, "__code__", None)
    if code is None:
        name = getattr(function, "__qualname__", None)
        return f"{getattr(function, '__module__', '')}.{name or repr(function)}".encode()
    parts = [code.co_code, repr(code.co_names).encode()]
    # Functions inside of it have addresses in their text.
    parts += [
        getattr(constant, "co_code", None) or repr(constant).encode() for constant in code.co_consts
    ]
    held = [function.__defaults__, *(cell.cell_contents for cell in function.__closure__ or ())]
    for value in held:
        try:
            parts.append(pickle.dumps(value))
        except Exception:
            parts.append(repr(value).encode())
    return b" ".join(parts)


def _default_name(pattern: Callable) -> str:
    name = getattr(pattern, "__name__", "")
    taken = {one["name"] for one in ir.rules()}
    if name.isidentifier() and name not in taken:
        return name
    return next(name for i in itertools.count(1) if (name := f"rule_{i}") not in taken)


def _mistake(name: str, message: str) -> PlimsollError:
    return PlimsollError("PL204", f"plimsoll.rule {name}: {message}")


# Only rules are stated one after the other; programs are compiled by several threads at once.
_lock = threading.RLock()
_numbers = itertools.count(1)
_rules: dict[int, Rule] = {}


@RULE_LOWER
def _lower(number: int, types: bytes, answer: int) -> None:
    # The rule may have been removed since. An exception that gets here is printed and goes no
    # further: nothing is answered then.
    one = _rules.get(number)
    if one is not None:
        one._answer(json.loads(types), answer)
