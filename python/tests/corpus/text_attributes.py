"""Attributes of ops by hand: defaults written out and left out, and every other value."""

from __future__ import annotations

from corpus.program import Theme
from corpus.text import one_op, reducer

theme = Theme("text_attributes")


def add(name, *parts, min_jax=(0, 10), **options):
    theme.add_text(name, one_op(*parts, **options), min_jax=min_jax)


T, X, W = "tensor<2x3xf32>", "tensor<1x8x8x4xf32>", "tensor<3x3x4x5xf32>"

# Convolution with all, some and none of its optional attributes.
NUMBERS = "dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>"
GROUPS = "batch_group_count = 1 : i64, feature_group_count = 1 : i64"
add(
    "convolution-plain",
    "stablehlo.convolution",
    [X, W],
    ["tensor<1x6x6x5xf32>"],
    f"{NUMBERS}, {GROUPS}",
)
add(
    "convolution-defaults",
    "stablehlo.convolution",
    [X, W],
    ["tensor<1x6x6x5xf32>"],
    f"{GROUPS}, {NUMBERS}, lhs_dilation = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, "
    "precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], "
    "rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, "
    "window_strides = array<i64: 1, 1>",
)
add(
    "convolution-all",
    "stablehlo.convolution",
    [X, W],
    ["tensor<1x8x8x5xf32>"],
    f"{GROUPS}, {NUMBERS}, lhs_dilation = array<i64: 2, 1>, "
    "padding = dense<[[1, 2], [3, 1]]> : tensor<2x2xi64>, "
    "precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision HIGHEST>], "
    "rhs_dilation = array<i64: 1, 2>, window_reversal = array<i1: true, false>, "
    "window_strides = array<i64: 2, 1>",
)
LAYOUTS = {
    "bf01": ("[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]", "1x4x8x8", "5x4x3x3", "1x5x6x6"),
    "fb01": ("[f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1]", "4x1x8x8", "4x5x3x3", "5x1x6x6"),
    "0bf1": ("[0, b, f, 1]x[0, i, o, 1]->[1, b, f, 0]", "8x1x4x8", "3x4x5x3", "6x1x5x6"),
    "none": ("[b, f]x[i, o]->[b, f]", "2x4", "4x5", "2x5"),
    "3d": (
        "[b, 0, 1, 2, f]x[2, 1, 0, i, o]->[b, f, 2, 0, 1]",
        "1x4x4x4x2",
        "3x3x3x2x3",
        "1x3x2x2x2",
    ),
}
for name, (numbers, x, w, y) in LAYOUTS.items():
    add(
        f"convolution-{name}",
        "stablehlo.convolution",
        [f"tensor<{x}xf32>", f"tensor<{w}xf32>"],
        [f"tensor<{y}xf32>"],
        f"{GROUPS}, dimension_numbers = #stablehlo.conv<{numbers}>",
    )
add(
    "convolution-groups",
    "stablehlo.convolution",
    [X, "tensor<3x3x2x6xf32>"],
    ["tensor<1x6x6x6xf32>"],
    f"batch_group_count = 1 : i64, feature_group_count = 2 : i64, {NUMBERS}",
)
add(
    "convolution-batch-groups",
    "stablehlo.convolution",
    ["tensor<4x8x8x4xf32>", "tensor<3x3x4x6xf32>"],
    ["tensor<2x6x6x6xf32>"],
    f"batch_group_count = 2 : i64, feature_group_count = 1 : i64, {NUMBERS}",
)

# Windows.
WINDOW = "window_dimensions = array<i64: 2, 1>"
add(
    "reduce_window-plain",
    "stablehlo.reduce_window",
    ["tensor<4x3xf32>", "tensor<f32>"],
    ["tensor<3x3xf32>"],
    WINDOW,
    reducer(),
)
add(
    "reduce_window-all",
    "stablehlo.reduce_window",
    ["tensor<4x3xf32>", "tensor<f32>"],
    ["tensor<4x4xf32>"],
    f"base_dilations = array<i64: 2, 1>, padding = dense<[[1, 1], [0, 1]]> : "
    f"tensor<2x2xi64>, window_dilations = array<i64: 1, 2>, {WINDOW}, "
    "window_strides = array<i64: 2, 1>",
    reducer("maximum"),
)
add(
    "reduce_window-defaults",
    "stablehlo.reduce_window",
    ["tensor<4x3xf32>", "tensor<f32>"],
    ["tensor<3x3xf32>"],
    f"base_dilations = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, "
    f"window_dilations = array<i64: 1, 1>, {WINDOW}, window_strides = array<i64: 1, 1>",
    reducer(),
)

# Gather and scatter.
BATCHED = (
    "dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], "
    "operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], "
    "index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>"
)
for name, flag in (
    ("plain", ""),
    ("sorted", ", indices_are_sorted = true"),
    ("not-sorted", ", indices_are_sorted = false"),
):
    add(
        f"gather-{name}",
        "stablehlo.gather",
        ["tensor<2x7x3xf32>", "tensor<2x5x1xi32>"],
        ["tensor<2x5x3xf32>"],
        BATCHED + flag,
    )
add(
    "gather-no-index-dim",
    "stablehlo.gather",
    ["tensor<7x3xf32>", "tensor<5xi64>"],
    ["tensor<5x3xf32>"],
    "dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], "
    "start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>",
)
SCATTER = (
    "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], "
    "inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], "
    "scatter_dims_to_operand_dims = [1], index_vector_dim = 2>"
)
OPERANDS = ["tensor<2x7x3xf32>", "tensor<2x5x1xi32>", "tensor<2x5x3xf32>"]
for name, flag in (
    ("plain", ""),
    ("true", ", indices_are_sorted = true, unique_indices = true"),
    ("false", ", indices_are_sorted = false, unique_indices = false"),
):
    add(f"scatter-{name}", "stablehlo.scatter", OPERANDS, OPERANDS[:1], SCATTER + flag, reducer())
add(
    "sort-plain",
    "stablehlo.sort",
    [T],
    [T],
    "",
    """{
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }""",
)
add(
    "sort-negative",
    "stablehlo.sort",
    [T],
    [T],
    "dimension = -1 : i64, is_stable = false",
    """{
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }""",
)

# Products.
DOT = (
    "dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], "
    "rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], "
    "rhs_contracting_dimensions = [0]>"
)
DOT_TYPES = (["tensor<2x3x5xf32>", "tensor<5x2x4xf32>"], ["tensor<2x3x4xf32>"])
add("dot_general-plain", "stablehlo.dot_general", *DOT_TYPES, DOT)
add(
    "dot_general-empty-precision",
    "stablehlo.dot_general",
    *DOT_TYPES,
    DOT + ", precision_config = []",
)
add(
    "dot_general-outer",
    "stablehlo.dot_general",
    ["tensor<2xf32>", "tensor<3xf32>"],
    [T],
    "dot_dimension_numbers = #stablehlo.dot<>",
)
ALGORITHM = (
    ", algorithm = #stablehlo.dot_algorithm<lhs_precision_type = {}, rhs_precision_type = {}, "
    "accumulation_type = {}, lhs_component_count = {}, rhs_component_count = {}, "
    "num_primitive_operations = {}, allow_imprecise_accumulation = {}>"
)
for values in (
    ("tf32", "tf32", "f32", 1, 1, 3, "false"),
    ("bf16", "bf16", "f32", 1, 1, 6, "false"),
    ("f8E5M2", "f8E5M2", "f32", 1, 1, 1, "true"),
    ("f64", "f64", "f64", 1, 1, 1, "false"),
):
    add(
        f"dot_general-{values[0]}-{values[5]}",
        "stablehlo.dot_general",
        *DOT_TYPES,
        DOT + ALGORITHM.format(*values),
    )

# Accuracy.
ACCURACIES = {
    "default": "mode = #stablehlo.result_accuracy_mode<DEFAULT>",
    "highest": "mode = #stablehlo.result_accuracy_mode<HIGHEST>",
    "tolerance": "atol = 1.000000e-05, rtol = 2.500000e-01, ulps = 3, "
    "mode = #stablehlo.result_accuracy_mode<TOLERANCE>",
    "ulps": "ulps = 10, mode = #stablehlo.result_accuracy_mode<TOLERANCE>",
}
ACCURATE = (
    "cbrt cosine exponential exponential_minus_one log log_plus_one logistic rsqrt sine sqrt tan "
    "tanh"
).split()
for name, accuracy in ACCURACIES.items():
    for op in ACCURATE if name in ("default", "tolerance") else ACCURATE[:3]:
        add(
            f"{op}-{name}",
            f"stablehlo.{op}",
            [T],
            [T],
            f"result_accuracy = #stablehlo.result_accuracy<{accuracy}>",
        )

# Custom calls.
CALLED = f"func.func private @called(%x: {T}) -> {T} {{ return %x : {T} }}"
CUSTOM = {
    "plain": "",
    "defaults": 'api_version = 1 : i32, backend_config = "", called_computations = [], '
    "has_side_effect = false, output_operand_aliases = []",
    "side-effect": "has_side_effect = true",
    "unspecified": "api_version = 0 : i32",
    "string-config": "api_version = 2 : i32, "
    'backend_config = "a \\"b\\" \\\\ \\0A \\00 \\FF \\C3\\A9"',
    "unicode-config": 'backend_config = "größe → 層 🚀", api_version = 3 : i32',
    "dictionary": 'api_version = 4 : i32, backend_config = {a = 1 : i32, b = "x", c = 0.5 : f32, '
    'd = array<i64: 1, 2>, e = true, f = unit, g = [1 : i8, "y"], h = {i = -1 : i64}}',
    "empty-dictionary": "api_version = 4 : i32, backend_config = {}",
    "called": "called_computations = [@called]",
    "called-twice": "called_computations = [@called, @called]",
    "layouts": "operand_layouts = [dense<[0, 1]> : tensor<2xindex>], "
    "result_layouts = [dense<[1, 0]> : tensor<2xindex>]",
    "aliases": "output_operand_aliases = ["
    "#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, "
    "operand_tuple_indices = []>]",
}
for name, attributes in CUSTOM.items():
    separator = ", " if attributes else ""
    add(
        f"custom_call-{name}",
        "stablehlo.custom_call",
        [T],
        [T],
        f'call_target_name = "f{name}"{separator}{attributes}',
        before=CALLED if "called" in name else "",
    )
add(
    "custom_call-tilings",
    "stablehlo.custom_call",
    [T],
    [T],
    'call_target_name = "f", operand_layouts = [dense<[1, 0]> : tensor<2xindex>], '
    "result_layouts = [dense<[1, 0]> : tensor<2xindex>], "
    "result_tilings = [[dense<[8, 128]> : tensor<2xindex>, dense<[2, 1]> : tensor<2xindex>]]",
    min_jax=(0, 12),
)
PAIR = "tuple<tensor<2x3xf32>, tensor<i32>>"
add(
    "custom_call-tuple-aliases",
    "stablehlo.custom_call",
    [PAIR, "!stablehlo.token"],
    [PAIR],
    'call_target_name = "f", output_operand_aliases = [#stablehlo.output_operand_alias<'
    "output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = [0]>, "
    "#stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 0, "
    "operand_tuple_indices = [1]>]",
)
add(
    "custom_call-nothing",
    "stablehlo.custom_call",
    [],
    [],
    'call_target_name = "", has_side_effect = true',
)
add(
    "custom_call-future-api",
    "stablehlo.custom_call",
    [T],
    [T],
    'call_target_name = "shape_assertion", has_side_effect = true, backend_config = ""',
    extra='error_message = "n must be >= {0}", mhlo.sharding = "{replicated}"',
)

# Replica groups by mesh and axes.
REPLICA_AXES = (
    "replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = ["
    '#stablehlo.axis_ref<name = "x">, #stablehlo.axis_ref<name = "y", sub_axis_info = (1)2>]>'
)
INLINE_AXES = (
    "replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = ["
    '#stablehlo.mesh_axis<name = "x", size = 2>, #stablehlo.mesh_axis<name = "y", size = 2>], '
    'device_ids = dense<[3, 2, 1, 0]> : tensor<4xi64>>, axes = [#stablehlo.axis_ref<name = "x">]>'
)
SDY_MESH = 'sdy.mesh @mesh = <["x"=2, "y"=4]>'
add(
    "all_reduce-mesh-axes",
    "stablehlo.all_reduce",
    [T],
    [T],
    REPLICA_AXES,
    reducer(),
    before=SDY_MESH,
)
add("all_reduce-inline-mesh", "stablehlo.all_reduce", [T], [T], INLINE_AXES, reducer())
add(
    "all_gather-mesh-axes",
    "stablehlo.all_gather",
    [T],
    ["tensor<2x12xf32>"],
    "all_gather_dim = 1 : i64, " + REPLICA_AXES,
    before=SDY_MESH,
)
