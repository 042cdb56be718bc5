"""Random expressions are as exact with algebra as without: 300 with the newest JAX, else 60.

`python -m algebra.campaign` runs as many as one likes, and one of them again by its seed.
"""

import os

import jax
import pytest

from algebra import campaign

NEWEST = jax.__version_info__ >= (0, 12)
COUNT = 300 if NEWEST else 60
CASES_A_TEST = 60
# Expressions with which no rule can do anything are made too, but not often.
LEAST_SHARE_CHANGED = 0.5

# What LLVM does to single kernels is not what is tested, and takes half of the time.
ENVIRONMENT = os.environ | {"JAX_DISABLE_MOST_OPTIMIZATIONS": "1", "JAX_PLATFORMS": "cpu"}


@pytest.mark.parametrize("first", range(0, COUNT, CASES_A_TEST))
def test_results_are_as_exact(first):
    outcomes = campaign.run_range(first, CASES_A_TEST, is_shrunk=True, environment=ENVIRONMENT)
    failures = [
        f"seed {seed}: {outcome['failure']}"
        for seed, outcome in outcomes.items()
        if "failure" in outcome
    ]
    assert not failures, "\n".join(failures)
    changed = sum(bool(outcome["rules"]) for outcome in outcomes.values())
    assert changed > LEAST_SHARE_CHANGED * len(outcomes)
