"""The engine: compiling with OpenXLA's CPU plugin, moving arrays of every type, and executing."""

import gc
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

from plimsoll.engine import ArrayType, Engine, default_plugin, element_dtype
from plimsoll.errors import PlimsollError

ADD = """
module @add {
  func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %a, %b : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""

DOUBLE_IN_PLACE = """
func.func @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""

INTEGERS = ["i2", "i4", "i8", "i16", "i32", "i64", "ui2", "ui4", "ui8", "ui16", "ui32", "ui64"]
FLOATS = [
    "f4E2M1FN", "f8E3M4", "f8E4M3", "f8E4M3FN", "f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E5M2",
    "f8E5M2FNUZ", "f8E8M0FNU", "bf16", "f16", "f32", "f64",
]  # fmt: skip
ELEMENT_TYPES = ["i1", *INTEGERS, *FLOATS, "complex<f32>", "complex<f64>"]


@pytest.fixture(scope="module")
def engine():
    return Engine()


@pytest.fixture(scope="module")
def add(engine):
    return engine.compile(ADD)


def values(element_type: str, shape: tuple[int, ...]) -> np.ndarray:
    """Values that every element type but f8E8M0FNU has: small ones, with signs where there are."""
    numbers = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    if element_type == "f8E8M0FNU":
        numbers = 2.0 ** (numbers % 5)
    elif element_type in FLOATS or element_type in ("i2", "i4", "i8", "i16", "i32", "i64"):
        numbers = numbers % 4 - 2
    elif element_type.startswith("complex"):
        numbers = numbers * (1 - 2j)
    else:
        numbers = numbers % 2
    return numbers.astype(element_dtype(element_type))


def error_of(function, *arguments) -> PlimsollError:
    with pytest.raises(PlimsollError) as caught:
        function(*arguments)
    return caught.value


def test_tells_what_it_is(engine):
    assert engine.platform == "cpu"
    assert engine.version
    assert engine.api_version.startswith("0.")


def test_runs_a_program(add):
    assert add.name == "add"
    assert add.argument_types() == [ArrayType((4,), "f32")] * 2
    (result,) = add(np.arange(4, dtype=np.float32), np.ones(4, np.float32))
    np.testing.assert_array_equal(result, np.array([1, 2, 3, 4], np.float32))


def test_takes_bytes(engine):
    assert engine.compile(ADD.encode()).result_count == 1


def test_gives_many_results_and_none(engine):
    program = """func.func @main(%a: tensor<2xi32>) -> (tensor<2xi32>, tensor<i1>) {
        %0 = stablehlo.constant dense<true> : tensor<i1>
        return %a, %0 : tensor<2xi32>, tensor<i1>
    }"""
    first, second = engine.compile(program)(np.array([5, 6], np.int32))
    assert first.tolist() == [5, 6]
    assert (second.shape, second.dtype, bool(second)) == ((), np.bool_, True)
    assert engine.compile("func.func @main() { return }")() == []


@pytest.mark.parametrize("shape", [(), (1,), (7,), (2, 5), (0,), (3, 0, 2)], ids=str)
@pytest.mark.parametrize("element_type", ELEMENT_TYPES)
def test_arrays_survive_the_device(engine, element_type, shape):
    array = values(element_type, shape)
    for borrow in (False, True):
        on_device = engine.to_device(array, borrow)
        assert on_device.type == ArrayType(shape, element_type)
        back = on_device.numpy()
        assert back.dtype == array.dtype
        np.testing.assert_array_equal(back, array)


@pytest.mark.parametrize("element_type", ELEMENT_TYPES)
def test_programs_see_the_values(engine, element_type):
    array = values(element_type, (2, 3))
    program = f"""func.func @main(%a: tensor<2x3x{element_type}>) -> tensor<3x2x{element_type}> {{
        %0 = stablehlo.transpose %a, dims = [1, 0]
            : (tensor<2x3x{element_type}>) -> tensor<3x2x{element_type}>
        return %0 : tensor<3x2x{element_type}>
    }}"""
    executable = engine.compile(program)
    assert executable.argument_types() == [ArrayType((2, 3), element_type)]
    (result,) = executable(array)
    assert result.dtype == array.dtype
    np.testing.assert_array_equal(result, array.T)


@pytest.mark.parametrize("element_type", [*INTEGERS, *FLOATS])
def test_programs_convert_the_values(engine, element_type):
    array = values(element_type, (6,))
    program = f"""func.func @main(%a: tensor<6x{element_type}>) -> tensor<6xf32> {{
        %0 = stablehlo.convert %a : (tensor<6x{element_type}>) -> tensor<6xf32>
        return %0 : tensor<6xf32>
    }}"""
    (result,) = engine.compile(program)(array)
    np.testing.assert_array_equal(result, array.astype(np.float32))


def test_takes_arrays_in_any_order_and_byte_order(engine):
    program = (
        "func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> { return %a : tensor<2x3xf32> }"
    )
    identity = engine.compile(program)
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    columns_first = np.asfortranarray(array)
    for other in (columns_first, columns_first[:, ::-1][:, ::-1], array.astype(">f4")):
        np.testing.assert_array_equal(identity(other)[0], array)


def test_gives_the_same_as_jax(engine):
    def loss(weights, batch):
        hidden = jnp.tanh(batch @ weights["in"])
        return jnp.mean((hidden @ weights["out"]) ** 2)

    generator = np.random.default_rng(0)
    batch = generator.standard_normal((16, 8), np.float32)
    weights = {
        "in": generator.standard_normal((8, 4), np.float32),
        "out": generator.standard_normal((4, 2), np.float32),
    }
    gradient = jax.jit(jax.value_and_grad(loss))
    executable = engine.compile(gradient.lower(weights, batch).as_text())
    found = executable(*jax.tree.leaves((weights, batch)))
    for ours, theirs in zip(found, jax.tree.leaves(gradient(weights, batch)), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def test_memory(engine):
    program = """func.func @main(%a: tensor<1000xf32>) -> tensor<1000x1000xf32> {
        %0 = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<1000xf32>) -> tensor<1000x1000xf32>
        %1 = stablehlo.cosine %0 : tensor<1000x1000xf32>
        %2 = stablehlo.dot_general %1, %1, contracting_dims = [1] x [0]
            : (tensor<1000x1000xf32>, tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
        return %2 : tensor<1000x1000xf32>
    }"""
    memory = engine.compile(program).memory
    assert memory.argument == 4000
    assert memory.output == 4_000_000
    assert memory.alias == 0
    assert memory.temporary >= 4_000_000
    assert memory.host_temporary == 0
    assert memory.needed >= 8_004_000


def test_donated_memory_is_counted_once(engine):
    memory = engine.compile(DOUBLE_IN_PLACE).memory
    assert (memory.argument, memory.output, memory.alias) == (16, 16, 16)
    assert memory.needed - memory.generated_code == 16


def test_a_donated_array_is_gone(engine):
    double = engine.compile(DOUBLE_IN_PLACE)
    array = engine.to_device(np.ones(4, np.float32))
    (result,) = double.execute([array])
    assert result.numpy().tolist() == [2, 2, 2, 2]
    assert array.is_donated
    assert error_of(array.numpy).code == "PL204"
    error = error_of(double.execute, [array])
    assert error.code == "PL202"
    assert "expected an array with values" in error.message


def test_a_call_does_not_change_donated_numpy_arrays(engine):
    array = np.ones(1 << 16, np.float32)
    program = DOUBLE_IN_PLACE.replace("4xf32", f"{array.size}xf32")
    double = engine.compile(program)
    for _ in range(2):
        np.testing.assert_array_equal(double(array)[0], 2 * np.ones_like(array))
    np.testing.assert_array_equal(array, np.ones_like(array))


def test_objects_may_outlive_their_engine():
    own_engine = Engine()
    own_add = own_engine.compile(ADD)
    array = own_engine.to_device(np.ones(4, np.float32), borrow=True)
    del own_engine
    gc.collect()
    (result,) = own_add.execute([array, array])
    del own_add, array
    gc.collect()
    assert result.numpy().tolist() == [2, 2, 2, 2]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (
            [np.ones(4, np.float32)],
            "program add: expected 2 arguments, found 1;"
            " argument 1: expected tensor<4xf32>, found nothing",
        ),
        (
            [np.ones(4, np.float32), np.ones(4, np.int32)],
            "program add: argument 1: expected tensor<4xf32>, found tensor<4xi32>",
        ),
        (
            [np.ones((2, 2), np.float32), np.ones(4, np.float32)],
            "program add: argument 0: expected tensor<4xf32>, found tensor<2x2xf32>",
        ),
    ],
)
def test_wrong_arguments(add, arrays, message):
    error = error_of(add, *arrays)
    assert (error.code, error.message) == ("PL202", message)


@pytest.mark.parametrize("array", [np.array(["text"]), np.array([None]), np.ones(2, np.longdouble)])
def test_arrays_of_other_types(engine, array):
    error = error_of(engine.to_device, array)
    assert error.code == "PL202"
    assert str(array.dtype) in error.message


def test_element_types_that_are_not_there():
    error = error_of(element_dtype, "f6E2M3FN")
    assert error.code == "PL202"
    assert error.message.startswith("element type f6E2M3FN: expected one of i1, ")


@pytest.mark.parametrize(
    ("program", "part"),
    [
        ("nonsense", "custom op 'nonsense' is unknown"),
        (ADD.replace("4xf32", "4xf6E2M3FN"), "primitive_type_invalid"),
    ],
)
def test_programs_that_do_not_compile(engine, program, part):
    error = error_of(engine.compile, program)
    assert error.code == "PL301"
    assert part in error.message
    assert "\n" not in error.message


def test_xla_flags(engine):
    assert engine.compile(ADD, {"xla_cpu_enable_fast_math": True}).result_count == 1
    assert "xla_nobody" in error_of(engine.compile, ADD, {"xla_nobody": True}).message
    assert error_of(engine.compile, ADD, {"xla_a": [1]}).code == "PL204"


def test_plugins_that_are_none(tmp_path):
    error = error_of(Engine, tmp_path / "missing.so")
    assert error.code == "PL203"
    assert "missing.so: expected a shared library, found no such file" in error.message
    assert "found a directory" in error_of(Engine, tmp_path).message
    (tmp_path / "text.so").write_text("x" * 1000)
    assert "invalid ELF header" in error_of(Engine, tmp_path / "text.so").message
    library_without_plugin = ml_dtypes._ml_dtypes_ext.__file__
    assert "no function GetPjrtApi" in error_of(Engine, library_without_plugin).message


def test_a_missing_package_is_a_bad_plugin(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    error = error_of(default_plugin)
    assert error.code == "PL203"
    assert "xla-cpu-pjrt" in error.message


@pytest.mark.parametrize("verbose", [False, True])
def test_log_messages_appear_only_on_demand(verbose):
    program = f"from plimsoll.engine import Engine; Engine(verbose={verbose})"
    # JAX sets this variable in the process that imports it.
    environment = {k: v for k, v in os.environ.items() if k != "TF_CPP_MIN_LOG_LEVEL"}
    child = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, env=environment
    )
    assert child.stdout == b""
    assert (b"cpu_device_count" in child.stderr) == verbose
    assert verbose or child.stderr == b""
