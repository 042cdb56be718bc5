"""Types by hand: every element type, quantized types, dynamic and bounded dimensions, and the ops
that go with them."""

from __future__ import annotations

from corpus.program import Theme
from corpus.text import module, one_op, reducer

theme = Theme("text_types")


def add(name, *parts, **options):
    theme.add_text(name, one_op(*parts, **options))


ELEMENTS = (
    "i1 i2 i4 i8 i16 i32 i64 ui2 ui4 ui8 ui16 ui32 ui64 bf16 f16 f32 f64 f4E2M1FN f6E2M3FN "
    "f6E3M2FN f8E3M4 f8E4M3 f8E4M3B11FNUZ f8E4M3FN f8E4M3FNUZ f8E5M2 f8E5M2FNUZ f8E8M0FNU "
    "complex<f32> complex<f64>"
).split()
for element in ELEMENTS:
    tensor = f"tensor<2x1x3x{element}>"
    add(f"element-{element}", "stablehlo.reshape", [tensor], [f"tensor<6x{element}>"])

SHAPES = {
    "scalar": "f32",
    "empty": "0xf32",
    "empty-inside": "3x0x5xf32",
    "one": "1xf32",
    "large": "1000000007x3xi8",
    "dynamic": "?xf32",
    "mixed": "?x3x?xf32",
    "bounded": "?x3xf32, #stablehlo.type_extensions<bounds = [5, ?]>",
    "two-bounds": "?x?x2xi32, #stablehlo.bounds<5, 7, ?>",
}
for name, shape in SHAPES.items():
    add(f"shape-{name}", "stablehlo.negate", [f"tensor<{shape}>"], [f"tensor<{shape}>"])

# Quantized types: per tensor, per axis, with and without bounds of the storage.
QUANTIZED = {
    "plain": "!quant.uniform<i8:f32, 0.5>",
    "zero-point": "!quant.uniform<i8:f32, 0.25:-7>",
    "unsigned": "!quant.uniform<u8:f32, 0.1:128>",
    "narrow": "!quant.uniform<i8<-127:127>:f32, 1.0e-3:3>",
    "i4": "!quant.uniform<i4:f32, 2.0:1>",
    "u4": "!quant.uniform<u4<1:14>:f32, 2.0:1>",
    "i16": "!quant.uniform<i16:f32, 3.4e-5>",
    "i32": "!quant.uniform<i32:f32, 0.1>",
    "f64": "!quant.uniform<i8:f64, 0.1:5>",
    "bf16": "!quant.uniform<i8:bf16, 0.5:5>",
    "axis": "!quant.uniform<i8:f32:1, {0.1:-30, 0.5, 0.25:7}>",
    "axis-0": "!quant.uniform<u8:f32:0, {0.1, 1.5:2}>",
    "axis-narrow": "!quant.uniform<i8<-3:5>:f32:1, {1.0, 2.0, 3.0:1}>",
}
for name, element in QUANTIZED.items():
    tensor = f"tensor<2x3x{element}>"
    wide = "f64" if name == "f64" else "bf16" if name == "bf16" else "f32"
    add(f"uniform_quantize-{name}", "stablehlo.uniform_quantize", [f"tensor<2x3x{wide}>"], [tensor])
    add(
        f"uniform_dequantize-{name}",
        "stablehlo.uniform_dequantize",
        [tensor],
        [f"tensor<2x3x{wide}>"],
    )
    if "axis" not in name:
        add(f"quantized-add-{name}", "stablehlo.add", [tensor, tensor], [tensor])
Q = "!quant.uniform<i8:f32, 0.5:3>"
add(
    "requantize",
    "stablehlo.uniform_quantize",
    [f"tensor<3x{Q}>"],
    ["tensor<3x!quant.uniform<i8:f32, 0.25:-1>>"],
)
theme.add_text(
    "quantized-constant",
    f"""
  func.func @main() -> tensor<2x{Q}> {{
    %r = "stablehlo.constant"() <{{value = dense<[1, -2]> : tensor<2xi8>}}> : () -> tensor<2x{Q}>
    return %r : tensor<2x{Q}>
  }}""",
)
add(
    "quantized-dot",
    "stablehlo.dot_general",
    [f"tensor<2x3x{Q}>", "tensor<3x4x!quant.uniform<i8<-127:127>:f32, 0.5>>"],
    ["tensor<2x4x!quant.uniform<i32:f32, 0.25:9>>"],
    "dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], "
    "rhs_contracting_dimensions = [0]>",
)
add("quantized-bitcast", "stablehlo.bitcast_convert", [f"tensor<3x{Q}>"], ["tensor<3xi8>"])
add(
    "quantized-bounded",
    "stablehlo.negate",
    [f"tensor<?x3x{Q}, #stablehlo.bounds<7, ?>>"],
    [f"tensor<?x3x{Q}, #stablehlo.bounds<7, ?>>"],
)

# Dynamic shapes.
D1, D2 = "tensor<?xf32>", "tensor<?x?xf32>"
add(
    "get_dimension_size",
    "stablehlo.get_dimension_size",
    [D2],
    ["tensor<i32>"],
    "dimension = 1 : i64",
)
add(
    "set_dimension_size",
    "stablehlo.set_dimension_size",
    ["tensor<2x3xf32>", "tensor<i32>"],
    ["tensor<?x3xf32, #stablehlo.bounds<2, ?>>"],
    "dimension = 0 : i64",
)
add(
    "set_dimension_size-again",
    "stablehlo.set_dimension_size",
    ["tensor<?x3xf32, #stablehlo.bounds<2, ?>>", "tensor<i32>"],
    ["tensor<?x?xf32, #stablehlo.bounds<2, 3>>"],
    "dimension = 1 : i64",
)
add("dynamic_reshape", "stablehlo.dynamic_reshape", [D1, "tensor<2xindex>"], [D2])
add("dynamic_reshape-i64", "stablehlo.dynamic_reshape", [D1, "tensor<1xi64>"], [D1])
add("dynamic_iota", "stablehlo.dynamic_iota", ["tensor<2xi64>"], [D2], "iota_dimension = 1 : i64")
BROADCAST = "broadcast_dimensions = array<i64: 1>"
add(
    "dynamic_broadcast_in_dim",
    "stablehlo.dynamic_broadcast_in_dim",
    [D1, "tensor<2xi64>"],
    [D2],
    BROADCAST,
)
add(
    "dynamic_broadcast_in_dim-known",
    "stablehlo.dynamic_broadcast_in_dim",
    ["tensor<?x?xf32>", "tensor<2xi32>"],
    [D2],
    "broadcast_dimensions = array<i64: 0, 1>, known_expanding_dimensions = array<i64: 0>, "
    "known_nonexpanding_dimensions = array<i64: 1>",
)
add("dynamic_pad", "stablehlo.dynamic_pad", [D1, "tensor<f32>"] + ["tensor<1xi64>"] * 3, [D1])
add("real_dynamic_slice", "stablehlo.real_dynamic_slice", [D2] + ["tensor<2xi32>"] * 3, [D2])
GATHER = (
    "dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], index_vector_dim = 2, "
    "offset_dims = [2], start_index_map = [0, 1]>"
)
for name, flag in (
    ("plain", ""),
    ("sorted", ", indices_are_sorted = true"),
    ("not-sorted", ", indices_are_sorted = false"),
):
    add(
        f"dynamic_gather-{name}",
        "stablehlo.dynamic_gather",
        ["tensor<2x4x9xi32>", "tensor<1x5x2xi32>", "tensor<3xi32>"],
        ["tensor<1x5x8xi32>"],
        GATHER + flag,
    )
CONV = (
    "batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->"
    "[b, 0, 1, f]>, feature_group_count = 1 : i64"
)
add(
    "dynamic_conv-plain",
    "stablehlo.dynamic_conv",
    ["tensor<1x8x8x4xf32>", "tensor<3x3x4x5xf32>", "tensor<2x2xi64>"],
    ["tensor<1x?x?x5xf32>"],
    CONV,
)
add(
    "dynamic_conv",
    "stablehlo.dynamic_conv",
    ["tensor<1x8x8x4xf32>", "tensor<3x3x4x5xf32>", "tensor<2x2xi32>"],
    ["tensor<1x?x?x5xf32>"],
    CONV + ", lhs_dilation = array<i64: 2, 1>, precision_config = [#stablehlo<precision HIGHEST>, "
    "#stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 2>, "
    "window_reversal = array<i1: true, false>, window_strides = array<i64: 2, 3>",
)

for name, x, w, groups in (
    ("batch", "2x8x8x4", "3x3x4x6", (2, 1)),
    ("feature", "1x8x8x4", "3x3x2x6", (1, 2)),
):
    add(
        f"dynamic_conv-{name}-groups",
        "stablehlo.dynamic_conv",
        [f"tensor<{x}xf32>", f"tensor<{w}xf32>", "tensor<2x2xi64>"],
        ["tensor<1x?x?x6xf32>"],
        CONV.replace("batch_group_count = 1", f"batch_group_count = {groups[0]}").replace(
            "feature_group_count = 1", f"feature_group_count = {groups[1]}"
        ),
    )

theme.add_text(
    "dynamic-chain",
    module(
        "%t: tensor<?x3xf32>, %n: tensor<i32>",
        f"""
    %d = "stablehlo.get_dimension_size"(%t) <{{dimension = 0 : i64}}>
      : (tensor<?x3xf32>) -> tensor<i32>
    %m = "stablehlo.multiply"(%d, %n) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %v = "stablehlo.reshape"(%m) : (tensor<i32>) -> tensor<1xi32>
    %i = "stablehlo.dynamic_iota"(%v) <{{iota_dimension = 0 : i64}}> : (tensor<1xi32>) -> {D1}
    %z = "stablehlo.constant"() <{{value = dense<0.0> : tensor<f32>}}> : () -> tensor<f32>
    %r = "stablehlo.reduce"(%i, %z) <{{dimensions = array<i64: 0>}}> ({reducer()})
      : ({D1}, tensor<f32>) -> tensor<f32>""",
        "tensor<f32>",
    ),
)

# Tuples, tokens and functions of many results.
theme.add_text(
    "tuple-arguments",
    """
  func.func @main(%t: tuple<tensor<2xf32>, tuple<tensor<i32>, !stablehlo.token>>) -> tuple<> {
    %r = "stablehlo.tuple"() : () -> tuple<>
    return %r : tuple<>
  }""",
)
theme.add_text(
    "call",
    """
  func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %r:2 = call @pair(%x) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
    call @nothing() : () -> ()
    return %r#0, %r#1 : tensor<2xf32>, tensor<2xf32>
  }
  func.func private @pair(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    return %x, %x : tensor<2xf32>, tensor<2xf32>
  }
  func.func private @nothing() {
    return
  }""",
)
add(
    "type-index",
    "stablehlo.dynamic_reshape",
    ["tensor<4xi8>", "tensor<2xindex>"],
    ["tensor<?x?xi8>"],
)
