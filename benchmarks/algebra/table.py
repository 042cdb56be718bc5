"""The tables of programs, and what they share to make their arguments."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

# In a quick run sizes are divided by this.
QUICK = 16


@dataclass(frozen=True)
class Program:
    name: str
    # From sizes to a function and its arguments, which are NumPy's: nothing is on a device.
    build: Callable[..., tuple[Callable, list]]
    # What it is, for the table.
    title: str
    group: str

    def built(self, is_quick: bool) -> tuple[Callable, list]:
        sizes = {}
        if is_quick:
            parameters = inspect.signature(self.build).parameters.values()
            sizes = {one.name: -(-one.default // QUICK) for one in parameters}
        return self.build(**sizes)


PROGRAMS: dict[str, Program] = {}


def program(group: str, title: str):
    """Adds the decorated function to the table, under its own name. Its parameters are sizes."""

    def add(build: Callable) -> Callable:
        name = build.__name__
        if name in PROGRAMS:
            raise ValueError(f"two programs are called {name}")
        PROGRAMS[name] = Program(name, build, title, group)
        return build

    return add


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def uniform(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random(shape, dtype=np.float32)


def integers(most: int, *shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(most, size=shape, dtype=np.int32)


def definite(n: int, seed: int = 0) -> np.ndarray:
    """A well conditioned positive definite matrix."""
    root = normal(n, n, seed=seed) / np.float32(np.sqrt(n))
    return root @ root.T + np.eye(n, dtype=np.float32)


def lower(n: int, seed: int = 0) -> np.ndarray:
    """A well conditioned lower triangular matrix."""
    return np.tril(normal(n, n, seed=seed)) / np.float32(n) + np.eye(n, dtype=np.float32)


def regular(n: int, seed: int = 0) -> np.ndarray:
    """A well conditioned matrix."""
    return normal(n, n, seed=seed) / np.float32(2 * np.sqrt(n)) + np.eye(n, dtype=np.float32)
