"""The dialects that travel beside StableHLO: every op of chlo, and of sdy."""

from __future__ import annotations

from corpus.program import JAX_VERSION, Theme
from corpus.text import module, one_op

theme = Theme("text_dialects")

# Before that, the writer of artifacts checks some ops again after it has changed their types, and
# refuses what it has made.
IS_LENIENT = JAX_VERSION >= (0, 12)


def add(name, *parts, min_jax=(0, 10), portable=True, **options):
    theme.add_text(name, one_op(*parts, **options), min_jax=min_jax, portable=portable)


X, P = "tensor<3xf32>", "tensor<3xi1>"

for op in (
    "_asin_acos_kernel acos acosh asin asinh atan atanh bessel_i1e conj cosh digamma erf erf_inv "
    "erfc lgamma sinh square tan"
).split():
    kind = "tensor<3xcomplex<f32>>" if op in ("_asin_acos_kernel", "conj") else X
    add(f"chlo-{op}", f"chlo.{op}", [kind], [kind])
for op in "is_inf is_neg_inf is_pos_inf".split():
    add(f"chlo-{op}", f"chlo.{op}", [X], [P])
for op in "next_after polygamma zeta".split():
    add(f"chlo-{op}", f"chlo.{op}", [X, X], [X])
add("chlo-mulhi", "chlo.mulhi", ["tensor<3xi32>"] * 2, ["tensor<3xi32>"])

BROADCAST = "broadcast_dimensions = array<i64: 1>"
WIDE, NARROW = "tensor<2x3x{}>", "tensor<3x{}>"
for element, ops in {
    "f32": "add atan2 divide maximum minimum multiply next_after polygamma power remainder "
    "subtract zeta",
    "i32": "and or shift_left shift_right_arithmetic shift_right_logical xor",
}.items():
    wide, narrow = WIDE.format(element), NARROW.format(element)
    for op in ops.split():
        add(f"chlo-broadcast_{op}", f"chlo.broadcast_{op}", [wide, narrow], [wide], BROADCAST)
        add(f"chlo-broadcast_{op}-plain", f"chlo.broadcast_{op}", [wide, wide], [wide])
add("chlo-broadcast_complex", "chlo.broadcast_complex", [X, X], ["tensor<3xcomplex<f32>>"])
COMPARE = "comparison_direction = #chlo<comparison_direction LT>"
add(
    "chlo-broadcast_compare",
    "chlo.broadcast_compare",
    ["tensor<2x3xf32>", X],
    ["tensor<2x3xi1>"],
    f"{BROADCAST}, {COMPARE}, compare_type = #chlo<comparison_type TOTALORDER>",
)
add("chlo-broadcast_compare-plain", "chlo.broadcast_compare", [X, X], [P], COMPARE)
add("chlo-broadcast_select", "chlo.broadcast_select", [P, X, X], [X])
add("chlo-constant", "chlo.constant", [], [X], "value = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>")
add("chlo-constant_like", "chlo.constant_like", [X], [X], "value = 3.200000e+00 : f32")
add(
    "chlo-constant_like-dynamic",
    "chlo.constant_like",
    ["tensor<?xi32>"],
    ["tensor<?xi32>"],
    "value = 7 : i32",
)
LARGEST = ["tensor<2x7xf32>"], ["tensor<2x3xf32>", "tensor<2x3xi32>"]
add("chlo-top_k", "chlo.top_k", *LARGEST, "k = 3 : i64")
for stable in ("true", "false"):
    add(
        f"chlo-top_k-stable-{stable}",
        "chlo.top_k",
        *LARGEST,
        f"is_stable = {stable}, k = 3 : i64",
        min_jax=(0, 12),
    )
RAGGED = (
    "ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], "
    "rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>"
)
RAGGED_TYPES = ["tensor<7x3xf32>", "tensor<4x3x5xf32>", "tensor<4xi32>"], ["tensor<7x5xf32>"]
add("chlo-ragged_dot", "chlo.ragged_dot", *RAGGED_TYPES, RAGGED)
add(
    "chlo-ragged_dot-precision",
    "chlo.ragged_dot",
    *RAGGED_TYPES,
    RAGGED + ", precision_config = [#chlo<precision HIGHEST>, #chlo<precision DEFAULT>]",
)
SUM = """{
  ^bb0(%x: tensor<3xf32>, %c: tensor<3xf32>):
    %s = stablehlo.add %x, %c : tensor<3xf32>
    stablehlo.return %s, %s : tensor<3xf32>, tensor<3xf32>
}"""
SEGMENTS = "operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>"
SCAN_TYPES = ["tensor<8x3xf32>", X], ["tensor<8x3xf32>", X]
for name, flags in {
    "plain": "",
    "true": ", is_associative = true, is_reverse = true",
    "false": ", is_associative = false, is_reverse = false",
}.items():
    attributes = f"dimension = 0 : i64, {SEGMENTS}{flags}"
    add(f"chlo-scan-{name}", "chlo.scan", *SCAN_TYPES, attributes, SUM, portable=IS_LENIENT)
add(
    "chlo-scan-size",
    "chlo.scan",
    [X],
    ["tensor<8x3xf32>", X],
    "dimension = 0 : i64, operandSegmentSizes = array<i32: 0, 1>, "
    "resultSegmentSizes = array<i32: 1, 1>, scan_dim_size = 8 : i64",
    SUM.replace("%x: tensor<3xf32>, ", "").replace("%x, %c", "%c, %c"),
    portable=IS_LENIENT,
)

theme.add_text(
    "sdy",
    """
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  sdy.mesh @reversed = <["x"=2, "y"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
  sdy.mesh @empty = <[]>
  sdy.mesh @one = <[], device_ids=[3]>
  func.func @main(%x: tensor<8x4xf32>
        {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"y":(1)2}p1]>})
      -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {?}], replicated={"y"}>}) {
    %0 = sdy.sharding_constraint %x <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
    %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}, {}]>]
        out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%y: tensor<4x4xf32>) {
      %s = stablehlo.sine %y : tensor<4x4xf32>
      sdy.return %s : tensor<4x4xf32>
    } : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %2 = sdy.reshard %1 <@mesh, [{}, {"y"}]> : tensor<8x4xf32>
    sdy.sharding_group %2 group_id=3 : tensor<8x4xf32>
    %3 = sdy.propagation_barrier %2 allowed_direction=FORWARD : tensor<8x4xf32>
    %4 = stablehlo.sine %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
      : tensor<8x4xf32>
    return %4 : tensor<8x4xf32>
  }""",
)

MESH = 'sdy.mesh @mesh = <["x"=2, "y"=4]>'
T = "tensor<8x8xf32>"
ROWS, COLUMNS = '<@mesh, [{"x"}, {}]>', '<@mesh, [{}, {"x"}]>'
NONE, BOTH = "<@mesh, [{}, {}]>", '<@mesh, [{"x"}, {"y"}]>'
SUB_AXIS = '<@mesh, [{"y":(1)2}, {}]>'
COLLECTIVES = {
    "all_gather": f'[{{"x"}}, {{}}] %a out_sharding={NONE}',
    "all_to_all": f'[{{"x"}}: 0->1] %a out_sharding={COLUMNS}',
    "collective_permute": f"%a out_sharding={SUB_AXIS}",
    "all_reduce": f'{{"y"}} %a out_sharding={ROWS}',
    "reduce_scatter": f'[{{}}, {{"y"}}] %a out_sharding={BOTH}',
    "sharded_to_unreduced": f'[{{"x"}}, {{}}] %a out_sharding={NONE[:-1]}, unreduced={{"x"}}>',
    "replicated_to_unreduced": f'{{"y"}} %a out_sharding={ROWS[:-1]}, unreduced={{"y"}}>',
    "func_data_flow_edge": "%a",
}
OTHERS = {
    "all_slice": f'[{{"x"}}, {{}}] %b out_sharding={ROWS} : {T}',
    "constant": f"dense<1.0> : {T}",
    "data_flow_edge": f"%a sharding={ROWS} : {T}",
    "named_computation": f"""<"inner é">(%a)
        in_shardings=[{ROWS}] out_shardings=[{ROWS}] (%y: {T}) {{
      %s = stablehlo.sine %y : {T}
      sdy.return %s : {T}
    }} : ({T}) -> {T}""",
}


def add_sdy(name, text, **options):
    arguments = f"%a: {T} {{sdy.sharding = #sdy.sharding{ROWS}}}, %b: {T}"
    theme.add_text(f"sdy-{name}", module(arguments, f"%r = sdy.{text}", T, MESH), **options)


for name, text in COLLECTIVES.items():
    add_sdy(name, f"{name} {text} : {T}", portable=IS_LENIENT)
for name, text in OTHERS.items():
    add_sdy(name, f"{name} {text}")
add_sdy("all_reduce-max", f'all_reduce max {{"y"}} %a out_sharding={ROWS} : {T}', min_jax=(0, 12))
