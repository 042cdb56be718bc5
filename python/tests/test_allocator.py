"""The limit given to XLA's GPU allocator, on a machine that seems to have a GPU."""

import jax
import pytest

from plimsoll import allocator
from plimsoll.limits import parse_limit

TOTAL = 80 * 2**30
BLOCK = 2**21


@pytest.fixture
def options(monkeypatch):
    """What XLA is asked for, with a GPU of 80 GiB."""
    monkeypatch.setattr(allocator, "largest_gpu_bytes", lambda: TOTAL)
    for name in ("XLA_CLIENT_MEM_FRACTION", "XLA_PYTHON_CLIENT_MEM_FRACTION"):
        monkeypatch.delenv(name, raising=False)
    before = jax.config.jax_pjrt_client_create_options
    yield lambda: allocator._as_dictionary(jax.config.jax_pjrt_client_create_options)
    jax.config.update("jax_pjrt_client_create_options", before)


def rounded_as_xla_does(share: float) -> int:
    return -(-int(TOTAL * share) // BLOCK) * BLOCK


@pytest.mark.parametrize("limit", ["2GiB", "500MB", "1e9", "79GiB", "25%", "33.3%", "4MiB"])
def test_the_allocator_gets_whole_blocks_and_no_more_than_the_limit(options, limit):
    parsed = parse_limit(limit, "here")
    allocator.limit_gpu_allocator(parsed)
    size = parsed.bytes if parsed.percent is None else TOTAL * parsed.percent / 100
    given = rounded_as_xla_does(options()["memory_fraction"])
    assert size - BLOCK < given <= size


def test_what_it_leaves_alone(options):
    before = options()
    allocator.limit_gpu_allocator(None)
    allocator.limit_gpu_allocator(parse_limit("100GiB", "here"))
    allocator.limit_gpu_allocator(parse_limit("100%", "here"))
    assert options() == before


def test_the_users_own_options_may_allow_less(options, monkeypatch):
    jax.config.update("jax_pjrt_client_create_options", "memory_fraction:0.01;other:x")
    allocator.limit_gpu_allocator(parse_limit("40GiB", "here"))
    assert options() == {"memory_fraction": 0.01, "other": "x"}
    monkeypatch.setenv("XLA_CLIENT_MEM_FRACTION", "0.005")
    allocator.limit_gpu_allocator(parse_limit("40GiB", "here"))
    assert options()["memory_fraction"] == 0.005


def test_a_later_limit_takes_the_place_of_an_earlier_one(options):
    for limit in ("1GiB", "2GiB", "1GiB"):
        parsed = parse_limit(limit, "here")
        allocator.limit_gpu_allocator(parsed)
        assert rounded_as_xla_does(options()["memory_fraction"]) == parsed.bytes


def test_a_machine_without_a_gpu(monkeypatch):
    monkeypatch.setattr(allocator, "largest_gpu_bytes", lambda: None)
    before = jax.config.jax_pjrt_client_create_options
    allocator.limit_gpu_allocator(parse_limit("1GiB", "here"))
    assert jax.config.jax_pjrt_client_create_options == before
