"""Rules of algebra on programs as people write them: which fire, and how exact they are."""

import importlib
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plimsoll
from algebra.check import compare, with_gradient
from conftest import ROOT
from plimsoll import algebra, ir


def numbers(*shape, dtype="float32", seed=0):
    """Numbers around 0, the same for the same shape."""
    random = np.random.RandomState(seed + sum(shape))
    values = random.standard_normal(shape)
    if np.dtype(dtype).kind == "i":
        return np.round(4 * values).astype(dtype)
    if np.dtype(dtype).kind == "c":
        return (values + 1j * random.standard_normal(shape)).astype(dtype)
    return values.astype(dtype)


M, N, K = 211, 223, 227

# By rule: functions, each with the shapes of its arguments.
PRODUCTS = {
    "reorder_products": [
        (lambda a, b, v: a @ b @ v, [(M, N), (N, K), (K,)]),
        (lambda a, b, v: (a.T @ b) @ v, [(N, M), (N, K), (K, 3)]),
        (lambda a, b, c, d, e: a @ b @ c @ d @ e, [(M, N), (N, K), (K, 2), (2, M), (M, N)]),
        (lambda u, v, x: (u @ v.T) @ x, [(M, 3), (N, 3), (N,)]),
        (lambda u, v, x: jnp.outer(u, v) @ x, [(M,), (N,), (N, 5)]),
        (lambda a, b: jnp.sum(a @ b), [(M, N), (N, K)]),
        (lambda a, b: jnp.sum(a @ b, axis=0), [(M, N), (N, K)]),
        (lambda a, b: jnp.mean(a @ b, axis=1), [(M, N), (N, K)]),
        (lambda a, b, v: 0.5 * (-(a @ b) / 3) @ v, [(M, N), (N, K), (K,)]),
        (lambda a, b, v: jnp.einsum("bij,bjk->bik", a, b) @ v, [(3, M, N), (3, N, K), (K,)]),
        (lambda p, q, a, v: (p[:, None] * a * q[None, :]) @ v, [(M,), (N,), (M, N), (N,)]),
        (jax.vmap(lambda a, b, v: a @ b @ v, (0, None, 0)), [(3, M, N), (N, K), (3, K)]),
    ],
    "diagonal_products": [
        (lambda d, a: jnp.diag(d) @ a, [(M,), (M, N)]),
        (lambda d, a: a @ jnp.diag(d), [(N,), (M, N)]),
        (lambda d, a, b: a @ jnp.diag(d) @ b, [(N,), (M, N), (N, K)]),
        (lambda a, b: jnp.trace(a @ b), [(M, N), (N, M)]),
        (lambda a: jnp.trace(a.T @ a), [(M, N)]),
        (lambda a, b: jnp.diag(a @ b), [(M, N), (N, M)]),
        (lambda a, b: jnp.diagonal(a @ b, axis1=1, axis2=2), [(3, M, 5), (3, 5, M)]),
        (lambda a: jnp.eye(M, dtype=a.dtype) @ a, [(M, N)]),
        (lambda d, a: (jnp.eye(M, dtype=a.dtype) * d) @ a, [(M,), (M, N)]),
    ],
    "kronecker_products": [
        (lambda a, b, x: jnp.kron(a, b) @ x, [(7, 11), (13, 5), (55,)]),
        (lambda a, b, x: jnp.kron(a, b) @ x, [(7, 11), (13, 5), (55, 3)]),
        (lambda a, b, x: x @ jnp.kron(a, b), [(7, 11), (13, 5), (91,)]),
    ],
}


def kernel(x):
    return jnp.exp(-jnp.sum((x[:, None] - x[None]) ** 2, axis=-1))


# The same of floats alone.
MATRICES = {
    "product_of_sum": [
        (lambda x, v: (kernel(x) + 2 * jnp.eye(M)) @ v, [(M, 3), (M, 4)]),
        (lambda x, d, v: (kernel(x) + jnp.diag(jnp.exp(d))) @ v, [(M, 3), (M,), (M,)]),
        (lambda x, u, v: (kernel(x) + u @ u.T) @ v, [(M, 3), (M, 5), (M, 7)]),
        (lambda x, u, v: v.T @ (u @ u.T + kernel(x)), [(M, 3), (M, 5), (M, 7)]),
        (lambda x, u, v: v @ (x @ x.T + jnp.outer(u, u)), [(M, N), (M,), (M,)]),
    ],
    "symmetric_transpose": [
        (lambda x: kernel(x) - 0.5 * kernel(x).T, [(M, 3)]),
        (lambda a: jnp.sin(plimsoll.assume(a + a.T, "symmetric")).T, [(M, M)]),
    ],
    "symmetric_product": [
        (lambda x, v: kernel(x) @ v - 2 * (v.T @ kernel(x)).T, [(M, 3), (M, 4)]),
        (lambda x, v: jax.grad(lambda v: v @ kernel(x) @ v)(v), [(M, 3), (M,)]),
    ],
}
MATRIX_CASES = [(rule, *case) for rule, cases in MATRICES.items() for case in cases]
CASES = [(rule, *case) for rule, cases in PRODUCTS.items() for case in cases]


@pytest.mark.parametrize("dtype", ["float32", "int32", "complex64"])
@pytest.mark.parametrize("rule, function, shapes", CASES)
def test_a_rule_fires_and_is_as_exact(rule, function, shapes, dtype):
    arguments = [numbers(*shape, dtype=dtype) for shape in shapes]
    if dtype == "int32" and jax.eval_shape(function, *arguments).dtype != jnp.int32:
        pytest.skip("not of integers")
    compared = compare(function, arguments)
    assert rule in compared.fired


@pytest.mark.parametrize("rule, function, shapes", MATRIX_CASES)
def test_what_matrices_are_is_used(rule, function, shapes):
    assert rule in compare(function, [numbers(*shape) for shape in shapes]).fired


@pytest.mark.parametrize("rule, function, shapes", CASES + MATRIX_CASES)
def test_gradients_are_as_exact(rule, function, shapes):
    compared = compare(with_gradient(function), [numbers(*shape) for shape in shapes])
    assert compared.report["seconds_after"] <= compared.report["seconds_before"]


@pytest.mark.parametrize("size", [0, 1, 2])
@pytest.mark.parametrize("rule, function, shapes", CASES)
def test_small_sizes(rule, function, shapes, size):
    if any(side in (7, 11, 13, 5, 55, 91) for shape in shapes for side in shape):
        pytest.skip("sizes belong together")
    small = {M: size, N: size + 1, K: 1}
    if rule == "diagonal_products":
        pytest.skip("sizes are in the function")
    compare(function, [numbers(*(small.get(side, side) for side in shape)) for shape in shapes])


ROWS, CLASSES, COLUMNS = 499, 131, 17


def one_hot_by_comparison(labels):
    return (labels[:, None] == jnp.arange(CLASSES)).astype(jnp.float32)


def cross_entropy(labels, x):
    return -jnp.mean(jnp.sum(jax.nn.one_hot(labels, CLASSES) * jax.nn.log_softmax(x), axis=-1))


def attention(labels, q, k, v):
    scores = jnp.einsum("qhd,khd->hqk", q, k)
    return jnp.einsum("hqk,khd->qhd", jax.nn.softmax(scores), v)


# By rule: functions of labels and floats, with the floats' shapes.
SELECTIONS = {
    "one_hot_product": [
        (lambda i, w: jax.nn.one_hot(i, CLASSES) @ w, [(CLASSES, COLUMNS)]),
        (lambda i, w: jax.nn.one_hot(i, CLASSES, axis=0).T @ w, [(CLASSES, COLUMNS)]),
        (lambda i, w: one_hot_by_comparison(i) @ w, [(CLASSES, COLUMNS)]),
        (lambda i, w: jnp.where(i[:, None] == jnp.arange(CLASSES), 1.0, 0.0) @ w, [(CLASSES,)]),
        (lambda i, w: w @ jax.nn.one_hot(i, CLASSES).T, [(COLUMNS, CLASSES)]),
        (lambda i, w: jnp.eye(CLASSES)[i] @ w, [(CLASSES, COLUMNS)]),
        (
            lambda i, w, c: (c[:, None] * jax.nn.one_hot(i, CLASSES)) @ w,
            [(CLASSES, COLUMNS), (ROWS,)],
        ),
        (
            lambda i, w: jax.vmap(lambda w: jax.nn.one_hot(i, CLASSES) @ w)(w),
            [(3, CLASSES, COLUMNS)],
        ),
        (
            lambda i, w: jax.vmap(lambda i, w: jax.nn.one_hot(i, CLASSES) @ w)(
                jnp.stack([i, i + 1, 2 * i]), w
            ),
            [(3, CLASSES, COLUMNS)],
        ),
    ],
    "one_hot_transposed_product": [
        (lambda i, x: jax.nn.one_hot(i, CLASSES).T @ x, [(ROWS, COLUMNS)]),
        (lambda i, x: jnp.einsum("rc,rd->dc", one_hot_by_comparison(i), x), [(ROWS, COLUMNS)]),
        (
            lambda i, x, c: (jax.nn.one_hot(i, CLASSES) * c[:, None]).T @ x,
            [(ROWS, COLUMNS), (ROWS,)],
        ),
        (
            lambda i, x: jax.vmap(lambda i, x: jax.nn.one_hot(i, CLASSES).T @ x)(
                jnp.stack([i, i + 1, 2 * i]), x
            ),
            [(3, ROWS, COLUMNS)],
        ),
    ],
    "one_hot_sum": [
        (lambda i, x: jnp.sum(jax.nn.one_hot(i, CLASSES) * x, axis=-1), [(ROWS, CLASSES)]),
        (
            lambda i, x: jnp.where(jax.nn.one_hot(i, CLASSES, dtype=bool), x, 0).sum(-1),
            [(ROWS, CLASSES)],
        ),
        (
            lambda i, x, c: jnp.sum(jax.nn.one_hot(i, CLASSES) * x * c, axis=-1),
            [(ROWS, CLASSES), (CLASSES,)],
        ),
        (cross_entropy, [(ROWS, CLASSES)]),
        (
            lambda i, x, w: jnp.sum(jax.nn.one_hot(i, CLASSES) * jnp.tanh(x @ w), axis=-1),
            [(ROWS, COLUMNS), (COLUMNS, CLASSES)],
        ),
    ],
    "scatter_as_select": [
        (
            lambda i, x: jnp.zeros((ROWS, CLASSES)).at[jnp.arange(ROWS), i].add(x),
            [(ROWS,)],
        ),
        (
            lambda i, x: jnp.zeros((ROWS, CLASSES)).at[jnp.arange(ROWS), i].set(jnp.exp(x)),
            [(ROWS,)],
        ),
        (
            lambda i, x: jax.grad(
                lambda x: jnp.take_along_axis(jax.nn.log_softmax(x), i[:, None], axis=1).sum()
            )(x),
            [(ROWS, CLASSES)],
        ),
        (
            lambda i, x: jax.vmap(
                lambda i, x: jax.grad(lambda x: jnp.sin(x[jnp.arange(ROWS), i]).sum())(x)
            )(jnp.stack([i, i + 1, 2 * i]), x),
            [(3, ROWS, CLASSES)],
        ),
    ],
    "gather_of_product": [
        (lambda i, a, b: (a @ b)[i[:9]], [(CLASSES, M), (M, N)]),
        (lambda i, a, b: (a @ b)[:, i[:9]], [(M, N), (N, CLASSES)]),
        (
            lambda i, a, b: jnp.take_along_axis(a @ b, i[:, None], axis=1),
            [(ROWS, COLUMNS), (COLUMNS, CLASSES)],
        ),
        (lambda i, a, b: (a @ b)[i[:9], i[9:18]], [(CLASSES, M), (M, CLASSES)]),
        (lambda i, a, b: jax.nn.relu(a @ b + 1)[i[:9]], [(CLASSES, M), (M, N)]),
    ],
    "slice_of_product": [
        (lambda i, a, b: (a @ b)[-1], [(M, N), (N, K)]),
        (lambda i, a, b: jnp.tanh(a @ b)[:, ::50], [(M, N), (N, K)]),
        (lambda i, a, b: jax.lax.dynamic_slice_in_dim(a @ b, i[0], 7), [(M, N), (N, K)]),
        (lambda i, a, b: jnp.einsum("bti,ij->btj", a, b)[:, -1], [(3, M, N), (N, K)]),
    ],
    "gather_of_elementwise": [
        (
            lambda i, x: jnp.take_along_axis(jax.nn.log_softmax(x), i[:, None], axis=1),
            [(ROWS, CLASSES)],
        ),
        (lambda i, x: jax.nn.log_softmax(x)[jnp.arange(ROWS), i], [(ROWS, CLASSES)]),
        (lambda i, x, b: jnp.sin(x + b)[i[:9]], [(CLASSES, N), (N,)]),
        (lambda i, x, b: jnp.sin(x * b[:, None]).T[:, i[:9]], [(CLASSES, N), (CLASSES,)]),
    ],
    "slice_of_elementwise": [
        (lambda i, x, b: jnp.sin(x + b)[3:9, ::2], [(M, N), (N,)]),
        (lambda i, x, b: jax.lax.dynamic_slice_in_dim(jnp.sin(x + b), i[0], 7), [(M, N), (N,)]),
    ],
    "softmax_product": [
        (lambda i, s, v: jax.nn.softmax(s) @ v, [(M, N), (N, 5)]),
        (lambda i, s, v: v.T @ jax.nn.softmax(s, axis=0), [(N, M), (N, 5)]),
        (
            lambda i, q, k, v: jax.nn.softmax(jnp.where(jnp.tri(M), q @ k.T / 3, -1e9)) @ v,
            [(M, 5), (M, 5), (M, 5)],
        ),
        (attention, [(M, 3, 5), (N, 3, 5), (N, 3, 5)]),
    ],
}
SELECTION_CASES = [(rule, *case) for rule, cases in SELECTIONS.items() for case in cases]


def labels_of(rule):
    """Some of them out of range, where that has a meaning of its own."""
    labels = np.random.RandomState(1).randint(0, CLASSES, ROWS).astype(np.int32)
    if rule.startswith("one_hot") or rule == "scatter_as_select":
        labels[[0, 7, 11]] = [-1, CLASSES, 2 * CLASSES]
    return labels


@pytest.mark.parametrize("rule, function, shapes", SELECTION_CASES)
def test_a_selection_is_read_alone(rule, function, shapes):
    floats = [numbers(*shape) for shape in shapes]
    compared = compare(function, [labels_of(rule), *floats])
    assert rule in compared.fired
    assert compared.report["seconds_after"] < compared.report["seconds_before"]


@pytest.mark.parametrize("rule, function, shapes", SELECTION_CASES)
def test_gradients_of_selections(rule, function, shapes):
    def both(labels, *floats):
        return with_gradient(lambda *floats: function(labels, *floats))(*floats)

    compare(both, [labels_of(rule), *(numbers(*shape) for shape in shapes)])


def test_gradients_of_rows_are_added_up():
    """Neither way a one-hot matrix is made."""

    def loss(w, labels):
        return jnp.sum(jnp.sin(jax.nn.one_hot(labels, CLASSES) @ w))

    compared = compare(jax.grad(loss), [numbers(CLASSES, COLUMNS), labels_of("one_hot_product")])
    assert {"one_hot_product", "one_hot_transposed_product"} <= compared.fired


def test_skewed_labels_are_as_exact():
    labels = np.zeros(ROWS, np.int32)
    compare(lambda i, x: jax.nn.one_hot(i, CLASSES).T @ x, [labels, np.abs(numbers(ROWS, COLUMNS))])


def test_rows_that_are_masked_are_not_numbers_by_division():
    """What is divided by 0 and then not selected."""

    def attend(mask, e, v):
        s = jnp.sum(e * mask, axis=-1, keepdims=True)
        return jnp.where(s > 0, e * mask / s, 0) @ v

    mask = np.ones((M, N), np.float32)
    mask[3] = 0
    compared = compare(attend, [mask, np.abs(numbers(M, N)), numbers(N, 5)])
    assert "softmax_product" not in compared.fired


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_far_apart_numbers(scale):
    a, b, v = numbers(M, N) * np.float32(scale), numbers(N, K), numbers(K)
    compare(lambda a, b, v: a @ b @ v, [a, b, v])


def test_gradients_share_what_the_result_needs():
    """Forward and backward together make no product of two matrices."""

    def loss(v, a, b):
        return jnp.sum((a @ b @ v) ** 2)

    side = 300
    arguments = [numbers(side), numbers(side, side), numbers(side, side)]
    compared = compare(jax.grad(loss), arguments)
    assert "reorder_products" in compared.fired
    assert compared.report["seconds_after"] < compared.report["seconds_before"] / 3


def test_what_is_there_and_was_broadcast_is_not_summed_again():
    def function(a, v, b):
        y = jnp.broadcast_to((a @ v)[:, None], b.shape)
        return y, jnp.sum(y * b, 0)

    compared = compare(function, [numbers(M, N), numbers(N), numbers(M, 11)])
    assert "reorder_products" in compared.fired


def positions(x):
    """Random bits are made of these."""
    return jax.random.bits(jax.random.key(x.astype("int32")[0, 0]), (M, N), "uint32")


def test_positions_are_narrow():
    compared = compare(positions, [numbers(2, 2)])
    assert {"narrow_integers", "shift_to_zero"} <= set(compared.fired)


def test_rules_are_switched_off_by_name():
    arguments = [numbers(M, N), numbers(N, K), numbers(K)]
    compared = compare(
        lambda a, b, v: a @ b @ v,
        arguments,
        disabled=[rule["name"] for rule in ir.rules()],
    )
    assert not compared.fired


def test_the_page_has_all_rules(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    report = importlib.import_module("benchmarks.algebra.report")
    page = (ROOT / "docs" / "rules.md").read_text()
    results = ROOT / "benchmarks" / "results" / "algebra.json"
    assert report.with_rules(page, json.loads(results.read_text())["programs"]) == page


def test_every_rule_has_an_example(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    programs = importlib.import_module("benchmarks.algebra.rules").__dict__
    for rule in ir.rules():
        assert rule["name"] in programs


def test_unknown_rules_are_refused():
    with pytest.raises(plimsoll.PlimsollError, match="no rule called nonsense"):
        compare(lambda a: a, [numbers(M)], disabled=["nonsense"])


def chain(a, b, v):
    return a @ b @ v


def test_programs_that_fit_are_changed_for_speed_alone(monkeypatch):
    arguments = [numbers(300, 300), numbers(300, 300), numbers(300)]
    assert not plimsoll.explain(chain, *arguments).compilation.is_changed
    monkeypatch.setenv("PLIMSOLL_OPTIMIZE", "speed")
    explanation = plimsoll.explain(chain, *arguments)
    assert explanation.compilation.is_changed
    assert "it fits, and is made faster" in str(explanation)
    assert "reorder_products (" in str(explanation)
    monkeypatch.setenv("PLIMSOLL_DISABLE", ",".join(rule["name"] for rule in ir.rules()))
    assert not plimsoll.explain(chain, *arguments).compilation.is_changed


def test_what_is_made_faster_gives_the_same(monkeypatch):
    arguments = [numbers(300, 300), numbers(300, 300), numbers(300)]
    expected = chain(*arguments)
    monkeypatch.setenv("PLIMSOLL_OPTIMIZE", "speed")
    np.testing.assert_allclose(jax.jit(chain)(*arguments), expected, rtol=1e-4, atol=1e-2)


def swap(a, b, v):
    return (a @ b) @ v, a + b


def test_what_xla_needs_more_for_is_not_used(monkeypatch):
    """Where the estimate leaves a doubt, both programs are compiled."""
    monkeypatch.setenv("PLIMSOLL_OPTIMIZE", "speed")
    arguments = [numbers(300, 300), numbers(300, 300), numbers(300)]
    monkeypatch.setattr(algebra, "SURELY_LESS", 0)
    assert plimsoll.explain(swap, *arguments).compilation.is_changed
    monkeypatch.setattr(algebra, "SAME_NEED", -(1 << 40))
    explanation = plimsoll.explain(swap, *arguments)
    assert not explanation.compilation.is_changed
    assert "XLA needs more memory for it" in str(explanation)


@pytest.mark.parametrize("variable", ["PLIMSOLL_OPTIMIZE", "PLIMSOLL_NUMERICS"])
def test_a_word_that_is_not_known_is_told(variable, monkeypatch, caplog):
    monkeypatch.setenv(variable, f"nonsense for {variable}")
    monkeypatch.setenv("PLIMSOLL_OPTIMIZE", "speed" if variable != "PLIMSOLL_OPTIMIZE" else "fast")
    jax.jit(lambda x: x + len(variable))(numbers(3))
    assert variable in caplog.text


def test_a_program_over_its_limit_uses_algebra():
    """The product of two thin matrices is larger than the limit, and is never made."""
    u, v, x = numbers(3000, 4), numbers(3000, 4), numbers(3000)

    def product(u, v, x):
        return (u @ v.T) @ x

    explanation = plimsoll.explain(product, u, v, x, memory_limit="2MB")
    assert explanation.outcome == "cut"
    assert not explanation.compilation.plan["made"]
    assert [rule["rule"] for rule in explanation.compilation.plan["rules"]] == ["reorder_products"]


def test_what_is_stated_travels_with_the_array():
    """LU becomes Cholesky only if the matrix is said to be positive definite."""
    a = numbers(300, 300)
    a, b = a @ a.T + 300 * np.eye(300, dtype="float32"), numbers(300)
    rule = "positive_definite_solve"
    assert rule not in compare(jnp.linalg.solve, [a, b]).fired

    def solve(a, b):
        return jnp.linalg.solve(plimsoll.assume(a, "positive definite"), b)

    assert rule in compare(solve, [a, b]).fired


@pytest.mark.parametrize("transform", [lambda f: f, jax.jit, jax.vmap, jax.jacfwd, jax.jacrev])
def test_a_statement_changes_no_numbers(transform):
    def stated(x):
        return jnp.sin(plimsoll.assume(x, "symmetric", "positive")) ** 2

    x = numbers(3, 3, 3)
    expected = transform(lambda x: jnp.sin(x) ** 2)(x)
    np.testing.assert_allclose(transform(stated)(x), expected, rtol=1e-6)


def test_a_statement_is_checked_when_asked_for(monkeypatch):
    monkeypatch.setenv("PLIMSOLL_CHECK", "1")
    symmetric = numbers(5, 5) + numbers(5, 5).T
    plimsoll.assume(symmetric, "symmetric")
    with pytest.raises(Exception, match="an array is not positive definite"):
        plimsoll.assume(-symmetric @ symmetric, "positive definite")
        jax.effects_barrier()


@pytest.mark.parametrize("name, x", [("symetric", numbers(3, 3)), ("symmetric", numbers(3))])
def test_a_wrong_statement_is_refused(name, x):
    with pytest.raises(plimsoll.PlimsollError, match="plimsoll.assume: "):
        plimsoll.assume(x, name)
