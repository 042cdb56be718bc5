"""The options of a compilation are changed for that one alone."""

import jax
import jax.numpy as jnp
import pytest
from jax._src.lib import xla_client

import plimsoll
from plimsoll.compile_options import compile_pieces

NAME = "xla_cpu_experimental_ynn_fusion_type"
VALUE = "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT,LIBRARY_FUSION_TYPE_INDIVIDUAL_CONVOLUTION"


def seen_options(platform: str, *chosen: tuple[str, str], **others) -> list[tuple[str, str]]:
    options = xla_client.CompileOptions()
    options.env_option_overrides = list(chosen)
    seen = compile_pieces(lambda: list(options.env_option_overrides), options, platform, **others)
    assert options.env_option_overrides == list(chosen)
    return seen


def test_pieces_hand_products_to_the_library_one_by_one():
    assert seen_options("cpu", ("other", "1")) == [
        ("other", "1"),
        (NAME, VALUE),
    ]


def test_sums_of_what_need_not_exist_go_to_the_library_too():
    [(name, value)] = seen_options("cpu", has_library_sums=True)
    assert (name, value) == (NAME, VALUE + ",LIBRARY_FUSION_TYPE_REDUCE")


def test_other_platforms_are_left_alone():
    assert seen_options("gpu") == []


def test_what_the_user_chose_stays(monkeypatch):
    assert seen_options("cpu", (NAME, "mine")) == [(NAME, "mine")]
    monkeypatch.setenv("XLA_FLAGS", f"--{NAME}=mine")
    assert seen_options("cpu") == []


def test_an_xla_that_does_not_know_the_option_compiles_without():
    options = xla_client.CompileOptions()

    def compile_program():
        if options.env_option_overrides:
            raise RuntimeError("no such option")
        return "compiled"

    assert compile_pieces(compile_program, options, "cpu") == "compiled"
    with pytest.raises(ZeroDivisionError):
        compile_pieces(lambda: 1 // 0, options, "cpu")


@pytest.mark.parametrize("value", [VALUE, VALUE + ",LIBRARY_FUSION_TYPE_REDUCE"])
def test_xla_knows_the_option(value):
    options = {NAME: value}
    with plimsoll.memory_limit(None):
        compiled = jax.jit(lambda x: (x @ x).sum()).lower(jnp.ones((9, 9))).compile(options)
    assert compiled(jnp.ones((9, 9))) == 9 * 81
