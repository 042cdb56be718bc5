"""CartPole with a state that is concatenated or stacked, against one in pieces."""

import jax
import jax.numpy as jnp
from benchmarks.algebra.table import normal, program

CARTPOLE = "CartPole"
GRAVITY, MASS, POLE_MASS, LENGTH, FORCE, STEP = 9.8, 1.1, 0.1, 0.5, 10.0, 0.02


def moved(x, speed, angle, turning, force):
    """The cart and its pole a fiftieth of a second later."""
    cosine, sine = jnp.cos(angle), jnp.sin(angle)
    pull = (force + POLE_MASS * LENGTH * turning**2 * sine) / MASS
    turn = (GRAVITY * sine - cosine * pull) / (LENGTH * (4.0 / 3.0 - POLE_MASS * cosine**2 / MASS))
    push = pull - POLE_MASS * LENGTH * turn * cosine / MASS
    return x + STEP * speed, speed + STEP * push, angle + STEP * turning, turning + STEP * turn


def force_of(weights, x, speed, angle, turning):
    wish = weights[0] * x + weights[1] * speed + weights[2] * angle + weights[3] * turning
    return FORCE * jnp.tanh(wish)


@program(CARTPOLE, "state in pieces")
def in_pieces(carts=100_000, turns=200):
    def simulate(weights, start):
        def step(_, state):
            return moved(*state, force_of(weights, *state))

        return jnp.stack(jax.lax.fori_loop(0, turns, step, tuple(start)))

    return simulate, [normal(4), 0.05 * normal(4, carts, seed=1)]


@program(CARTPOLE, "state stacked in rows")
def stacked(carts=100_000, turns=200):
    def simulate(weights, start):
        def step(_, state):
            return jnp.stack(moved(*state, force_of(weights, *state)))

        return jax.lax.fori_loop(0, turns, step, start)

    return simulate, [normal(4), 0.05 * normal(4, carts, seed=1)]


@program(CARTPOLE, "state concatenated")
def concatenated(carts=100_000, turns=200):
    def simulate(weights, start):
        def step(_, state):
            pieces = jnp.split(state, 4)
            return jnp.concatenate(moved(*pieces, force_of(weights, *pieces)))

        return jax.lax.fori_loop(0, turns, step, start.reshape(-1)).reshape(4, -1)

    return simulate, [normal(4), 0.05 * normal(4, carts, seed=1)]


@program(CARTPOLE, "one cart at a time, mapped: the state is a row of four")
def mapped(carts=100_000, turns=200):
    def one(weights, start):
        def step(_, state):
            return jnp.stack(moved(*state, force_of(weights, *state)))

        return jax.lax.fori_loop(0, turns, step, start)

    def simulate(weights, start):
        return jax.vmap(one, (None, 1), 1)(weights, start)

    return simulate, [normal(4), 0.05 * normal(4, carts, seed=1)]
