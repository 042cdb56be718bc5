"""The command `plimsoll run`: what it prints and saves, and what it says of wrong inputs."""

import re

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

from corpus import forms
from plimsoll import run
from plimsoll.engine import ArrayType, default_plugin, element_dtype

POINTS = np.random.default_rng(1).standard_normal((8, 3), np.float32)
VECTOR = np.random.default_rng(2).standard_normal(8, np.float32)


@pytest.fixture
def program(tmp_path, artifact):
    path = tmp_path / "program.mlirbc"
    path.write_bytes(artifact)
    return path


def save(path, function, *arguments, **options):
    """Writes a function of JAX as a program."""
    lowered = jax.jit(function, **options).lower(*arguments)
    path.write_bytes(forms.artifact(lowered.compiler_ir()))
    return path


def lines_of(result) -> list[str]:
    assert result.returncode == 0, result.stderr
    assert result.stderr == b""
    return result.stdout.decode().splitlines()


def mistake_of(result) -> str:
    """The one line on standard error of a command that refused, without the program's name."""
    assert result.returncode == 2
    assert result.stdout == b""
    (line,) = result.stderr.decode().splitlines()
    assert line.startswith("plimsoll: ")
    return line.removeprefix("plimsoll: ")


class TestReport:
    def test_tells_results_time_and_memory(self, command, program):
        result, time, *memory = lines_of(command("run", program))
        assert re.fullmatch(r"result 0: tensor<8xf32>, sum -?\d+\.\d+, crc32 [0-9a-f]{8}", result)
        unit = r"[\d.]+ (s|ms|µs)"
        assert re.fullmatch(
            rf"time: {unit} to compile, {unit} for the first call, {unit} for the next", time
        )
        assert memory[0] == "memory, as XLA counts it:"
        rows = dict(re.split(r"\s{2,}", line.strip()) for line in memory[1:])
        assert rows["arguments"] == "128 bytes"
        assert rows["results"] == "32 bytes"
        assert rows.keys() == {
            "arguments",
            "results",
            "of these in the arguments' memory",
            "temporaries",
            "code",
            "together",
        }

    def test_repeats(self, command, program):
        _, time, *_ = lines_of(command("run", program, "--repeat", 3))
        assert time.endswith("for the fastest of 3 more")
        _, time, *_ = lines_of(command("run", program, "--repeat", 0))
        assert time.endswith("for the first call")

    def test_is_deterministic(self, command, program):
        first, second, other = (
            lines_of(command("run", program, "--seed", seed))[0] for seed in (5, 5, 6)
        )
        assert first == second
        assert first != other

    def test_takes_every_form(self, command, tmp_path, program_forms):
        found = set()
        for form, content in program_forms.items():
            path = tmp_path / form.replace(" ", "_")
            path.write_bytes(content.encode() if isinstance(content, str) else content)
            found.add(lines_of(command("run", path))[0])
        assert len(found) == 1

    def test_shows_the_log_on_demand(self, command, program):
        # JAX sets this variable to another level in the process that imports it.
        environment = {"TF_CPP_MIN_LOG_LEVEL": "0"}
        result = command("run", program, "--verbose", environment=environment)
        assert b"cpu_device_count" in result.stderr

    def test_takes_a_plugin(self, command, program):
        assert lines_of(command("run", program, "--plugin", default_plugin()))

    def test_programs_with_results_of_many_types(self, command, tmp_path):
        def function(a, b, c, d):
            return a + 1, b.sum(), c * 2, ~d

        shapes = [((3, 2), "bfloat16"), ((5,), "int8"), ((), "complex64"), ((0, 4), "bool")]
        arguments = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in shapes]
        path = save(tmp_path / "many.mlirbc", function, *arguments)
        results = lines_of(command("run", path))[:4]
        assert results[0].startswith("result 0: tensor<3x2xbf16>, sum ")
        assert results[1].startswith("result 1: tensor<i32>, sum ")
        assert re.match(r"result 2: tensor<complex<f32>>, sum \S+j, crc32 ", results[2])
        assert results[3] == "result 3: tensor<0x4xi1>, sum 0, crc32 00000000"

    def test_donated_arguments_are_made_again(self, command, tmp_path):
        argument = jax.ShapeDtypeStruct((1000,), "float32")
        donating = save(tmp_path / "a", lambda x: x + 1, argument, donate_argnums=0)
        plain = save(tmp_path / "b", lambda x: x + 1, argument)
        result, *_ = lines_of(command("run", donating, "--repeat", 3))
        assert result == lines_of(command("run", plain))[0]


class TestInputs:
    @pytest.mark.parametrize(
        "names", [("arg0", "arg1"), ("points", "vector"), ("arr_0", "arr_1")], ids=str
    )
    def test_are_found_by_name(self, command, program, tmp_path, names):
        np.savez(tmp_path / "in.npz", **dict(zip(names, (POINTS, VECTOR), strict=True)))
        lines_of(command("run", program, "--inputs", "in.npz", "--save", "out.npz"))
        differences = POINTS[:, None, :] - POINTS[None, :, :]
        expected = np.exp(-np.sum(differences**2, axis=-1)) @ VECTOR
        with np.load(tmp_path / "out.npz") as outputs:
            assert outputs.files == ["result0"]
            np.testing.assert_allclose(outputs["result0"], expected, rtol=1e-5)

    def test_of_types_that_numpy_does_not_know(self, command, tmp_path):
        argument = jax.ShapeDtypeStruct((3,), "bfloat16")
        path = save(tmp_path / "program", lambda x: x * 2, argument)
        array = np.array([1, 2, 3], ml_dtypes.bfloat16)
        np.savez(tmp_path / "in.npz", arg0=array)
        # What was saved can be put in again.
        lines_of(command("run", path, "--inputs", "in.npz", "--save", "out.npz"))
        with np.load(tmp_path / "out.npz") as outputs:
            np.savez(tmp_path / "in.npz", arg0=outputs["result0"])
        result, *_ = lines_of(command("run", path, "--inputs", "in.npz"))
        assert result.startswith("result 0: tensor<3xbf16>, sum 24,")

    @pytest.mark.parametrize(
        ("arrays", "message"),
        [
            (
                {"arg0": POINTS, "b": VECTOR},
                "PL202: in.npz: expected the arrays arg0, arg1 (or points, vector),"
                " found the arrays arg0, b",
            ),
            (
                {"arg0": POINTS},
                "PL202: in.npz: expected the arrays arg0, arg1 (or points, vector),"
                " found the array arg0",
            ),
            (
                {},
                "PL202: in.npz: expected the arrays arg0, arg1 (or points, vector),"
                " found no arrays",
            ),
            (
                {"arg0": POINTS.astype(np.float64), "arg1": VECTOR},
                "PL202: in.npz: arg0: expected tensor<8x3xf32> for argument 0 (points),"
                " found tensor<8x3xf64>",
            ),
            (
                {"arg0": POINTS, "arg1": VECTOR[:7]},
                "PL202: in.npz: arg1: expected tensor<8xf32> for argument 1 (vector),"
                " found tensor<7xf32>",
            ),
        ],
        ids=["wrong name", "too few", "none", "wrong type", "wrong shape"],
    )
    def test_that_do_not_fit(self, command, program, tmp_path, arrays, message):
        np.savez(tmp_path / "in.npz", **arrays)
        assert mistake_of(command("run", program, "--inputs", "in.npz")) == message

    def test_of_objects(self, command, program, tmp_path):
        np.savez(tmp_path / "in.npz", arg0=np.array([{}]), arg1=VECTOR)
        message = mistake_of(command("run", program, "--inputs", "in.npz"))
        assert message.startswith("PL201: in.npz: arg0 cannot be read")

    def test_files_that_are_none(self, command, program, tmp_path):
        expected = "expected a .npz file, as numpy.savez writes it, found"
        np.save(tmp_path / "array.npy", POINTS)
        (tmp_path / "empty.npz").touch()
        for name, found in [
            ("missing.npz", ": No such file or directory"),
            (".", ": Is a directory"),
            ("array.npy", " another kind of file"),
            ("empty.npz", " another kind of file"),
        ]:
            message = mistake_of(command("run", program, "--inputs", name))
            assert message == f"PL201: {name}: {expected}{found}"

    def test_a_truncated_file(self, command, program, tmp_path):
        np.savez(tmp_path / "in.npz", arg0=POINTS, arg1=VECTOR)
        content = (tmp_path / "in.npz").read_bytes()
        (tmp_path / "in.npz").write_bytes(content[: len(content) // 2])
        message = mistake_of(command("run", program, "--inputs", "in.npz"))
        assert message.startswith("PL201: in.npz: ")

    def test_a_damaged_file(self, command, program, tmp_path):
        np.savez_compressed(tmp_path / "in.npz", arg0=POINTS, arg1=VECTOR)
        content = bytearray((tmp_path / "in.npz").read_bytes())
        content[100:200] = bytes(100)
        (tmp_path / "in.npz").write_bytes(content)
        message = mistake_of(command("run", program, "--inputs", "in.npz"))
        assert message.startswith("PL201: in.npz: ")


class TestRefusals:
    def test_dynamic_shapes(self, command, tmp_path):
        (size,) = jax.export.symbolic_shape("n")
        argument = jax.ShapeDtypeStruct((size, 3), "float32")
        exported = jax.export.export(jax.jit(jnp.sin))(argument)
        (tmp_path / "program").write_bytes(exported.mlir_module_serialized)
        message = mistake_of(command("run", "program"))
        assert message.startswith("PL202: argument 0 (")
        assert "expected a shape that is known before the program runs" in message
        assert "found tensor<?x3xf32>" in message

    @pytest.mark.parametrize(
        ("type_text", "found"),
        [
            ("tuple<tensor<3xf32>>", "expected an array, found tuple<tensor<3xf32>>"),
            ("!stablehlo.token", "expected an array, found !stablehlo.token"),
            ("tensor<3xf6E2M3FN>", "element type f6E2M3FN: expected one of i1, "),
        ],
    )
    def test_arguments_that_are_no_arrays(self, command, tmp_path, type_text, found):
        text = f"""
"builtin.module"() ({{
  "func.func"() <{{function_type = ({type_text}) -> {type_text}, sym_name = "main"}}> ({{
  ^bb0(%arg0: {type_text}):
    "func.return"(%arg0) : ({type_text}) -> ()
  }}) : () -> ()
}}) : () -> ()
"""
        (tmp_path / "program.mlir").write_text(text)
        message = mistake_of(command("run", "program.mlir"))
        assert message.startswith(f"PL202: argument 0 (arg0): {found}")

    def test_a_program_without_main(self, command, tmp_path):
        text = """
"builtin.module"() ({
  "func.func"() <{function_type = () -> (), sym_name = "other"}> ({
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
"""
        (tmp_path / "program.mlir").write_text(text)
        message = mistake_of(command("run", "program.mlir"))
        assert message == "PL105: the program: expected a function @main, found @other"

    def test_a_program_that_the_engine_does_not_compile(self, command, tmp_path):
        def function(x):
            return jax.pure_callback(np.sin, jax.ShapeDtypeStruct((3,), "float32"), x)

        lowered = jax.jit(function).lower(jax.ShapeDtypeStruct((3,), "float32"))
        (tmp_path / "program.mlir").write_text(lowered.as_text())
        result = command("run", "program.mlir")
        assert result.returncode == 1
        assert result.stderr.startswith(b"plimsoll: PL301: the engine could not compile")

    def test_arguments_larger_than_memory(self, command, tmp_path):
        argument = jax.ShapeDtypeStruct((10**7, 10**7), "float32")
        path = save(tmp_path / "program", lambda x: x.sum(), argument)
        result = command("run", path)
        assert result.returncode == 1
        assert b"takes 363.8 TiB, which cannot be had" in result.stderr

    @pytest.mark.parametrize("path", [".", "missing/out.npz"])
    def test_places_where_nothing_can_be_saved(self, command, program, path):
        message = mistake_of(command("run", program, "--save", path))
        assert message.startswith(f"PL201: {path}: expected a file to write, found ")

    @pytest.mark.parametrize("option", ["--seed", "--repeat"])
    @pytest.mark.parametrize("value", ["-1", "x", "1.5"])
    def test_numbers_that_are_none(self, command, program, option, value):
        message = mistake_of(command("run", program, f"{option}={value}"))
        assert message.startswith(f"PL204: argument {option}: expected a whole number, found ")

    def test_a_plugin_that_is_none(self, command, program):
        message = mistake_of(command("run", program, "--plugin", program.name))
        assert message.startswith("PL203: PJRT plugin program.mlirbc: cannot be loaded")


def random_input(shape: tuple[int, ...], element_type: str, seed=0, index=0) -> np.ndarray:
    arguments = [
        run.Argument(i, f"arg{i}", ArrayType(shape, element_type)) for i in range(index + 1)
    ]
    return run.random_inputs(arguments, seed)(index)


class TestRandomInputs:
    def test_depend_on_the_seed_and_the_number(self):
        first = random_input((100,), "f32")
        np.testing.assert_array_equal(first, random_input((100,), "f32"))
        assert not np.array_equal(first, random_input((100,), "f32", seed=1))
        assert not np.array_equal(first, random_input((100,), "f32", index=1))

    @pytest.mark.parametrize(
        "element_type", ["f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2", "complex<f32>"]
    )
    def test_floats_are_standard_normal(self, element_type):
        array = random_input((200, 500), element_type)
        assert array.dtype == element_dtype(element_type)
        parts = [array.real, array.imag] if array.dtype.kind == "c" else [array]
        for part in parts:
            numbers = part.astype(np.float64)
            assert abs(numbers.mean()) < 0.02
            assert abs(numbers.std() - 1) < 0.02

    @pytest.mark.parametrize(
        ("element_type", "highest"),
        [
            ("i8", 9),
            ("ui8", 9),
            ("i64", 9),
            ("ui64", 9),
            ("i4", 7),
            ("ui4", 9),
            ("i2", 1),
            ("i1", 1),
        ],
    )
    def test_integers_are_small(self, element_type, highest):
        array = random_input((5000,), element_type)
        assert array.dtype == element_dtype(element_type)
        assert set(array.astype(np.int64).tolist()) == set(range(highest + 1))

    def test_types_without_a_sign_are_positive(self):
        assert np.isfinite(random_input((1000,), "f8E8M0FNU").astype(np.float32)).all()

    @pytest.mark.parametrize("shape", [(), (2, 3), (1000,)])
    def test_lie_where_the_engine_can_use_them(self, shape):
        array = random_input(shape, "f32")
        assert array.shape == shape
        assert array.ctypes.data % 64 == 0
        assert array.flags.c_contiguous

    def test_may_be_empty(self):
        assert random_input((3, 0), "f32").shape == (3, 0)
        assert random_input((0,), "i4").shape == (0,)

    def test_large_arrays_are_made_in_pieces(self, monkeypatch):
        whole = random_input((3000,), "bf16")
        assert not np.array_equal(whole[:1000], whole[1000:2000])
        monkeypatch.setattr(run, "_CHUNK", 1000)
        pieces = random_input((3000,), "bf16")
        assert len(set(pieces.astype(np.float32).tolist())) > 500


class TestTexts:
    @pytest.mark.parametrize(
        ("size", "text"),
        [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1023, "1023 bytes"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            (5 * 2**20, "5.0 MiB"),
            (2**31, "2.0 GiB"),
            (3 * 2**70, "3072.0 EiB"),
        ],
    )
    def test_bytes(self, size, text):
        assert run.byte_text(size) == text

    @pytest.mark.parametrize(
        ("seconds", "text"), [(12.345, "12.3 s"), (0.0456, "45.6 ms"), (1.2e-5, "12 µs")]
    )
    def test_times(self, seconds, text):
        assert run.time_text(seconds) == text

    def test_checksums(self):
        array = np.array([[0.5, 1], [2, 4]], np.float32)
        assert run.checksum(array) == "sum 7.5, crc32 ce93f4df"
        assert run.checksum(np.asfortranarray(array)) == run.checksum(array)
        assert run.checksum(np.array([np.inf, -np.inf])).startswith("sum nan,")
        assert run.checksum(np.array([True, True])).startswith("sum 2,")
        assert run.checksum(np.array([1 + 2j, 3 - 1j])).startswith("sum 4+1j,")
