"""The options of a compilation are changed for that one alone."""

import jax
import jax.numpy as jnp
import pytest
from jax._src import compiler
from jax._src.lib import xla_client

import plimsoll
from plimsoll.compile_options import compile_pieces

NAME = "xla_cpu_experimental_ynn_fusion_type"
VALUE = "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT,LIBRARY_FUSION_TYPE_INDIVIDUAL_CONVOLUTION"


SMALL_LOOPS = "xla_cpu_small_while_loop_byte_threshold"


def options_of_pieces(platform: str, *chosen: tuple[str, str], **others):
    options = xla_client.CompileOptions()
    options.env_option_overrides = list(chosen)
    seen = compile_pieces(lambda options: options, options, platform, **others)
    assert options.env_option_overrides == list(chosen)
    assert SMALL_LOOPS.encode() not in options.SerializeAsString()
    return seen


def seen_options(platform: str, *chosen: tuple[str, str], **others) -> list[tuple[str, str]]:
    return options_of_pieces(platform, *chosen, **others).env_option_overrides


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


def test_an_xla_that_does_not_know_an_option_compiles_without():
    options = xla_client.CompileOptions()

    def compile_with(chosen):
        if chosen is not options:
            raise RuntimeError("no such option")
        return "compiled"

    assert compile_pieces(compile_with, options, "cpu") == "compiled"
    with pytest.raises(ZeroDivisionError):
        compile_pieces(lambda _: 1 // 0, options, "cpu")


def test_the_other_options_stay_as_they_are():
    options = xla_client.CompileOptions()
    options.num_replicas = 3
    options.executable_build_options.debug_options.xla_cpu_enable_fast_math = True
    chosen = compile_pieces(lambda chosen: chosen, options, "cpu")
    assert chosen.num_replicas == 3
    assert chosen.executable_build_options.debug_options.xla_cpu_enable_fast_math
    assert chosen.SerializeAsString() != options.SerializeAsString()


def test_only_small_loops_are_for_one_core(monkeypatch):
    assert SMALL_LOOPS.encode() in options_of_pieces("cpu").SerializeAsString()
    assert SMALL_LOOPS.encode() not in options_of_pieces("gpu").SerializeAsString()
    monkeypatch.setenv("XLA_FLAGS", f"--xla_backend_extra_options={SMALL_LOOPS}=1")
    assert SMALL_LOOPS.encode() not in options_of_pieces("cpu").SerializeAsString()


@pytest.mark.parametrize(("length", "is_small"), [(100, True), (100_000, False)])
def test_xla_knows_how_large_a_small_loop_is(length, is_small):
    def compile_pieces_of(backend, module, devices, options, *others):
        return compile_pieces(
            lambda chosen: compile_program(backend, module, devices, chosen, *others),
            options,
            backend.platform,
        )

    def loop(x):
        return jax.lax.fori_loop(0, 10, lambda i, x: jnp.sin(x) + i, x)

    with plimsoll.memory_limit(None), pytest.MonkeyPatch.context() as patch:
        compile_program = compiler.backend_compile_and_load
        patch.setattr(compiler, "backend_compile_and_load", compile_pieces_of)
        compiled = jax.jit(loop).lower(jnp.ones(length)).compile()
    assert ("xla_cpu_small_call" in compiled.as_text()) == is_small
    assert jnp.allclose(compiled(jnp.ones(length)), loop(jnp.ones(length)))


@pytest.mark.parametrize("value", [VALUE, VALUE + ",LIBRARY_FUSION_TYPE_REDUCE"])
def test_xla_knows_the_option(value):
    options = {NAME: value}
    with plimsoll.memory_limit(None):
        compiled = jax.jit(lambda x: (x @ x).sum()).lower(jnp.ones((9, 9))).compile(options)
    assert compiled(jnp.ones((9, 9))) == 9 * 81
