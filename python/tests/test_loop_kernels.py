"""Whole loops as one kernel: simulations, random numbers, steps, small matrices, gradients."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import plimsoll

COUNT = 20011  # A prime: the last vector is never full.


def normal(*shape, seed=0, scale=0.1):
    return (scale * np.random.default_rng(seed).normal(size=shape)).astype(np.float32)


def bytes_of(tree):
    return sum(np.prod(leaf.shape) * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree))


def beside_a_matrix(function):
    """The same beside a product that is over the limit without a kernel."""

    def both(arguments, x):
        return function(*arguments), jnp.exp(-((x[:, None] - x[None, :]) ** 2)) @ x

    return both


def run(function, *arguments):
    """The results under a limit that makes the planner use kernels, in which the loop is one."""
    both = beside_a_matrix(function)
    arguments = arguments, np.linspace(0, 1, 2000, dtype=np.float32)
    results = jax.eval_shape(both, *arguments)
    sizes = bytes_of(arguments) + bytes_of(results) + bytes_of(jax.live_arrays())
    limit = int(sizes) + 4_000_000
    text = str(plimsoll.explain(both, *arguments, memory_limit=limit))
    assert "\n    loop\n" in text, text
    found = plimsoll.jit(both, memory_limit=limit)(*arguments)
    return jax.tree.map(np.asarray, found[0])


def check(function, *arguments, factor=2.0):
    """The error is at most twice XLA's."""
    found = run(function, *arguments)
    plain = jax.tree.map(np.asarray, jax.jit(function)(*arguments))
    with jax.enable_x64(True):
        wide = jax.tree.map(
            lambda x: np.asarray(x, np.float64) if x.dtype == np.float32 else x, arguments
        )
        exact = jax.tree.map(np.asarray, jax.jit(function)(*wide))
    for one, other, right in zip(*map(jax.tree.leaves, (found, plain, exact)), strict=True):
        assert one.dtype == other.dtype
        scale = np.abs(right).max()
        error = np.abs(one - right).max()
        assert error <= factor * np.abs(other - right).max() + 1e-6 * scale


def pendulum(x, v):
    """An integrator: the state of each element is two numbers."""

    def step(_, state):
        x, v = state
        v = v - 0.01 * jnp.sin(x)
        return x + 0.01 * v, v

    return lax.fori_loop(0, 200, step, (x, v))


def test_an_integrator():
    check(pendulum, normal(COUNT), normal(COUNT, seed=1))


def test_state_of_several_numbers():
    def lorenz(states):
        def one(state):
            def step(_, s):
                x, y, z = s
                d = jnp.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])
                return s + 0.001 * d

            return lax.fori_loop(0, 50, step, state)

        return jax.vmap(one)(states)

    check(lorenz, normal(COUNT, 3, scale=1))


def test_a_grid_is_one_batch():
    def settle(x):
        rows = lax.broadcasted_iota(jnp.float32, x.shape, 0)

        def step(_, y):
            return y * 0.9 + jnp.tanh(y + 0.01 * rows)

        return lax.fori_loop(0, 30, step, x)

    check(settle, normal(211, 97))


def test_a_recurrent_cell():
    def cell(w, u, h, xs):
        def step(h, x):
            h = jnp.tanh(h @ w + x @ u)
            return h, h.sum(axis=-1)

        return lax.scan(step, h, xs)

    weights = normal(4, 4, scale=0.5), normal(3, 4, seed=1, scale=0.5)
    check(cell, *weights, normal(5003, 4, seed=2), normal(20, 5003, 3, seed=3))


def test_steps_in_and_out():
    def smooth(x, xs):
        def step(carry, x):
            carry = 0.9 * carry + 0.1 * x
            return carry, (carry, x - carry)

        return lax.scan(step, x, xs)

    check(smooth, normal(COUNT), normal(60, COUNT, seed=1))


def test_steps_backward():
    def smooth(x, xs):
        return lax.scan(lambda c, x: (0.9 * c + x, c), x, xs, reverse=True)

    check(smooth, normal(COUNT), normal(60, COUNT, seed=1))


def test_length_known_when_called():
    def grow(x, n):
        return lax.fori_loop(0, n, lambda _, y: y * 1.001 + 1e-3, x)

    check(grow, normal(COUNT), np.int32(77))


def test_ends_early():
    def search(x, most):
        def goes_on(state):
            i, total, _ = state
            return (i < 1000) & (total < most)

        def step(state):
            i, total, y = state
            return i + 1, total + 0.5, jnp.cos(y)

        return lax.while_loop(goes_on, step, (0, jnp.float32(0), x))

    found = run(search, normal(COUNT), np.float32(10))
    assert found[0] == 20
    assert found[1] == 10
    np.testing.assert_allclose(found[2], search(normal(COUNT), np.float32(10))[2], atol=1e-6)


def test_each_element_ends_on_its_own():
    def escape(points):
        def one(c):
            def step(state):
                count, x, y = state
                return count + 1, x * x - y * y + c[0], 2 * x * y + c[1]

            def goes_on(state):
                count, x, y = state
                return (x * x + y * y < 4) & (count < 100)

            return lax.while_loop(goes_on, step, (0, 0.0, 0.0))[0]

        return jax.vmap(one)(points)

    points = normal(COUNT, 2, scale=1)
    differs = run(escape, points) != jax.jit(escape)(points)
    # Where a point leaves may be a matter of rounding.
    assert differs.mean() < 1e-3


def key_of(seed):
    return np.asarray(jax.random.key_data(jax.random.key(seed)))


def test_random_bits_are_the_same():
    def draw(key, x):
        key = jax.random.wrap_key_data(key)

        def step(i, x):
            bits = jax.random.bits(jax.random.fold_in(key, i), x.shape, jnp.uint32)
            return x * jnp.uint32(31) ^ bits

        return lax.fori_loop(0, 7, step, x)

    arguments = key_of(3), np.zeros(COUNT, np.uint32)
    np.testing.assert_array_equal(run(draw, *arguments), jax.jit(draw)(*arguments))


def test_keys_are_split_in_the_loop():
    def draw(key, x):
        def step(carry, _):
            key, x = carry
            key, one = jax.random.split(jax.random.wrap_key_data(key))
            x = x + jax.random.uniform(one, x.shape)
            return (jax.random.key_data(key), x), None

        return lax.scan(step, (key, x), None, length=9)[0]

    arguments = key_of(5), np.zeros(COUNT, np.float32)
    found = run(draw, *arguments)
    plain = jax.jit(draw)(*arguments)
    np.testing.assert_array_equal(found[0], plain[0])
    np.testing.assert_allclose(found[1], plain[1], rtol=1e-6)


def test_paths_of_prices():
    def prices(keys, start):
        def step(price, key):
            noise = jax.random.normal(jax.random.wrap_key_data(key), price.shape)
            return price * jnp.exp(1e-4 + 0.02 * noise), None

        return lax.scan(step, start, keys)[0]

    keys = np.asarray(jax.random.key_data(jax.random.split(jax.random.key(0), 25)))
    arguments = keys, np.ones(COUNT, np.float32)
    np.testing.assert_allclose(
        run(prices, *arguments), jax.jit(prices)(*arguments), rtol=2e-5, atol=0
    )


def test_gradients():
    """Both of its loops are kernels: what the first writes in steps, the other reads backward."""

    def integrate(x, v):
        def step(state, _):
            x, v = state
            v = v - 0.01 * jnp.sin(x)
            return (x + 0.01 * v, v), None

        return lax.scan(step, (x, v), None, length=20)[0][0]

    def gradient(x, v):
        return jax.grad(lambda x, v: jnp.sum(integrate(x, v) ** 2), argnums=(0, 1))(x, v)

    check(gradient, normal(COUNT), normal(COUNT, seed=1))


def test_what_mixes_the_batch_stays_a_loop():
    def diffuse(x):
        return lax.fori_loop(0, 10, lambda _, y: 0.5 * y + 0.5 * jnp.roll(y, 1), x)

    with pytest.raises(AssertionError):
        run(diffuse, normal(COUNT))
