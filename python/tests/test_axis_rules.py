"""Every factor of an op's axis rule gives what the op gives: the op is cut along it and run."""

import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jaxlib import _jax as jaxlib_core

from corpus import forms

ROOT = Path(__file__).parents[2]
BUILDS = [ROOT / "build" / preset / "split" / "cut_one_op" for preset in ("release", "asan")]
BUILT = next((tool for tool in BUILDS if tool.exists()), BUILDS[0])
TOOL = Path(os.environ.get("PLIMSOLL_CUT_ONE_OP", BUILT))
pytestmark = pytest.mark.skipif(not TOOL.exists(), reason="the C++ tests are not built")

RANDOM = np.random.default_rng(5)
IN_BOUNDS = lax.GatherScatterMode.PROMISE_IN_BOUNDS  # XLA's own rule for those that are not.


@dataclass
class Case:
    name: str
    op: str
    function: Callable[..., Any] | str  # A program's text where JAX does not make the op.
    arguments: tuple[np.ndarray, ...]
    factors: int  # How many are expected.
    tolerance: float = 0.0  # With 0 all bits are the same.


CASES: list[Case] = []


def case(name, op, function, *arguments, factors, tolerance=0.0):
    CASES.append(Case(name, op, function, arguments, factors, tolerance))


def floats(*shape, dtype="float32"):
    """Small whole numbers, so that sums are the same in any order."""
    return RANDOM.integers(-4, 5, size=shape).astype(dtype)


def normal(*shape, dtype="float32"):
    return RANDOM.normal(size=shape).astype(dtype)


def indices(*shape, dtype="int32"):
    """Some of them out of bounds on either side."""
    return RANDOM.integers(-2, 9, size=shape).astype(dtype)


def column(*numbers, dtype="int32"):
    return np.array(numbers, dtype)[:, None]


def gather(name, operand, starts, window, collapsed, index_map, sizes, factors, batch=((), ())):
    numbers = lax.GatherDimensionNumbers(
        offset_dims=window,
        collapsed_slice_dims=collapsed,
        start_index_map=index_map,
        operand_batching_dims=batch[0],
        start_indices_batching_dims=batch[1],
    )
    case(
        f"gather {name}",
        "stablehlo.gather",
        lambda x, i: lax.gather(x, i, numbers, sizes, mode=IN_BOUNDS),
        operand,
        starts,
        factors=factors,
    )


ROWS = dict(window=(1,), collapsed=(0,), index_map=(0,), sizes=(1, 6), factors=3)
PAIRS = dict(window=(), collapsed=(0, 1), sizes=(1, 1))
for dtype, extremes in [
    ("int8", (127, -128)),
    ("uint8", (255, 128)),
    ("int32", (2**31 - 1, -(2**31))),
    ("uint32", (2**32 - 1, 2**31)),
    ("int64", (2**63 - 1, -(2**63))),
    ("uint64", (2**64 - 1, 2**63)),
]:
    numbers = column(0, 6, *extremes, 2, dtype=dtype)
    gather(f"rows by {dtype}", normal(7, 6), numbers, **ROWS)
gather("many rows by int8", normal(300, 6), column(0, 127, -128, dtype="int8"), **ROWS)
for dtype in ["bool", "int16", "bfloat16", "float64", "complex64"]:
    gather(f"rows of {dtype}", normal(7, 6).astype(dtype), indices(5, 1), **ROWS)
gather("pairs", normal(7, 6), indices(3, 4, 2), index_map=(0, 1), factors=4, **PAIRS)
gather("pairs swapped", normal(7, 6), indices(5, 2), index_map=(1, 0), factors=3, **PAIRS)
gather("windows", normal(7, 6), indices(5, 2), (1, 2), (), (0, 1), (4, 3), factors=3)
gather("windows of columns", normal(7, 6), indices(5, 1), (0, 2), (), (1,), (7, 3), factors=3)
gather("rows kept", normal(7, 6), indices(5, 1), (0, 2), (), (0,), (1, 6), factors=3)
gather("two of three", normal(4, 7, 6), indices(5, 2), (1,), (0, 2), (2, 0), (1, 7, 1), factors=4)
for axis, shape in [(0, (4, 5, 1)), (1, (5, 4, 1))]:
    gather(
        f"batches {axis}",
        normal(4, 7, 6),
        indices(*shape),
        (2,),
        (1,),
        (1,),
        (1, 1, 6),
        factors=4,
        batch=((0,), (axis,)),
    )
case("diagonal", "stablehlo.gather", jnp.diagonal, normal(7, 6), factors=3)


def scatter(
    name, function, operand, places, updates, window, inserted, index_map, factors, batch=((), ())
):
    numbers = lax.ScatterDimensionNumbers(
        update_window_dims=window,
        inserted_window_dims=inserted,
        scatter_dims_to_operand_dims=index_map,
        operand_batching_dims=batch[0],
        scatter_indices_batching_dims=batch[1],
    )
    case(
        f"scatter {name}",
        "stablehlo.scatter",
        lambda x, i, u: function(x, i, u, numbers, mode=IN_BOUNDS),
        operand,
        places,
        updates,
        factors=factors,
    )


INTO_ROWS = dict(window=(1,), inserted=(0,), index_map=(0,), factors=3)
for dtype, extremes in [
    ("uint8", (255, 128)),
    ("int32", (2**31 - 1, -(2**31))),
    ("uint32", (2**32 - 1, 2**31)),
    ("int64", (2**63 - 1, -(2**63))),
    ("uint64", (2**64 - 1, 2**63)),
]:
    numbers = column(0, 6, *extremes, 2, dtype=dtype)
    scatter(
        f"add rows by {dtype}", lax.scatter_add, floats(7, 6), numbers, floats(5, 6), **INTO_ROWS
    )
scatter("set rows", lax.scatter, normal(7, 6), indices(9, 1), normal(9, 6), **INTO_ROWS)
scatter(
    "multiply pairs",
    lax.scatter_mul,
    floats(7, 6),
    indices(8, 2),
    floats(8),
    (),
    (0, 1),
    (0, 1),
    factors=3,
)
scatter(
    "maximum of pairs swapped",
    lax.scatter_max,
    normal(7, 6),
    indices(3, 4, 2),
    normal(3, 4),
    (),
    (0, 1),
    (1, 0),
    factors=4,
)
scatter(
    "windows",
    lax.scatter_add,
    floats(7, 6),
    indices(5, 2),
    floats(5, 4, 6),
    (1, 2),
    (),
    (0, 1),
    factors=2,
)
for axis, shape in [(0, (4, 5)), (1, (5, 4))]:
    scatter(
        f"batches {axis}",
        lax.scatter_add,
        floats(4, 7, 6),
        indices(*shape, 1),
        floats(*shape, 6),
        (2,),
        (1,),
        (1,),
        factors=4,
        batch=((0,), (axis,)),
    )
case(
    "gradient of a diagonal",
    "stablehlo.scatter",
    jax.grad(lambda x: jnp.sum(jnp.diagonal(x) ** 2)),
    floats(7, 6),
    factors=3,
)
case(
    "scatter into two operands",
    "stablehlo.scatter",
    """module { func.func @main(%x: tensor<7x3xi32>, %y: tensor<7x3xf32>, %i: tensor<5xi32>,
        %u: tensor<5x3xi32>, %v: tensor<5x3xf32>) -> (tensor<7x3xi32>, tensor<7x3xf32>) {
      %0:2 = "stablehlo.scatter"(%x, %y, %i, %u, %v) <{scatter_dimension_numbers =
          #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
          scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<f32>):
        %s = stablehlo.add %a, %c : tensor<i32>
        %m = stablehlo.maximum %b, %d : tensor<f32>
        stablehlo.return %s, %m : tensor<i32>, tensor<f32>
      }) : (tensor<7x3xi32>, tensor<7x3xf32>, tensor<5xi32>, tensor<5x3xi32>, tensor<5x3xf32>)
          -> (tensor<7x3xi32>, tensor<7x3xf32>)
      return %0#0, %0#1 : tensor<7x3xi32>, tensor<7x3xf32> } }""",
    floats(7, 3, dtype="int32"),
    normal(7, 3),
    indices(5),
    floats(5, 3, dtype="int32"),
    normal(5, 3),
    factors=3,
)


def convolution(name, image, kernel, factors, strides=(1, 1), padding="VALID", **options):
    options.setdefault("dimension_numbers", ("NHWC", "HWIO", "NHWC"))
    case(
        f"convolution {name}",
        "stablehlo.convolution",
        lambda x, w: lax.conv_general_dilated(x, w, strides, padding, **options),
        image,
        kernel,
        factors=factors,
    )


CHANNELS_FIRST = ("NCHW", "OIHW", "NCHW")
GRADIENT = ("CHWN", "IHWO", "HWNC")
for dtype in ["float32", "bfloat16", "int32", "complex64"]:
    image, kernel = floats(6, 7, 6, 4, dtype=dtype), floats(3, 3, 4, 5, dtype=dtype)
    convolution(f"of {dtype}", image, kernel, factors=3, padding="SAME")
image = floats(6, 4, 7, 6)
convolution(
    "channels first", image, floats(5, 4, 3, 3), factors=3, dimension_numbers=CHANNELS_FIRST
)
image = floats(6, 9, 8, 3)
convolution("weights' gradient", image, floats(6, 7, 6, 5), factors=3, dimension_numbers=GRADIENT)
convolution("of single elements", image, floats(1, 1, 3, 5), factors=5)
convolution("of patches", image, floats(3, 2, 3, 5), factors=5, strides=(3, 2))
convolution("with gaps", image, floats(2, 1, 3, 5), factors=5, strides=(3, 2))
convolution("over all", image, floats(9, 2, 3, 5), factors=4)
convolution(
    "transposed",
    image,
    floats(3, 3, 3, 5),
    factors=3,
    padding=((2, 1), (2, 1)),
    lhs_dilation=(2, 2),
)
image = floats(4, 6, 5, 6)
convolution("in groups", image, floats(3, 3, 2, 12), factors=2, feature_group_count=3)
convolution("by channel", image, floats(3, 3, 1, 6), factors=2, feature_group_count=6)
image = floats(8, 6, 5, 3)
convolution("in batch groups", image, floats(3, 3, 3, 8), factors=2, batch_group_count=4)
image = floats(6, 5, 5, 4)
convolution(
    "by channel, weights' gradient",
    image,
    floats(6, 5, 5, 8),
    factors=2,
    padding="SAME",
    dimension_numbers=GRADIENT,
    batch_group_count=4,
)


def pooled(window, strides, padding="VALID"):
    return lambda x: lax.reduce_window(x, -np.inf, lax.max, window, strides, padding)


def gradient(function):
    return jax.grad(lambda x: jnp.sum(function(x) ** 2))


image = floats(5, 8, 9, 4)
for name, window, strides, padding, factors in [
    ("side by side", (1, 2, 3, 1), (1, 2, 3, 1), "VALID", 4),
    ("with gaps", (1, 2, 2, 1), (1, 4, 3, 1), "VALID", 4),
    ("overlapping", (1, 3, 3, 1), (1, 2, 2, 1), "SAME", 2),
]:
    pool = pooled(window, strides, padding)
    case(f"pool {name}", "stablehlo.reduce_window", pool, image, factors=factors)
    case(
        f"gradient of pool {name}",
        "stablehlo.select_and_scatter",
        gradient(pool),
        image,
        factors=factors,
    )

case("sort", "stablehlo.sort", lambda x: lax.sort(x, dimension=1), normal(5, 7, 3), factors=2)
case("argsort", "stablehlo.sort", lambda x: jnp.argsort(x, axis=0), floats(5, 7, 3), factors=2)

SPECIAL = floats(6, 13)
SPECIAL[0, 3], SPECIAL[1, [2, 9]], SPECIAL[2, :] = np.nan, -np.inf, np.nan
SPECIAL[3, 1::2], SPECIAL[4, :], SPECIAL[4, 7] = -np.nan, -0.0, 0.0
SPECIAL[5, :] = np.array(0xFFFFFFFF, np.uint32).view("float32")
for name, values, k in [
    ("ties", np.abs(floats(4, 13)), 5),
    ("nothing but -inf", np.full((4, 13), -np.inf, "float32"), 5),
    ("special numbers", SPECIAL, 6),
    ("all special numbers", SPECIAL, 13),
    ("bfloat16", SPECIAL.astype("bfloat16"), 6),
    ("float64", SPECIAL.astype("float64"), 6),
    ("least integers", np.full((4, 13), -(2**31), "int32"), 5),
    ("unsigned zeros", np.zeros((4, 13), "uint8"), 5),
]:
    case(f"top_k of {name}", "chlo.top_k", lambda x, k=k: lax.top_k(x, k), values, factors=2)
case("approximate top_k", "ApproxTopK", lambda x: lax.approx_max_k(x, 3), normal(4, 50), factors=1)

MATRICES = normal(5, 6, 6)
POSITIVE = MATRICES @ MATRICES.transpose(0, 2, 1) + 6 * np.eye(6, dtype="float32")
LOWER = np.tril(MATRICES) + 6 * np.eye(6, dtype="float32")
for name, transform in [("fft", jnp.fft.fft), ("rfft", jnp.fft.rfft)]:
    case(name, "stablehlo.fft", transform, MATRICES, factors=2, tolerance=1e-5)
case("fft2", "stablehlo.fft", jnp.fft.fft2, MATRICES, factors=1, tolerance=1e-5)
for name, left_side, sides in [("left", True, normal(5, 6, 9)), ("right", False, normal(5, 9, 6))]:
    case(
        f"triangular_solve {name}",
        "lapack_strsm_ffi",
        lambda a, b, left=left_side: lax.linalg.triangular_solve(a, b, left_side=left, lower=True),
        LOWER,
        sides,
        factors=2,
        tolerance=1e-5,
    )
    shape = "x".join(map(str, sides.shape))
    case(
        f"stablehlo.triangular_solve {name}",
        "stablehlo.triangular_solve",
        f"""module {{ func.func @main(%a: tensor<5x6x6xf32>, %b: tensor<{shape}xf32>)
            -> tensor<{shape}xf32> {{
          %0 = "stablehlo.triangular_solve"(%a, %b) <{{left_side = {str(left_side).lower()},
              lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>,
              unit_diagonal = false}}>
              : (tensor<5x6x6xf32>, tensor<{shape}xf32>) -> tensor<{shape}xf32>
          return %0 : tensor<{shape}xf32> }} }}""",
        LOWER,
        sides,
        factors=2,
        tolerance=1e-5,
    )
case(
    "stablehlo.cholesky",
    "stablehlo.cholesky",
    """module { func.func @main(%x: tensor<5x6x6xf32>) -> tensor<5x6x6xf32> {
      %0 = stablehlo.cholesky %x, lower = true : tensor<5x6x6xf32>
      return %0 : tensor<5x6x6xf32> } }""",
    POSITIVE,
    factors=1,
    tolerance=1e-5,
)
for target, function in [
    ("spotrf", jnp.linalg.cholesky),
    ("sgeqrf", jnp.linalg.qr),
    ("sorgqr", jnp.linalg.qr),
    ("ssyevd", jnp.linalg.eigh),
    ("sgesdd", jnp.linalg.svd),
    ("sgetrf", lax.linalg.lu),
    ("sgeev", jnp.linalg.eig),
    ("sgees", lax.linalg.schur),
    ("sgehrd", lax.linalg.hessenberg),
    ("ssytrd", lax.linalg.tridiagonal),
]:
    case(target, f"lapack_{target}_ffi", function, POSITIVE, factors=1, tolerance=1e-4)
IMAGES, FEATURES = "tensor<5x6x4xf32>", "tensor<6xf32>"
for name, operands, extra, count, factors in [
    ("inference", 5, "", 1, 3),
    ("training", 3, "", 3, 1),
    ("grad", 5, IMAGES, 3, 1),
]:
    types = [IMAGES] + [FEATURES] * 4
    types = types[:4] + [extra] if extra else types[:operands]
    results = ", ".join([IMAGES, FEATURES, FEATURES][:count])
    values = ", ".join(f"%0#{i}" for i in range(count))
    case(
        f"batch_norm_{name}",
        f"stablehlo.batch_norm_{name}",
        f"""module {{ func.func @main({", ".join(f"%a{i}: {t}" for i, t in enumerate(types))})
            -> ({results}) {{
          %0:{count} = "stablehlo.batch_norm_{name}"(
              {", ".join(f"%a{i}" for i in range(operands))})
              <{{epsilon = 0.01 : f32, feature_index = 1 : i64}}>
              : ({", ".join(types)}) -> ({results})
          return {values} : {results} }} }}""",
        *[
            np.abs(normal(6)) + np.float32(0.5) if type == FEATURES else normal(5, 6, 4)
            for type in types
        ],
        factors=factors,
        tolerance=1e-5,
    )


def compiled(text: str):
    device = jax.devices("cpu")[0]
    return device.client.compile_and_load(
        forms.parse(text), jaxlib_core.DeviceList((device,)), jaxlib_core.CompileOptions()
    )


def run(text: str, arguments) -> list[np.ndarray]:
    with jax.enable_x64(True):
        results = compiled(text).execute_sharded([jax.device_put(a) for a in arguments])
        return [np.asarray(shards[0]) for shards in results.disassemble_into_single_device_arrays()]


def program_text(case: Case) -> str:
    if isinstance(case.function, str):
        return forms.generic_text(forms.parse(case.function))
    with jax.enable_x64(True):
        lowered = jax.jit(case.function, keep_unused=True).lower(*case.arguments)
    return forms.generic_text(lowered.compiler_ir())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_factor_gives_what_the_op_gives(case, tmp_path):
    text = program_text(case)
    path = tmp_path / "program.mlir"
    path.write_text(text)
    cut = subprocess.run([TOOL, path, case.op], capture_output=True, text=True, timeout=60)
    assert cut.stderr == ""
    programs = re.split("^// (chunks of .*)$", cut.stdout, flags=re.MULTILINE)[1:]
    assert len(programs) == 2 * 2 * case.factors
    expected = run(text, case.arguments)
    for what, program in zip(programs[::2], programs[1::2], strict=True):
        for one, other in zip(expected, run(program, case.arguments), strict=True):
            if case.tolerance:
                np.testing.assert_allclose(
                    other, one, rtol=case.tolerance, atol=case.tolerance, err_msg=what
                )
            else:
                assert other.tobytes() == one.tobytes(), what
