"builtin.module"() <{sym_name = "jit_g"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=4]>, sym_name = "mesh"}> : () -> () loc(unknown)
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}], replicated={"y":(1)2}>}], function_type = (tensor<8x4xf32>) -> (tensor<8x2xf32>, tensor<8x2xi32>), sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<8x4xf32> loc(unknown)):
    %0 = "sdy.manual_computation"(%arg0) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>, manual_axes = #sdy<manual_axes{"x"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}> ({
    ^bb0(%arg1: tensor<4x4xf32> loc(unknown)):
      %2 = "chlo.erf"(%arg1) : (tensor<4x4xf32>) -> tensor<4x4xf32> loc(unknown)
      "sdy.return"(%2) : (tensor<4x4xf32>) -> () loc(unknown)
    }) : (tensor<8x4xf32>) -> tensor<8x4xf32> loc(unknown)
    %1:2 = "chlo.top_k"(%0) <{k = 2 : i64}> : (tensor<8x4xf32>) -> (tensor<8x2xf32>, tensor<8x2xi32>) loc(unknown)
    "func.return"(%1#0, %1#1) : (tensor<8x2xf32>, tensor<8x2xi32>) -> () loc(unknown)
  }) : () -> () loc(unknown)
}) : () -> () loc(unknown)
