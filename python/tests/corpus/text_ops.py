"""StableHLO ops that JAX seldom or never makes, one small module for each."""

from __future__ import annotations

from corpus.program import Theme
from corpus.text import module, one_op, reducer

theme = Theme("text_ops")


def add(name, *parts, min_jax=(0, 10), **options):
    theme.add_text(name, one_op(*parts, **options), min_jax=min_jax)


T, V, S, TOKEN = "tensor<2x3xf32>", "tensor<3xf32>", "tensor<f32>", "!stablehlo.token"

# One operand, one result.
for op in (
    "abs cbrt ceil cosine exponential exponential_minus_one floor log log_plus_one logistic negate "
    "round_nearest_afz round_nearest_even rsqrt sign sine sqrt tan tanh"
).split():
    add(op, f"stablehlo.{op}", [T], [T])
for op in "count_leading_zeros not popcnt".split():
    add(op, f"stablehlo.{op}", ["tensor<2x3xi32>"], ["tensor<2x3xi32>"])
add("is_finite", "stablehlo.is_finite", [T], ["tensor<2x3xi1>"])
add("real", "stablehlo.real", ["tensor<3xcomplex<f32>>"], [V])
add("imag", "stablehlo.imag", ["tensor<3xcomplex<f64>>"], ["tensor<3xf64>"])
add("complex", "stablehlo.complex", [V, V], ["tensor<3xcomplex<f32>>"])
for op in "add atan2 divide maximum minimum multiply power remainder subtract".split():
    add(op, f"stablehlo.{op}", [T, T], [T])
for op in "and or xor shift_left shift_right_arithmetic shift_right_logical".split():
    add(op, f"stablehlo.{op}", ["tensor<3xi8>"] * 2, ["tensor<3xi8>"])

# Tuples.
PAIR = f"tuple<{T}, {V}>"
add("tuple", "stablehlo.tuple", [T, V], [PAIR])
add("tuple-empty", "stablehlo.tuple", [], ["tuple<>"])
add("tuple-nested", "stablehlo.tuple", [PAIR, TOKEN], [f"tuple<{PAIR}, {TOKEN}>"])
add("get_tuple_element", "stablehlo.get_tuple_element", [PAIR], [V], "index = 1 : i32")
add(
    "get_tuple_element-nested",
    "stablehlo.get_tuple_element",
    [f"tuple<tuple<{PAIR}>, {S}>"],
    [f"tuple<{PAIR}>"],
    "index = 0 : i32",
)

# Host and channels.
add("create_token", "stablehlo.create_token", [], [TOKEN])
add("after_all", "stablehlo.after_all", [TOKEN, TOKEN], [TOKEN])
add("after_all-none", "stablehlo.after_all", [], [TOKEN])
add(
    "infeed",
    "stablehlo.infeed",
    [TOKEN],
    [T, "tensor<i1>", TOKEN],
    'infeed_config = "a \\"config\\"", layout = [[0, 1], []]',
)
add("infeed-plain", "stablehlo.infeed", [TOKEN], [T, TOKEN])
add("infeed-nothing", "stablehlo.infeed", [TOKEN], [TOKEN], "layout = []")
add("outfeed", "stablehlo.outfeed", [T, V, TOKEN], [TOKEN], 'outfeed_config = "out"')
add("outfeed-plain", "stablehlo.outfeed", [TOKEN], [TOKEN])
CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = {}, type = {}>"
PAIRS = "source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>"
add(
    "send",
    "stablehlo.send",
    [T, TOKEN],
    [TOKEN],
    CHANNEL.format(5, 2) + ", is_host_transfer = true",
    extra='mhlo.frontend_attributes = {_xla_host_transfer_rendezvous = "r"}',
)
add("send-plain", "stablehlo.send", [T, TOKEN], [TOKEN], CHANNEL.format(5, 1))
add(
    "send-false",
    "stablehlo.send",
    [TOKEN],
    [TOKEN],
    CHANNEL.format(0, 1) + ", is_host_transfer = false",
)
add("send-pairs", "stablehlo.send", [T, TOKEN], [TOKEN], f"{CHANNEL.format(5, 1)}, {PAIRS}")
add(
    "recv",
    "stablehlo.recv",
    [TOKEN],
    [T, V, TOKEN],
    CHANNEL.format(-1, 3) + ", is_host_transfer = true",
)
add("recv-plain", "stablehlo.recv", [TOKEN], [TOKEN], CHANNEL.format(9, 1))
add("recv-pairs", "stablehlo.recv", [TOKEN], [T, TOKEN], f"{CHANNEL.format(5, 1)}, {PAIRS}")
add("replica_id", "stablehlo.replica_id", [], ["tensor<ui32>"])
add("partition_id", "stablehlo.partition_id", [], ["tensor<ui32>"])

# Collectives.
GROUPS = "replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>"
UNEVEN = "replica_groups = dense<[[0, 1, 2], [3, 4, -1]]> : tensor<2x3xi64>"
EMPTY_GROUPS = "replica_groups = dense<> : tensor<0x0xi64>"
HANDLE = CHANNEL.format(7, 1)
add("cross-replica-sum", "stablehlo.cross-replica-sum", [T], [T], GROUPS)
add("cross-replica-sum-empty", "stablehlo.cross-replica-sum", [T], [T], EMPTY_GROUPS)
add(
    "all_gather",
    "stablehlo.all_gather",
    [T],
    ["tensor<2x6xf32>"],
    f"all_gather_dim = 1 : i64, {HANDLE}, {GROUPS}, use_global_device_ids",
)
add(
    "all_gather-plain",
    "stablehlo.all_gather",
    [T, T],
    ["tensor<2x6xf32>"] * 2,
    f"all_gather_dim = 1 : i64, {GROUPS}",
)
add(
    "all_reduce",
    "stablehlo.all_reduce",
    [T, T],
    [T, T],
    f"{HANDLE}, {UNEVEN}, use_global_device_ids",
    reducer(),
)
add("all_reduce-plain", "stablehlo.all_reduce", [T], [T], EMPTY_GROUPS, reducer("maximum"))
add(
    "all_to_all",
    "stablehlo.all_to_all",
    ["tensor<4x2xf32>"] * 2,
    ["tensor<2x4xf32>"] * 2,
    "concat_dimension = 1 : i64, split_count = 2 : i64, split_dimension = 0 : i64, "
    f"{GROUPS}, {HANDLE}",
)
add(
    "all_to_all-plain",
    "stablehlo.all_to_all",
    ["tensor<4x2xf32>"],
    ["tensor<2x4xf32>"],
    f"concat_dimension = 1 : i64, split_count = 2 : i64, split_dimension = 0 : i64, {GROUPS}",
)
add(
    "reduce_scatter",
    "stablehlo.reduce_scatter",
    ["tensor<4x2xf32>"],
    ["tensor<2x2xf32>"],
    f"scatter_dimension = 0 : i64, {GROUPS}, {HANDLE}, use_global_device_ids",
    reducer(),
)
add(
    "reduce_scatter-plain",
    "stablehlo.reduce_scatter",
    ["tensor<4x2xf32>"],
    ["tensor<4x1xf32>"],
    f"scatter_dimension = 1 : i64, {GROUPS}",
    reducer("multiply"),
)
add("collective_permute", "stablehlo.collective_permute", [T], [T], f"{PAIRS}, {HANDLE}")
add(
    "collective_permute-plain",
    "stablehlo.collective_permute",
    [T],
    [T],
    "source_target_pairs = dense<> : tensor<0x2xi64>",
)
add("collective_broadcast", "stablehlo.collective_broadcast", [T], [T], f"{GROUPS}, {HANDLE}")
add("collective_broadcast-plain", "stablehlo.collective_broadcast", [T], [T], GROUPS)
add(
    "collective_reduce", "stablehlo.collective_reduce", [T], [T], GROUPS, reducer(), min_jax=(0, 12)
)
ROOT = "tensor<1xi32>"
add(
    "collective_broadcast-root",
    "stablehlo.collective_broadcast",
    [T, ROOT],
    [T],
    f"{GROUPS}, has_dynamic_root",
    min_jax=(0, 12),
)
add(
    "collective_reduce-root",
    "stablehlo.collective_reduce",
    [T, ROOT],
    [T],
    f"{UNEVEN}, {HANDLE}, has_dynamic_root, use_global_device_ids",
    reducer(),
    min_jax=(0, 12),
)
add(
    "collective_reduce-channel",
    "stablehlo.collective_reduce",
    [T, T],
    [T, T],
    f"{GROUPS}, {HANDLE}",
    reducer("maximum"),
    min_jax=(0, 12),
)

FUTURE = "!stablehlo.future<tensor<2x3xf32>>"
theme.add_text(
    "async",
    module(
        f"%a: {T}",
        f"""
    %f = "stablehlo.async_start"(%a) ({{
    ^bb0(%b: {T}):
      %g = "stablehlo.all_reduce"(%b) <{{{GROUPS}}}> ({reducer()}) : ({T}) -> {T}
      "stablehlo.return"(%g) : ({T}) -> ()
    }}) : ({T}) -> {FUTURE}
    %r = "stablehlo.async_done"(%f) : ({FUTURE}) -> {T}""",
        T,
    ),
)
theme.add_text(
    "async-slice",
    module(
        f"%x: {T}",
        f"""
    %f = "stablehlo.async_start"(%x) ({{
    ^bb0(%y: {T}):
      %g = "stablehlo.collective_permute"(%y) <{{{PAIRS}}}> : ({T}) -> {T}
      "stablehlo.return"(%g) : ({T}) -> ()
    }}) {{mhlo.frontend_attributes = {{k = "v"}}}} : ({T}) -> {FUTURE}
    %r = "stablehlo.async_done"(%f) : ({FUTURE}) -> {T}""",
        T,
    ),
)

# Normalisation.
X4, C = "tensor<2x5x3xf32>", "tensor<3xf32>"
for op, operands, results in (
    ("batch_norm_training", [X4, C, C], [X4, C, C]),
    ("batch_norm_inference", [X4, C, C, C, C], [X4]),
    ("batch_norm_grad", [X4, C, C, C, X4], [X4, C, C]),
):
    add(
        op,
        f"stablehlo.{op}",
        operands,
        results,
        "epsilon = 1.000000e-05 : f32, feature_index = 2 : i64",
    )
    add(
        f"{op}-zero",
        f"stablehlo.{op}",
        [k.replace("2x5x3", "3x5x2") for k in operands],
        [k.replace("2x5x3", "3x5x2") for k in results],
        "epsilon = 0.000000e+00 : f32, feature_index = 0 : i64",
    )

# Old ops that have newer forms.
add(
    "broadcast",
    "stablehlo.broadcast",
    [V],
    ["tensor<4x1x3xf32>"],
    "broadcast_sizes = array<i64: 4, 1>",
)
add("broadcast-none", "stablehlo.broadcast", [V], [V], "broadcast_sizes = array<i64>")
add("dot", "stablehlo.dot", ["tensor<2x3xf32>", "tensor<3x4xf32>"], ["tensor<2x4xf32>"])
add(
    "dot-precision",
    "stablehlo.dot",
    [V, V],
    [S],
    "precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision HIGHEST>]",
)
add(
    "einsum",
    "stablehlo.einsum",
    [T, "tensor<3x4xf32>"],
    ["tensor<2x4xf32>"],
    'einsum_config = "ab,bc->ac"',
)
add(
    "einsum-batch",
    "stablehlo.einsum",
    ["tensor<2x3x4xi8>", "tensor<2x4xi8>"],
    ["tensor<2x3xi8>"],
    'einsum_config = "bij,bj->bi"',
)
add(
    "unary_einsum-transpose",
    "stablehlo.unary_einsum",
    [T],
    ["tensor<3x2xf32>"],
    'einsum_config = "ab->ba"',
)
add("unary_einsum", "stablehlo.unary_einsum", [T], ["tensor<2xf32>"], 'einsum_config = "ab->a"')
add(
    "torch_index_select",
    "stablehlo.torch_index_select",
    ["tensor<5x1x5xi32>", "tensor<2xi32>"],
    ["tensor<2x1x5xi32>"],
    "dim = 0 : i64, batch_dims = 0 : i64",
)
add(
    "torch_index_select-batch",
    "stablehlo.torch_index_select",
    ["tensor<2x5x3xi32>", "tensor<2x4xi64>"],
    ["tensor<2x4x3xi32>"],
    "dim = 1 : i64, batch_dims = 1 : i64",
)
for distribution in ("UNIFORM", "NORMAL"):
    add(
        f"rng-{distribution.lower()}",
        "stablehlo.rng",
        [S, S, "tensor<2xi64>"],
        [T],
        f"rng_distribution = #stablehlo<rng_distribution {distribution}>",
    )
for algorithm in ("DEFAULT", "THREE_FRY", "PHILOX"):
    add(
        f"rng_bit_generator-{algorithm.lower()}",
        "stablehlo.rng_bit_generator",
        ["tensor<3xui64>"],
        ["tensor<3xui64>", "tensor<2x5xui32>"],
        f"rng_algorithm = #stablehlo<rng_algorithm {algorithm}>",
    )
add("map", "stablehlo.map", [T, T], [T], "dimensions = array<i64: 0, 1>", reducer("multiply"))
add("map-one", "stablehlo.map", [V, V], [V], "dimensions = array<i64: 0>", reducer("add"))
add("optimization_barrier", "stablehlo.optimization_barrier", [T, V, TOKEN], [T, V, TOKEN])
add("optimization_barrier-none", "stablehlo.optimization_barrier", [], [])
add("reverse-none", "stablehlo.reverse", [T], [T], "dimensions = array<i64>")
add("clamp", "stablehlo.clamp", [S, T, T], [T])
add("select", "stablehlo.select", ["tensor<i1>", T, T], [T])
for direction in "EQ NE GE GT LE LT".split():
    add(
        f"compare-{direction.lower()}",
        "stablehlo.compare",
        [T, T],
        ["tensor<2x3xi1>"],
        f"comparison_direction = #stablehlo<comparison_direction {direction}>",
    )
KINDS = {
    "NOTYPE": "i32",
    "FLOAT": "f32",
    "TOTALORDER": "f32",
    "SIGNED": "i32",
    "UNSIGNED": "ui8",
    "WEAKORDER": "f32",
}
for kind, element in KINDS.items():
    add(
        f"compare-{kind.lower()}",
        "stablehlo.compare",
        [f"tensor<3x{element}>"] * 2,
        ["tensor<3xi1>"],
        f"comparison_direction = #stablehlo<comparison_direction LE>, "
        f"compare_type = #stablehlo<comparison_type {kind}>",
        min_jax=(0, 12) if kind == "WEAKORDER" else (0, 10),
    )

# Linear algebra.
for lower in ("true", "false"):
    add(
        f"cholesky-{lower}",
        "stablehlo.cholesky",
        ["tensor<2x3x3xf32>"],
        ["tensor<2x3x3xf32>"],
        f"lower = {lower}",
    )
add(
    "cholesky-plain",
    "stablehlo.cholesky",
    ["tensor<3x3xcomplex<f32>>"],
    ["tensor<3x3xcomplex<f32>>"],
)
for transpose in "NO_TRANSPOSE TRANSPOSE ADJOINT".split():
    flags = ["true", "false"] if transpose == "ADJOINT" else ["false", "true"]
    add(
        f"triangular_solve-{transpose.lower()}",
        "stablehlo.triangular_solve",
        ["tensor<3x3xf32>", "tensor<3x3xf32>"],
        ["tensor<3x3xf32>"],
        f"left_side = {flags[0]}, lower = {flags[1]}, unit_diagonal = {flags[0]}, "
        f"transpose_a = #stablehlo<transpose {transpose}>",
    )
for kind, x, y in (
    ("FFT", "4xcomplex<f32>", "4xcomplex<f32>"),
    ("RFFT", "4xf32", "3xcomplex<f32>"),
    ("IFFT", "4xcomplex<f64>", "4xcomplex<f64>"),
    ("IRFFT", "3xcomplex<f32>", "4xf32"),
):
    add(
        f"fft-{kind.lower()}",
        "stablehlo.fft",
        [f"tensor<2x{x}>"],
        [f"tensor<2x{y}>"],
        f"fft_length = array<i64: 4>, fft_type = #stablehlo<fft_type {kind}>",
    )

# Regions.
SCALAR_BODY = """{{
  ^bb0(%x: tensor<i32>):
    {} = "stablehlo.{}"(%x, %x) {} : (tensor<i32>, tensor<i32>) -> {}
    "stablehlo.return"({}) : ({}) -> ()
}}"""
WHILE = (
    SCALAR_BODY.format(
        "%c",
        "compare",
        "<{comparison_direction = #stablehlo<comparison_direction LT>}>",
        "tensor<i1>",
        "%c",
        "tensor<i1>",
    ),
    SCALAR_BODY.format("%n", "add", "", "tensor<i32>", "%n", "tensor<i32>"),
)
add("while", "stablehlo.while", ["tensor<i32>"], ["tensor<i32>"], regions=", ".join(WHILE))
FIXED = "{ %k = stablehlo.constant dense<1> : tensor<i32> stablehlo.return %k : tensor<i32> }"
NOTHING = "{ stablehlo.return }"
add("if", "stablehlo.if", ["tensor<i1>"], ["tensor<i32>"], regions=f"{FIXED}, {FIXED}")
add("if-nothing", "stablehlo.if", ["tensor<i1>"], [], regions=f"{NOTHING}, {NOTHING}")
add("case", "stablehlo.case", ["tensor<i32>"], ["tensor<i32>"], regions=", ".join([FIXED] * 5))
add(
    "sort",
    "stablehlo.sort",
    [T, "tensor<2x3xi32>"],
    [T, "tensor<2x3xi32>"],
    "dimension = 0 : i64, is_stable = true",
    """{
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
      %p = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }""",
)
add(
    "reduce-two",
    "stablehlo.reduce",
    [T, T, S, S],
    ["tensor<2xf32>"] * 2,
    "dimensions = array<i64: 1>",
    """{
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
      %p = stablehlo.add %a, %c : tensor<f32>
      %q = stablehlo.multiply %b, %d : tensor<f32>
      stablehlo.return %p, %q : tensor<f32>, tensor<f32>
    }""",
)
SELECT = """{
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %c = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
}"""
add(
    "select_and_scatter",
    "stablehlo.select_and_scatter",
    ["tensor<4x4xf32>", "tensor<2x2xf32>", S],
    ["tensor<4x4xf32>"],
    "padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>, "
    "window_strides = array<i64: 2, 2>",
    f"{SELECT}, {reducer()}",
)
add(
    "select_and_scatter-plain",
    "stablehlo.select_and_scatter",
    ["tensor<2x2xf32>", "tensor<2x2xf32>", S],
    ["tensor<2x2xf32>"],
    "window_dimensions = array<i64: 1, 1>",
    f"{SELECT}, {reducer()}",
)

DECOMPOSITION = f"""
  func.func private @parts(%x: {T}) -> {T} {{
    %s = stablehlo.sine %x : {T}
    return %s : {T}
  }}"""
add(
    "composite-plain",
    "stablehlo.composite",
    [T],
    [T],
    'name = "my.op", decomposition = @parts',
    before=DECOMPOSITION,
)
add(
    "composite",
    "stablehlo.composite",
    [T],
    [T],
    "composite_attributes = {axes = [0, 1], deep = {f = 0.5 : f32, t = i32}, n = 3 : ui8, u, "
    's = "x \\22q\\22", v = dense<[1, 2]> : tensor<2xi64>}, decomposition = @parts, '
    'name = "my.op", version = 7 : i32',
    before=DECOMPOSITION,
)
add(
    "composite-defaults",
    "stablehlo.composite",
    [T],
    [T],
    'composite_attributes = {}, decomposition = @parts, name = "a.b", version = 0 : i32',
    before=DECOMPOSITION,
)
add(
    "composite-regions",
    "stablehlo.composite",
    [T],
    [T],
    'name = "my.op", decomposition = @parts',
    f"{reducer()}, {reducer('multiply')}",
    before=DECOMPOSITION,
)
