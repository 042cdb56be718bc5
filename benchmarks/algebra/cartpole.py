"""CartPole with a state that is concatenated or stacked, against one in pieces."""

import jax
import jax.numpy as jnp
from benchmarks.algebra.table import program
from benchmarks.arrays import normal

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


def is_up(x, angle):
    return (jnp.abs(x) < 2.4) & (jnp.abs(angle) < 0.2095)


def rollout(step, start, turns):
    """How many turns each pole stays up. `step` gives the next state, and which poles are up."""

    def turn(_, carried):
        state, alive, reward = carried
        state, up = step(state)
        alive = alive & up
        return state, alive, reward + alive

    _, up = step(start)
    return jax.lax.fori_loop(0, turns, turn, (start, up, up.astype("float32")))[2]


def arguments(carts):
    return [normal(4), 0.05 * normal(4, carts, seed=1)]


@program(CARTPOLE, "state in pieces")
def in_pieces(carts=100_000, turns=200):
    def simulate(weights, start):
        def step(state):
            state = moved(*state, force_of(weights, *state))
            return state, is_up(state[0], state[2])

        return rollout(step, tuple(start), turns)

    return simulate, arguments(carts)


@program(CARTPOLE, "state stacked")
def stacked(carts=100_000, turns=200):
    def simulate(weights, start):
        def step(state):
            state = jnp.stack(moved(*state, force_of(weights, *state)))
            return state, is_up(state[0], state[2])

        return rollout(step, start, turns)

    return simulate, arguments(carts)


@program(CARTPOLE, "state concatenated")
def concatenated(carts=100_000, turns=200):
    def simulate(weights, start):
        def step(state):
            pieces = jnp.split(state, 4)
            pieces = moved(*pieces, force_of(weights, *pieces))
            return jnp.concatenate(pieces), is_up(pieces[0], pieces[2])

        return rollout(step, start.reshape(-1), turns)

    return simulate, arguments(carts)


@program(CARTPOLE, "state stacked, and returned in the end")
def stacked_and_returned(carts=100_000, turns=200):
    def simulate(weights, start):
        def step(_, state):
            return jnp.stack(moved(*state, force_of(weights, *state)))

        return jax.lax.fori_loop(0, turns, step, start)

    return simulate, arguments(carts)


@program(CARTPOLE, "one cart at a time, mapped: the state is a row of four")
def mapped(carts=100_000, turns=200):
    def one(weights, start):
        def step(state):
            state = jnp.stack(moved(*state, force_of(weights, *state)))
            return state, is_up(state[0], state[2])

        return rollout(step, start, turns)

    def simulate(weights, start):
        return jax.vmap(one, (None, 1))(weights, start)

    return simulate, arguments(carts)
