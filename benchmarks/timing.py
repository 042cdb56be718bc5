"""Times of compiled programs, one against the other in one process."""

import time
from collections.abc import Callable, Sequence

import jax

LEAST_RUNS, MOST_RUNS = 3, 200


def fastest(runs: Sequence[Callable], arguments: Sequence, seconds: float) -> list[float]:
    """The least time of each of `runs`, for about so many seconds; 0: of one run.

    They take turns, and turns at being first: what one leaves in the caches and in the allocator
    is for the next.
    """
    least = [float("inf")] * len(runs)
    deadline = time.perf_counter() + seconds
    least_runs = LEAST_RUNS if seconds else 1
    for count in range(MOST_RUNS):
        if count >= least_runs and time.perf_counter() > deadline:
            break
        order = range(len(runs))
        for i in order if count % 2 == 0 else reversed(order):
            started = time.perf_counter()
            results = jax.block_until_ready(runs[i](*arguments))
            least[i] = min(least[i], time.perf_counter() - started)
            del results
    return least
