"""The table of programs, and what they share to make their arguments."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


@dataclass(frozen=True)
class Program:
    name: str
    # Returns a function and its arguments. Called with 32-bit types; the reference widens them.
    build: Callable[[], tuple[Callable, list]]
    # What it is, for the table.
    title: str
    # The package from PyPI that it calls into; "" for plain JAX.
    package: str = ""
    # A limit in bytes to hold besides the fractions; None if there is none.
    limit: int | None = None
    # False if it draws random floats, which are other ones in 64 bits.
    has_reference: bool = True


PROGRAMS: dict[str, Program] = {}


def program(title: str, **fields: Any):
    """Adds the decorated function to the table, under its own name."""

    def add(build: Callable) -> Callable:
        name = build.__name__
        if name in PROGRAMS:
            raise ValueError(f"two programs are called {name}")
        PROGRAMS[name] = Program(name, build, title, **fields)
        return build

    return add


def normal(*shape: int, seed: int = 0, scale: float = 1.0) -> jax.Array:
    values = np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)
    return jnp.asarray(values * np.float32(scale))


def uniform(*shape: int, seed: int = 0) -> jax.Array:
    return jnp.asarray(np.random.default_rng(seed).random(shape, dtype=np.float32))


def integers(most: int, *shape: int, seed: int = 0) -> jax.Array:
    return jnp.asarray(np.random.default_rng(seed).integers(most, size=shape, dtype=np.int32))
