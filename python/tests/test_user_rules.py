"""`plimsoll.rule`: rules that users state themselves."""

import subprocess
import sys
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plimsoll
from algebra.check import compare, with_gradient
from plimsoll import ir, roundtrip, user_rules


def numbers(*shape, dtype="float32"):
    random = np.random.RandomState(sum(shape))
    return random.uniform(0.5, 2, shape).astype(dtype)


@pytest.fixture
def state():
    """States rules and removes them after the test."""
    stated = []

    def state(*arguments, **options):
        stated.append(plimsoll.rule(*arguments, **options))
        return stated[-1]

    yield state
    for one in stated:
        one.remove()


def built_in():
    return [rule["name"] for rule in ir.rules() if rule["pattern"] != "as the user stated it"]


def fired(function, *arguments):
    """The names of the user's rules that fire where no other rule may; results are compared."""
    return compare(function, arguments, disabled=built_in()).fired


def simplified(function, *arguments):
    """The program as the user's rules make it, and the report."""
    lowered = jax.jit(lambda *arguments: function(*arguments)).lower(*arguments)
    return roundtrip.graph_of(lowered.compiler_ir()).simplify(disabled=built_in())


def trace_of_product(a, b):
    return jnp.trace(a @ b)


def sum_of_product(a, b):
    return jnp.sum(a * b.T)


M, N = 61, 53


def test_a_pattern_is_replaced(state):
    assert state(trace_of_product, sum_of_product).name == "trace_of_product"
    assert fired(trace_of_product, numbers(M, N), numbers(N, M)) == {"trace_of_product"}


@pytest.mark.parametrize(
    "function, shapes",
    [
        (lambda a, b: jnp.trace(jnp.dot(a, b)), [(M, N), (N, M)]),
        (lambda a, b: 3 * jnp.trace(jnp.matmul(a, b)), [(M, N), (N, M)]),
        (lambda a, b: jnp.trace(a @ b.T), [(M, N), (M, N)]),
        (lambda a, b: jnp.trace((b.T @ a.T).T), [(M, N), (N, M)]),
        (lambda a, b: jnp.trace(jnp.exp(a) @ (2 * b)), [(M, N), (N, M)]),
        (lambda a: jnp.trace(a @ a.T), [(M, N)]),
        (lambda a, b: jnp.trace(a @ b), [(N, 1), (1, N)]),
    ],
)
def test_a_pattern_is_found_however_it_is_written(state, function, shapes):
    state(trace_of_product, sum_of_product, name="mine")
    assert fired(function, *(numbers(*shape) for shape in shapes)) == {"mine"}


@pytest.mark.parametrize("rank", range(6))
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_a_pattern_is_found_for_all_ranks_and_floats(state, rank, dtype):
    state(lambda x, y: jnp.exp(jnp.log(x) + jnp.log(y)), lambda x, y: x * y, name="mine")
    shape = tuple(range(2, 2 + min(rank, 4)))
    x = numbers(*shape).astype(jnp.dtype(dtype))
    _, report = simplified(lambda x, y: jnp.exp(jnp.log(y) + jnp.log(x)), x, x + 1)
    assert [one["rule"] for one in report["rules"]] == ["mine"]


@pytest.mark.parametrize(
    "shapes", [[(M, N), (N,)], [(M, N), (M, 1)], [(M, N), (1, N)], [(M, N), ()], [(N,), (M, N)]]
)
def test_a_pattern_is_found_where_arrays_are_broadcast(state, shapes):
    state(lambda x, y: jnp.exp(jnp.log(x) + jnp.log(y)), lambda x, y: x * y, name="mine")
    function = lambda x, y: jnp.exp(jnp.log(x) + jnp.log(y))  # noqa: E731
    assert fired(function, *(numbers(*shape) for shape in shapes)) == {"mine"}


def test_sums_of_short_numbers_are_found(state):
    state(lambda u, v: jnp.sum(jnp.outer(u, v)), lambda u, v: jnp.sum(u) * jnp.sum(v), name="mine")
    x = numbers(M, dtype="float16")
    _, report = simplified(lambda u, v: jnp.sum(jnp.outer(u, v)), x, x)
    assert [one["rule"] for one in report["rules"]] == ["mine"]


def test_loops_and_library_calls_are_part_of_a_pattern(state):
    state(lambda a, b: jnp.linalg.inv(a) @ b, jnp.linalg.solve, name="mine")
    a = numbers(M, M) + M * np.eye(M, dtype="float32")
    assert fired(lambda a, b: jnp.linalg.inv(a) @ b, a, numbers(M)) == {"mine"}


def test_a_pattern_is_found_inside_of_loops(state):
    state(trace_of_product, sum_of_product, name="mine")

    def function(a, b):
        step = lambda total, x: (total + jnp.trace((a * x) @ b), None)  # noqa: E731
        return jax.lax.scan(step, 0.0, jnp.arange(3.0))[0]

    assert fired(function, numbers(M, N), numbers(N, M)) == {"mine"}


def test_what_others_use_stays(state):
    state(trace_of_product, sum_of_product, name="mine")

    def function(a, b):
        product = a @ b
        return product, jnp.trace(product)

    arguments = numbers(M, N), numbers(N, M)
    assert fired(function, *arguments) == {"mine"}
    assert "stablehlo.dot_general" in simplified(function, *arguments)[0].text()


def test_gradients(state):
    state(trace_of_product, sum_of_product, name="mine")
    function = with_gradient(lambda a, b: jnp.tanh(trace_of_product(a, b) / 1e4))
    assert fired(function, numbers(M, N), numbers(N, M)) == {"mine"}


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: jnp.trace(a @ b, offset=1),
        lambda a, b: jnp.sum(a @ b),
        lambda a, b: jnp.trace(a + b.T),
        lambda a, b: jnp.trace(jnp.matmul(a, b, precision="highest")),
        lambda a, b: jnp.trace((a @ b).astype("int32")),
    ],
)
def test_near_misses(state, function):
    state(trace_of_product, sum_of_product, name="mine")
    assert fired(function, numbers(N, N), numbers(N, N)) == set()


def test_constants_must_be_equal(state):
    state(lambda x: jnp.exp(2 * jnp.log(x)), lambda x: x * x, name="mine")
    assert fired(lambda x: jnp.exp(jnp.log(x) * 2), numbers(M)) == {"mine"}
    assert fired(lambda x: jnp.exp(3 * jnp.log(x)), numbers(M)) == set()


def test_integers_are_left_alone(state):
    state(lambda x, y: (x * y) / (y * y), lambda x, y: x / y, name="mine")
    whole = np.arange(1, 9, dtype="int32")
    assert fired(lambda x, y: (x * y) / (y * y), numbers(8), numbers(8)) == {"mine"}
    _, report = simplified(lambda x, y: jax.lax.div(x * y, y * y), whole, whole)
    assert not report["rules"]


def test_a_condition(state):
    state(trace_of_product, sum_of_product, when=lambda a, b: a.shape[0] < 50, name="mine")
    assert fired(trace_of_product, numbers(40, N), numbers(N, 40)) == {"mine"}
    compared = compare(trace_of_product, [numbers(60, N), numbers(N, 60)], disabled=built_in())
    assert not compared.fired
    assert compared.report["refused_rules"][0]["reason"] == (
        f"its condition does not hold for float32[60,{N}], float32[{N},60]"
    )


def test_a_condition_that_fails_is_told(state):
    state(trace_of_product, sum_of_product, when=lambda a, b: 1 // (a.shape[0] - 60), name="mine")
    compared = compare(trace_of_product, [numbers(60, N), numbers(N, 60)], disabled=built_in())
    assert "ZeroDivisionError" in compared.report["refused_rules"][0]["reason"]


def test_what_does_not_pay_is_told(state):
    state(sum_of_product, trace_of_product, name="backwards")
    compared = compare(sum_of_product, [numbers(M, N), numbers(N, M)], disabled=built_in())
    assert not compared.fired
    assert compared.refused == {"backwards"}


def test_rules_are_used_for_speed_and_explained(state, monkeypatch):
    state(trace_of_product, sum_of_product, name="mine")
    arguments = numbers(1000, 50), numbers(50, 1000)
    assert not plimsoll.explain(trace_of_product, *arguments).compilation.is_changed
    monkeypatch.setenv("PLIMSOLL_OPTIMIZE", "speed")
    text = str(plimsoll.explain(trace_of_product, *arguments))
    assert "it fits, and is made faster" in text
    assert "mine (" in text
    expected = np.trace(arguments[0].astype("float64") @ arguments[1])
    result = jax.jit(lambda a, b: trace_of_product(a, b))(*arguments)
    np.testing.assert_allclose(result, expected, rtol=1e-5)
    monkeypatch.setenv("PLIMSOLL_DISABLE", "mine")
    assert "mine (" not in str(plimsoll.explain(trace_of_product, *arguments))


def test_strict_numerics_leave_them_out(state):
    state(trace_of_product, sum_of_product, name="mine")
    arguments = [numbers(M, N), numbers(N, M)]
    assert not compare(trace_of_product, arguments, disabled=built_in(), strict=True).fired


def test_removed_rules_are_not_used():
    one = plimsoll.rule(trace_of_product, sum_of_product, name="mine")
    assert "mine" in {rule["name"] for rule in ir.rules()}
    one.remove()
    one.remove()
    assert repr(one) == "<plimsoll.Rule mine, removed>"
    assert "mine" not in {rule["name"] for rule in ir.rules()}
    assert fired(trace_of_product, numbers(M, N), numbers(N, M)) == set()


def test_the_key_of_the_cache_tells_rules_apart(state):
    none = user_rules.key()
    keys = {none}
    for when in (None, lambda a, b: a.size < 9, lambda a, b: a.size < 8):
        one = plimsoll.rule(trace_of_product, sum_of_product, when=when, name="mine")
        keys.add(user_rules.key())
        one.remove()
    assert len(keys) == 4
    assert user_rules.key() == none


_KEY = """
import jax.numpy as jnp, plimsoll
from plimsoll import user_rules
size = 9
def make():
    limit = 7
    return lambda a, b: a.size < limit
plimsoll.rule(lambda a, b: jnp.trace(a @ b), lambda a, b: jnp.sum(a * b.T), when=make())
print(user_rules.key())
"""


def test_the_key_is_the_same_in_another_process():
    keys = {
        subprocess.run([sys.executable, "-c", _KEY], capture_output=True, check=True).stdout
        for _ in range(2)
    }
    assert len(keys) == 1 and len(keys.pop()) > 32


def test_names(state):
    assert state(lambda x: jnp.exp(jnp.log(x)), lambda x: x).name == "rule_1"
    assert state(lambda x: jnp.log(jnp.exp(x)), lambda x: x).name == "rule_2"
    with pytest.raises(plimsoll.PlimsollError, match="PL204.*a rule called rule_1 already"):
        state(lambda x: jnp.log(jnp.exp(x)), lambda x: x, name="rule_1")
    with pytest.raises(plimsoll.PlimsollError, match="a rule called reorder_products already"):
        state(lambda x: jnp.log(jnp.exp(x)), lambda x: x, name="reorder_products")


@pytest.mark.parametrize(
    "pattern, result, message",
    [
        (lambda x: x * x, lambda x, y: x * y, "the pattern takes 1 arguments; the result"),
        (lambda *x: x[0], lambda x: x, "any number of arguments"),
        (lambda: jnp.ones(3), lambda: jnp.ones(3), "takes 0 arguments"),
        (lambda x: jnp.exp(x), lambda x: x[None], r"gives float32\[3.*\], the result float32"),
        (lambda x: (x, x), lambda x: (x, x), "it must give one array"),
        (lambda x: jnp.sin(x), lambda x: jnp.cos(x), "where the result gives"),
        (lambda x: jnp.sqrt(x * x), lambda x: x, "where the result gives"),
        (lambda x: x[0, "a"], lambda x: x, "the pattern cannot be traced for"),
        (lambda x: x, lambda x: x, "it computes nothing"),
        (lambda x, y: jnp.exp(x), lambda x, y: jnp.exp(x), "does not use all its arguments"),
        (
            lambda x: jax.pure_callback(np.sin, x, x),
            lambda x: jnp.sin(x),
            "it calls Python while it runs",
        ),
    ],
)
def test_wrong_rules_are_refused(pattern, result, message):
    with pytest.raises(plimsoll.PlimsollError, match=f"PL204.*{message}"):
        plimsoll.rule(pattern, result)
    assert not user_rules.key()


def test_a_rule_may_hold_for_some_ranks_only(state):
    def pattern(x):
        return jnp.exp(jnp.log(jnp.sqrt(jnp.sum(x * x))))

    def result(x):
        return jnp.linalg.norm(x, ord=2)

    state(pattern, result, name="mine")
    assert fired(pattern, numbers(M)) == {"mine"}
    assert fired(pattern, numbers(M, N)) == set()


def test_several_threads(state):
    state(trace_of_product, sum_of_product, name="mine")
    found = []

    def run(size):
        _, report = simplified(trace_of_product, numbers(size, N), numbers(N, size))
        found.append([one["rule"] for one in report["rules"]])

    threads = [threading.Thread(target=run, args=(size,)) for size in range(60, 68)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [["mine"]] * 8
