"""Loops over many steps: CartPole and paths of prices."""

import jax
import jax.numpy as jnp
import numpy as np
from benchmarks.algebra.cartpole import in_pieces
from benchmarks.cpu.table import Work, row
from jax import lax


@row("cartpole", "CartPole, 2·10⁴ × 500 steps", {"xla": 10}, carts=20_000)
def cartpole(carts: int) -> Work:
    simulate, arguments = in_pieces(carts, turns=500)
    return Work([simulate], arguments)


@row("monte_carlo", "Monte-Carlo option, 10⁵ × 100 steps", {"xla": 4}, paths=100_000)
def monte_carlo(paths: int) -> Work:
    """A call on the average price, with a draw of normal numbers for each step."""
    rate, volatility, strike, steps = 0.03, 0.2, 1.0, 100

    def value(seed):
        def step(state, key):
            price, total = state
            # These are the same numbers in 64 bits.
            draws = jax.random.normal(key, (paths,), jnp.float32)
            drift = (rate - volatility**2 / 2) / steps
            price = price * jnp.exp(drift + volatility * draws / steps**0.5)
            return (price, total + price), None

        state = jnp.ones(paths), jnp.zeros(paths)
        (_, total), _ = lax.scan(step, state, jax.random.split(jax.random.key(seed), steps))
        gain = jnp.maximum(total / steps - strike, 0)
        return jnp.exp(-rate) * gain.mean(), gain

    return Work([value], [np.array(7, np.uint32)])
