"""Compiling for a GPU under a limit, with XLA's part played by the test."""

import types

import jax
import jax.numpy as jnp
import pytest

from plimsoll import tuning
from plimsoll.limits import parse_limit


class Options:
    def __init__(self):
        self.env_option_overrides = [("xla_some_flag", "1")]


class Xla:
    """Gives "untuned" or "tuned", or the error that is set."""

    def __init__(self, options, error=None):
        self.options = options
        self.error = error
        self.calls = []

    def compile(self):
        kind = "tuned"
        if ("xla_gpu_autotune_level", "0") in self.options.env_option_overrides:
            kind = "untuned"
        self.calls.append(kind)
        if kind == "tuned" and self.error:
            raise self.error
        return kind


def test_a_program_that_fits_is_tuned():
    options = Options()
    xla = Xla(options)
    assert tuning.compile_within(xla.compile, options, lambda _: True, may_be_over=True) == "tuned"
    assert xla.calls == ["untuned", "tuned"]
    assert options.env_option_overrides == [("xla_some_flag", "1")]


def test_a_program_that_does_not_fit_is_never_tuned():
    options = Options()
    xla = Xla(options)
    assert (
        tuning.compile_within(xla.compile, options, lambda _: False, may_be_over=True) == "untuned"
    )
    assert xla.calls == ["untuned"]


def test_a_program_that_fits_only_untuned_stays_so():
    options = Options()
    found = tuning.compile_within(
        Xla(options).compile, options, lambda kind: kind == "untuned", may_be_over=True
    )
    assert found == "untuned"


def test_no_room_for_tuning():
    options = Options()
    xla = Xla(options, RuntimeError("NOT_FOUND: ... RESOURCE_EXHAUSTED: Out of memory"))
    assert (
        tuning.compile_within(xla.compile, options, lambda _: True, may_be_over=True) == "untuned"
    )
    assert options.env_option_overrides == [("xla_some_flag", "1")]
    xla.calls.clear()
    assert (
        tuning.compile_within(xla.compile, options, lambda _: True, may_be_over=False) == "untuned"
    )
    assert xla.calls == ["tuned", "untuned"]
    xla.error = RuntimeError("another error")
    with pytest.raises(RuntimeError, match="another error"):
        tuning.compile_within(xla.compile, options, lambda _: True, may_be_over=True)


def test_a_program_that_fits_for_sure_is_compiled_once():
    options = Options()
    xla = Xla(options)
    assert (
        tuning.compile_within(xla.compile, options, lambda _: False, may_be_over=False) == "tuned"
    )
    assert xla.calls == ["tuned"]


@pytest.mark.parametrize(("limit", "is_over"), [("100kB", True), ("1GB", False)])
def test_the_sum_of_all_values_decides_what_may_be_over(limit, is_over):
    module = jax.jit(lambda x: jnp.sin(x) @ x).lower(jnp.ones((100, 100))).compiler_ir()
    device = types.SimpleNamespace(platform="gpu", memory_stats=dict)
    gpu = types.SimpleNamespace(local_devices=lambda: [device])
    assert tuning.may_be_over(gpu, module, parse_limit(limit, "here")) == is_over
    elsewhere = types.SimpleNamespace(local_devices=list)
    assert not tuning.may_be_over(elsewhere, module, parse_limit(limit, "here"))
