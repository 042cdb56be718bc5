"""What stands around the ops: locations, attributes of any kind, symbols, resources, other
dialects, nested modules."""

from __future__ import annotations

from corpus.program import JAX_VERSION, Theme
from corpus.text import module

theme = Theme("text_locations")
add = theme.add_text

LOCATIONS = {
    "unknown": "loc(unknown)",
    "file": 'loc("file.py":10:3)',
    "file-zero": 'loc("file.py":0:0)',
    "file-large": 'loc("file.py":4294967295:4294967295)',
    "file-odd": 'loc("dir with space/f\\"é\\".py":7:1)',
    "file-empty": 'loc("":1:1)',
    "range": 'loc("file.py":10:3 to 12:8)',
    "range-columns": 'loc("file.py":10:3 to :8)',
    "range-from-zero": 'loc("file.py":10:0 to :8)',
    "name": 'loc("a name")',
    "name-empty": 'loc("")',
    "name-escapes": 'loc("quote \\" backslash \\\\ newline \\0A nul \\00 byte \\FF é 🚀")',
    "name-child": 'loc("outer"("inner"("file.py":3:4)))',
    "name-of-fused": 'loc("n"(fused["a", "b"]))',
    "callsite": 'loc(callsite("callee" at "caller"))',
    "callsite-chain": 'loc(callsite("a"("f.py":1:2) at '
    'callsite("b"("f.py":3:4) at "c"("f.py":5:6))))',
    "callsite-unknown": "loc(callsite(unknown at unknown))",
    "fused": 'loc(fused["a", "file.py":1:2])',
    "fused-one": 'loc(fused["a"])',
    "fused-metadata": 'loc(fused<"meta">["a", "b"])',
    "fused-metadata-one": 'loc(fused<[1 : i32, unit]>["a"])',
    "fused-dictionary": 'loc(fused<{a = 1 : i64, b = "x"}>["f.py":1:2, callsite("x" at "y")])',
    "fused-nested": 'loc(fused["a", fused<"m">["b", "c"], "d"("e")])',
    "everything": 'loc(callsite(fused<"m">["a"("f.py":1:2), "b"] at "n"("g.py":3:4 to 5:6)))',
}
for name, location in LOCATIONS.items():
    add(
        f"location-{name}",
        f"""
  func.func @main(%x: tensor<3xf32> {location}) -> tensor<3xf32> {{
    %y = stablehlo.sine %x : tensor<3xf32> {location}
    %z = stablehlo.cosine %y : tensor<3xf32> loc("other")
    return %z : tensor<3xf32> {location}
  }} {location}""",
    )
add(
    "location-aliases",
    """
#here = loc("file.py":1:2)
#there = loc(callsite(#here at "outer"(#here)))
module @named attributes {mhlo.num_partitions = 4 : i32} {
  func.func @main(%x: tensor<3xf32> loc(#there)) -> tensor<3xf32> {
    %y = stablehlo.sine %x : tensor<3xf32> loc(#here)
    return %y : tensor<3xf32> loc(#there)
  } loc(#here)
} loc("module"(#there))""",
)
add(
    "location-in-regions",
    """
  func.func @main(%x: tensor<3xf32>, %z: tensor<f32>) -> tensor<f32> {
    %r = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
    ^bb0(%a: tensor<f32> loc("first"), %b: tensor<f32> loc("second"("f.py":1:1))):
      %s = stablehlo.add %a, %b : tensor<f32> loc("sum")
      stablehlo.return %s : tensor<f32> loc("end")
    }) : (tensor<3xf32>, tensor<f32>) -> tensor<f32> loc("reduce")
    return %r : tensor<f32>
  }""",
)

# Attributes of every kind, hanging where nobody expects them.
ATTRIBUTES = {
    "unit": "unit",
    "boolean": "true",
    "integers": "[1 : i1, -1 : i8, 255 : ui8, -7 : i4, 9223372036854775807 : i64, 5 : index]",
    "signed-integers": "[-128 : si8, 127 : si64]",
    "wide-integers": "[170141183460469231731687303715884105727 : i128, -5 : i65, 3 : i3]",
    "floats": "[0.1 : f32, -0.0 : f64, 1.5 : f16, 2.5 : bf16, 0x7FC00001 : f32, "
    "0x7FF0000000000000 : f64]",
    "small-floats": "[1.0 : f8E5M2, 0.5 : f8E4M3FN, 2.0 : f4E2M1FN, 1.0 : f6E2M3FN, "
    "4.0 : f8E8M0FNU]",
    "odd-floats": "[1.0 : tf32, 1.0 : f80, 1.0 : f128]",
    "strings": '["", "plain", "q \\" b \\\\ n \\0A z \\00 x \\FF é 🚀"]',
    "typed-strings": '["typed" : !mydialect.string, "as i32" : i32]',
    "array": "[[], [[]], [1 : i32, [2 : i32]]]",
    "dictionary": '{a = 1 : i32, "quoted key" = 2 : i32, b = {}, "é" = {c}}',
    "types": "[i32, f64, tensor<?x3xf32>, (i32, f32) -> (), tuple<i32, tuple<>>, index, "
    "complex<f32>, tensor<*xf32>, () -> ((i32) -> f32)]",
    "other-types": "[none, vector<4xf32>, vector<[4]x2xi8>, memref<3x?xf32>, memref<*xi8>, si8]",
    "symbols": '[@main, @"odd name", @main::@inner, @a::@b::@"c d"]',
    "dense": "[dense<[1, 2]> : tensor<2xi32>, dense<1.5> : tensor<3xf32>, "
    "dense<> : tensor<0x3xi8>, "
    "dense<[[true, false]]> : tensor<1x2xi1>, dense<(1.0, -2.0)> : tensor<2xcomplex<f32>>, "
    "dense<[(0.5, 1.5)]> : tensor<1xcomplex<f64>>, dense<5> : tensor<index>]",
    "dense-vectors": "[dense<7> : vector<3xi64>, dense<[0.5, 1.5]> : vector<2xf32>]",
    "dense-strings": '[dense<["a", "b \\"c\\""]> : tensor<2x!mydialect.string>]',
    "sparse": "[sparse<[[0, 0], [1, 2]], [1.5, 2.5]> : tensor<3x4xf32>, "
    "sparse<0, 1> : tensor<1xi32>]",
    "arrays": "[array<i1: true, false>, array<i8: -1>, array<i16>, array<i32: 1, 2>, "
    "array<i64: 3>, "
    "array<f32: 0.5, -0.0>, array<f64: 0x7FF8000000000001>]",
    "hex": '[dense<"0x0000803F000000400000C07F"> : tensor<3xf32>, dense<"0x01FF"> : tensor<2xi8>]',
    "affine": "[affine_map<(d0, d1)[s0] -> (d0 + s0, d1 floordiv 2, d0 mod 3 - d1)>, "
    "affine_map<() -> ()>, affine_set<(d0) : (d0 - 1 >= 0, d0 == 0)>]",
    "strided": "[strided<[3, 1], offset: 5>, strided<[?, 1], offset: ?>]",
    "locations": '[loc("x"), loc(unknown), loc(fused["a", "b":1:2])]',
    "stablehlo-enums": "[#stablehlo<precision HIGH>, #stablehlo<comparison_direction EQ>, "
    "#stablehlo<transpose ADJOINT>, #stablehlo<fft_type RFFT>, #stablehlo<rng_algorithm PHILOX>]",
    "stablehlo": "[#stablehlo.channel_handle<handle = 1, type = 2>, #stablehlo.bounds<3, ?>]",
    "unknown-dialect": '[#mydialect.attr<1, "x", [2 : i32]>, #mydialect<"opaque">, '
    "!mydialect.type<i32>]",
    "distinct": "[distinct[0]<42 : i32>, distinct[1]<unit>, distinct[0]<42 : i32>]",
    "sdy": '[#sdy.sharding<@mesh, [{"x"}, {}]>, #sdy.mesh<["x"=2, "y"=4]>]',
}
# Those that VHLO has no form for: no artifact can be made.
NOT_PORTABLE = (
    "signed-integers wide-integers odd-floats typed-strings other-types dense-vectors stablehlo "
    "unknown-dialect"
).split()
# Those that no front end has a use for.
BEYOND = "affine dense-strings distinct sparse strided".split()
for name, attribute in ATTRIBUTES.items():
    for place, text in {
        "op": f"""
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {{
    %r = "stablehlo.sine"(%x) {{my.attribute = {attribute}}} : (tensor<3xf32>) -> tensor<3xf32>
    return %r : tensor<3xf32>
  }}""",
        "function": f"""
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func @main(%x: tensor<f32> {{my.in = {attribute}}}) -> (tensor<f32> {{my.out = {attribute}}})
      attributes {{my.attribute = {attribute}}} {{
    return %x : tensor<f32>
  }}""",
    }.items():
        flags = dict(portable=name not in NOT_PORTABLE, beyond=name in BEYOND)
        add(f"attribute-{name}-{place}", text, **flags)

add(
    "aliases",
    """
#map = affine_map<(d0) -> (d0 + 1)>
#shared = [#map, {a = #map}]
!pair = tuple<tensor<3xf32>, tensor<i32>>
module attributes {my.a = #shared, my.b = #map} {
  func.func @main(%x: !pair) -> !pair attributes {my.c = #shared, my.t = !pair} {
    return %x : !pair
  }
}""",
    beyond=True,
)

# Constants in all their spellings.
CONSTANTS = {
    "splat": "dense<0.1> : tensor<2x3xf32>",
    "list": "dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>",
    "empty": "dense<> : tensor<0x3xf32>",
    "empty-splat": "dense<0> : tensor<4x0xi32>",
    "scalar": "dense<-7> : tensor<i64>",
    "nan": "dense<[0x7FC00001, 0xFF800000, -0.0]> : tensor<3xf32>",
    "complex": "dense<[(1.0, 2.0), (0x7FC00000, -0.0)]> : tensor<2xcomplex<f32>>",
    "complex-splat": "dense<(1.0, -1.0)> : tensor<2xcomplex<f64>>",
    "bool": "dense<[true, false, true]> : tensor<3xi1>",
    "bool-splat": "dense<true> : tensor<3x5xi1>",
    "hex": 'dense<"0x0000803F00000040"> : tensor<2xf32>',
    "i2": "dense<[-2, -1, 0, 1]> : tensor<4xi2>",
    "ui4": "dense<[0, 15, 7]> : tensor<3xui4>",
    "f8": "dense<[1.0, 0x7F, -0.5]> : tensor<3xf8E4M3FN>",
    "ui64": "dense<18446744073709551615> : tensor<2xui64>",
    "resource": "dense_resource<blob> : tensor<3xf32>",
}
RESOURCES = """
{-#
  dialect_resources: {
    builtin: {
      blob: "0x040000000000803F0000004000004040"
    }
  }
#-}"""
for name, value in CONSTANTS.items():
    kind = value.split(" : ")[1]
    text = module("", f'%r = "stablehlo.constant"() <{{value = {value}}}> : () -> {kind}', kind)
    add(f"constant-{name}", text + RESOURCES if name == "resource" else text)
add(
    "external-resources",
    """
func.func @main() { return }
{-#
  external_resources: {
    someone: { flag: true, text: "x \\"y\\"", blob: "0x0800000001020304" }
  }
#-}""",
)

# Symbols, functions and modules.
add(
    "symbol-names",
    """
module @"module with \\"quotes\\"" {
  func.func @"main é"(%x: tensor<f32>) -> tensor<f32> {
    %r = call @"a b/c:d"(%x) : (tensor<f32>) -> tensor<f32>
    return %r : tensor<f32>
  }
  func.func private @"a b/c:d"(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
  func.func private @"0digit"(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
  func.func private @_under$core.dot(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
}""",
)
add(
    "declaration",
    """
  func.func private @external(tensor<3xf32> {my.a = 1 : i32}, tensor<i32>) -> (tensor<f32> {my.r})
  func.func private @without() attributes {my.flag}
  func.func @main(%x: tensor<3xf32>, %i: tensor<i32>) -> tensor<f32> {
    %r = call @external(%x, %i) : (tensor<3xf32>, tensor<i32>) -> tensor<f32>
    return %r : tensor<f32>
  }""",
)
add(
    "visibility",
    """
  func.func public @main() { return }
  func.func private @hidden() { return }
  func.func nested @nested() { return }
  func.func @plain() { return }""",
)
add(
    "no-inline",
    """
  func.func @main() attributes {no_inline} { return }""",
)
add("empty-module", "module {}")
add("empty-module-with-attributes", 'module @m attributes {a.b = 1 : i32, c.d} {} loc("here")')
add(
    "nested-modules",
    """
module @outer {
  module @inner attributes {a.b} {
    func.func @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
    module { func.func private @g() { return } }
  }
  func.func @main() { return }
}""",
)
add(
    "argument-attributes",
    """
  func.func @main(%a: tensor<3xf32> {tf.aliasing_output = 0 : i32, mhlo.sharding = "{replicated}"},
                  %b: tensor<3xf32>, %c: tensor<3xf32> {jax.buffer_donor = true, mhlo.layout_mode =
                  "{1,0}", mhlo.memory_kind = "pinned_host", jax.arg_info = "x['é']"})
      -> (tensor<3xf32> {jax.result_info = "[0]"}, tensor<3xf32>) {
    return %a, %c : tensor<3xf32>, tensor<3xf32>
  }""",
)
add(
    "unknown-dialect",
    """
  func.func @main(%x: tensor<3xf32>) -> !mydialect.handle<"x", 3> {
    %h:2 = "mydialect.open"(%x) <{flag = true}> ({
    ^bb0(%i: tensor<i32>):
      %j = "mydialect.step"(%i, %i) {n = 1 : i64} : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "mydialect.end"(%j) : (tensor<i32>) -> ()
    }, {}) {"odd attribute" = #mydialect.x<1>} : (tensor<3xf32>) -> (!mydialect.handle<"x", 3>, i32)
    return %h#0 : !mydialect.handle<"x", 3>
  }""",
    portable=False,
)
add(
    "unknown-dialect-blocks",
    """
  func.func @main() {
    "mydialect.open"() ({
      %i = "mydialect.start"() : () -> i32
      "mydialect.next"(%i)[^bb1, ^bb2] : (i32) -> ()
    ^bb1:
      "mydialect.end"() : () -> ()
    ^bb2:
      "mydialect.next"(%i)[^bb1] : (i32) -> ()
    }) : () -> ()
    return
  }""",
    beyond=True,
)
add(
    "other-dialects",
    """
  func.func @main(%x: tensor<2xf32>, %n: i32) -> (tensor<2xf32>, i32) {
    %c = arith.constant 3 : i32
    %s = arith.addi %n, %c overflow<nsw> : i32
    %f = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %t = math.sin %x fastmath<fast> : tensor<2xf32>
    %e = chlo.erf %t : tensor<2xf32> -> tensor<2xf32>
    %k = tensor.cast %e : tensor<2xf32> to tensor<?xf32>
    %d = tensor.cast %k : tensor<?xf32> to tensor<2xf32>
    return %d, %s : tensor<2xf32>, i32
  }""",
    beyond=True,
)
add(
    "blocks",
    """
  func.func @main(%c: i1, %x: tensor<f32>) -> tensor<f32> {
    cf.cond_br %c, ^then(%x : tensor<f32>), ^else
  ^then(%y: tensor<f32>):
    %z = stablehlo.sine %y : tensor<f32>
    cf.br ^end(%z : tensor<f32>)
  ^else:
    cf.br ^end(%x : tensor<f32>)
  ^end(%r: tensor<f32>):
    return %r : tensor<f32>
  }""",
    portable=JAX_VERSION >= (0, 12),
    beyond=True,
)
