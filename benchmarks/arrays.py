"""Random arguments of programs, NumPy's: nothing is on a device."""

import numpy as np


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
