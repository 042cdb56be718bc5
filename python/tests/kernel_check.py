"""What tests of kernels share."""

import jax
import jax.numpy as jnp
import numpy as np

import plimsoll

KB = 1000


def random(*shape, seed=0, dtype=jnp.float32):
    return jax.random.normal(jax.random.key(seed), shape).astype(dtype)


def error_of(result, exact):
    exact = np.asarray(exact, np.float64)
    return np.max(np.abs(np.asarray(result, np.float64) - exact)) / max(1e-30, np.abs(exact).max())


def _floats_as(dtype, arguments):
    return [a.astype(dtype) if jnp.issubdtype(a.dtype, jnp.floating) else a for a in arguments]


def check(function, *arguments, limit, dtype=jnp.float32):
    """The result under the limit is as exact as XLA's."""
    given = _floats_as(dtype, arguments)
    found = plimsoll.jit(function, memory_limit=limit)(*given)
    plain = jax.jit(function)(*given)
    with jax.enable_x64(True):
        wide = [jnp.asarray(a) for a in _floats_as(np.float64, map(np.asarray, given))]
        exact = jax.jit(function)(*wide)
    for one, other, right in zip(*map(jax.tree.leaves, (found, plain, exact)), strict=True):
        assert one.dtype == other.dtype
        assert error_of(one, right) <= 2 * error_of(other, right) + 4 * jnp.finfo(dtype).eps
