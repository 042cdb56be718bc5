"""`plimsoll check`: a program as it is and under a limit, compared."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import export

from plimsoll.compare import difference


def save_program(path, function, *types):
    path.write_bytes(export.export(jax.jit(function))(*types).mlir_module_serialized)


def product(points, vector):
    kernel = jnp.exp(-jnp.sum((points[:, None] - points[None]) ** 2, axis=-1))
    return kernel @ vector, jnp.argmax(kernel, axis=1)


def test_a_program_that_is_cut_is_the_same(command, tmp_path):
    types = jax.ShapeDtypeStruct((6000, 3), "float32"), jax.ShapeDtypeStruct((6000,), "float32")
    save_program(tmp_path / "program.mlirbc", product, *types)
    result = command("check", "program.mlirbc", "--memory-limit", "30MB", text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "plimsoll: product " in result.stderr
    assert "  measured " in result.stdout
    assert result.stdout.endswith("the same, and within the limit\n")


def test_what_cannot_be_held_is_refused(command, tmp_path):
    matrix = jax.ShapeDtypeStruct((1000, 1000), "float32")
    save_program(tmp_path / "program.mlirbc", jnp.linalg.cholesky, matrix)
    result = command("check", "program.mlirbc", "--memory-limit", "5MB", text=True)
    assert result.returncode == 2
    assert result.stderr.startswith("plimsoll: PL401: ")


def test_an_option_that_is_no_limit(command, tmp_path):
    result = command("check", "program.mlirbc", "--memory-limit", "much", text=True)
    assert result.returncode == 2
    assert result.stderr.startswith("plimsoll: PL204: --memory-limit: expected a size")


@pytest.mark.parametrize(
    ("dtype", "change", "is_small"),
    [
        ("float32", 1e-6, True),
        ("float32", 1e-2, False),
        ("float64", 1e-15, True),
        ("float64", 1e-6, False),
        ("bfloat16", 1e-2, True),
        ("int32", 0, True),
        ("int32", 1, False),
        ("float32", np.nan, False),
    ],
)
def test_differences(tmp_path, dtype, change, is_small):
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    values = np.arange(100).astype(kind)
    other = values.copy()
    other[50] += np.asarray(50 * change if kind.name != "int32" else change).astype(kind)
    for name, array in (("a", values), ("b", other)):
        np.save(tmp_path / f"{name}.npy", array.view("u2") if dtype == "bfloat16" else array)
    found = difference(tmp_path / "a.npy", tmp_path / "b.npy", dtype)
    assert found.is_small == is_small


def test_what_is_not_finite_has_to_be_so_in_both(tmp_path):
    values = np.array([1, np.inf, np.nan])
    np.save(tmp_path / "a.npy", values)
    assert difference(tmp_path / "a.npy", tmp_path / "a.npy", "float64").error == 0
