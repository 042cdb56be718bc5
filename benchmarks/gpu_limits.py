"""Experiments on a GPU under a limit, against the same computation chunked by hand.

    python -m benchmarks.gpu_limits [NAME ...]

Each runs in a process of its own: as people write it, under the limit, and with `lax.map` or
`lax.scan` over chunks of several sizes without Plimsoll. Prints the seconds of the best run, and
what the allocator says was in use at most.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy
from jax.scipy.linalg import solve_triangular

# The limit, and chunks to try by hand. The points of `knn` take 404 MB, and XLA's allocator loses
# what is left beside them if that is under 128 MiB. The bound with 10,000 inducing points needs
# nine matrices of 400 MB at once.
EXPERIMENTS = {
    "kernel": ("1GB", (64, 200, 400)),
    "knn": ("600MB", (50, 100, 200)),
    "sgpr": ("1GB", (5_000, 10_000, 20_000)),
    "sgpr_large": ("4GB", (5_000, 10_000, 20_000)),
}


def normal(*shape: int, seed: int = 0) -> jax.Array:
    # Made by the host: on the GPU, what it takes to make them would be over the limit.
    return jax.device_put(numpy.random.default_rng(seed).standard_normal(shape, numpy.float32))


def kernel(chunk: int | None) -> tuple[Callable, tuple]:
    """An RBF kernel matrix of a million points times a vector."""

    def rows(x, points, v):
        return jnp.exp(-jnp.sum((x[:, None, :] - points[None, :, :]) ** 2, -1)) @ v

    def by_hand(x, v):
        return jax.lax.map(lambda part: rows(part, x, v), x.reshape(-1, chunk, 3)).reshape(-1)

    whole = lambda x, v: rows(x, x, v)  # noqa: E731
    return (by_hand if chunk else whole), (normal(1_000_000, 3), normal(1_000_000, seed=1))


def knn(chunk: int | None) -> tuple[Callable, tuple]:
    """The ten nearest of a million points, for ten thousand queries."""

    def nearest(queries, points):
        squares = jnp.sum(queries**2, 1)[:, None] + jnp.sum(points**2, 1)[None]
        return jax.lax.top_k(2 * queries @ points.T - squares, 10)

    def by_hand(queries, points):
        parts = queries.reshape(-1, chunk, queries.shape[1])
        return jax.lax.map(lambda part: nearest(part, points), parts)

    arguments = (normal(10_000, 100), normal(1_000_000, 100, seed=1))
    return (by_hand if chunk else nearest), arguments


def sgpr(chunk: int | None, inducing: int = 2_500) -> tuple[Callable, tuple]:
    """The bound of a sparse Gaussian process and its gradient: 400,000 points."""

    def rbf(parameters, a, b):
        a, b = a / jnp.exp(parameters["length"]), b / jnp.exp(parameters["length"])
        squares = jnp.sum(a * a, 1)[:, None] + jnp.sum(b * b, 1)[None] - 2 * a @ b.T
        return jnp.exp(parameters["variance"]) * jnp.exp(-0.5 * jnp.maximum(squares, 0))

    def factors(parameters, inducing):
        size = inducing.shape[0]
        lower = jnp.linalg.cholesky(rbf(parameters, inducing, inducing) + 1e-4 * jnp.eye(size))
        return lower, jnp.exp(parameters["noise"])

    def bound(parameters, lower, noise, squares, product, y):
        inner = jnp.linalg.cholesky(jnp.eye(lower.shape[0]) + squares)
        c = solve_triangular(inner, product, lower=True) / jnp.sqrt(noise)
        count = y.shape[0]
        fit = 0.5 * (y @ y) / noise - 0.5 * c @ c
        trace = count * jnp.exp(parameters["variance"]) / noise - jnp.trace(squares)
        logarithms = jnp.sum(jnp.log(jnp.diag(inner))) + 0.5 * count * jnp.log(2 * jnp.pi * noise)
        return logarithms + fit + 0.5 * trace

    def whole(parameters, inducing, x, y):
        lower, noise = factors(parameters, inducing)
        a = solve_triangular(lower, rbf(parameters, inducing, x), lower=True) / jnp.sqrt(noise)
        return bound(parameters, lower, noise, a @ a.T, a @ y, y)

    def by_hand(parameters, inducing, x, y):
        lower, noise = factors(parameters, inducing)

        @jax.checkpoint
        def step(sums, part):
            points, targets = part
            a = solve_triangular(lower, rbf(parameters, inducing, points), lower=True)
            a /= jnp.sqrt(noise)
            return (sums[0] + a @ a.T, sums[1] + a @ targets), None

        size = inducing.shape[0]
        parts = (x.reshape(-1, chunk, x.shape[1]), y.reshape(-1, chunk))
        sums, _ = jax.lax.scan(step, (jnp.zeros((size, size)), jnp.zeros(size)), parts)
        return bound(parameters, lower, noise, *sums, y)

    x = normal(400_000, 8)
    parameters = {
        "length": jnp.zeros(8),
        "variance": jnp.zeros(()),
        "noise": jnp.log(jnp.float32(0.1)),
    }
    function = jax.value_and_grad(by_hand if chunk else whole)
    return function, (parameters, x[:inducing], x, jnp.sin(x[:, 0]))


def sgpr_large(chunk: int | None) -> tuple[Callable, tuple]:
    """The same with inducing points whose own matrices are large."""
    return sgpr(chunk, inducing=10_000)


def measure(name: str, chunk: int | None) -> None:
    function, arguments = globals()[name](chunk)
    arguments = jax.block_until_ready(arguments)
    started = time.perf_counter()
    compiled = jax.jit(function).lower(*arguments).compile()
    compiling = time.perf_counter() - started
    jax.block_until_ready(compiled(*arguments))
    best = float("inf")
    for _ in range(3):
        started = time.perf_counter()
        jax.block_until_ready(compiled(*arguments))
        best = min(best, time.perf_counter() - started)
    peak = jax.devices()[0].memory_stats()["peak_bytes_in_use"]
    how = f"by hand, chunks of {chunk:,}" if chunk else "under the limit"
    print(
        f"{name:7} {how:26} {best:8.3f} s, allocator's peak {peak / 1e6:8.0f} MB,"
        f" compiled in {compiling:.1f} s",
        flush=True,
    )


def main() -> int:
    if len(sys.argv) > 2 and sys.argv[1] == "--one":
        measure(sys.argv[2], int(sys.argv[3]) or None)
        return 0
    for name in sys.argv[1:] or EXPERIMENTS:
        limit, chunks = EXPERIMENTS[name]
        for chunk in (0, *chunks):
            environment = dict(os.environ)
            if chunk:
                environment["PLIMSOLL"] = "off"
            else:
                environment["PLIMSOLL_MEMORY_LIMIT"] = limit
            command = [sys.executable, "-m", "benchmarks.gpu_limits", "--one", name, str(chunk)]
            subprocess.run(command, env=environment, check=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
