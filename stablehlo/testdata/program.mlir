#loc0 = loc("x")
#loc1 = loc("model.py":3:7)
#loc2 = loc("model.py":4:11)
#loc3 = loc("jit(f)/gather"(#loc2))
#loc4 = loc(callsite(#loc3 at #loc1))
#loc5 = loc(fused<"passes">[#loc4, #loc1])
"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{arg_attrs = [{mhlo.sharding = "{replicated}"}, {}, {}], function_type = (tensor<4x3xf32>, tensor<5x1xi32>, tensor<3x4xf32>) -> (tensor<f32>, tensor<4x3xf32>), res_attrs = [{jax.result_info = "[\22a\22]"}, {}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<4x3xf32> loc(#loc0), %arg1: tensor<5x1xi32> loc(unknown), %arg2: tensor<3x4xf32> loc(unknown)):
    %0 = "stablehlo.exponential"(%arg0) : (tensor<4x3xf32>) -> tensor<4x3xf32> loc(#loc1)
    %1 = "stablehlo.gather"(%0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<4x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32> loc(#loc4)
    %2 = "stablehlo.dot_general"(%1, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>]}> : (tensor<5x3xf32>, tensor<3x4xf32>) -> tensor<5x4xf32> loc(unknown)
    %3 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32> loc(unknown)
    %4 = "stablehlo.reduce"(%2, %3) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg3: tensor<f32> loc(unknown), %arg4: tensor<f32> loc(unknown)):
      %10 = "stablehlo.add"(%arg3, %arg4) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(unknown)
      "stablehlo.return"(%10) : (tensor<f32>) -> () loc(unknown)
    }) : (tensor<5x4xf32>, tensor<f32>) -> tensor<f32> loc(#loc5)
    %5 = "stablehlo.constant"() <{value = dense<[[true, false, true], [false, false, true], [true, true, true], [false, true, false]]> : tensor<4x3xi1>}> : () -> tensor<4x3xi1> loc(unknown)
    %6 = "stablehlo.compare"(%0, %arg0) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xi1> loc(unknown)
    %7 = "stablehlo.and"(%5, %6) : (tensor<4x3xi1>, tensor<4x3xi1>) -> tensor<4x3xi1> loc(unknown)
    %8 = "stablehlo.select"(%7, %0, %arg0) : (tensor<4x3xi1>, tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc(unknown)
    %9 = "func.call"(%8) <{callee = @twice}> : (tensor<4x3xf32>) -> tensor<4x3xf32> loc(unknown)
    "func.return"(%4, %9) : (tensor<f32>, tensor<4x3xf32>) -> () loc(unknown)
  }) : () -> () loc(unknown)
  "func.func"() <{function_type = (tensor<4x3xf32>) -> tensor<4x3xf32>, sym_name = "twice", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<4x3xf32> loc(unknown)):
    %0 = "stablehlo.add"(%arg0, %arg0) {mhlo.frontend_attributes = {note = "kept"}} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc(unknown)
    "func.return"(%0) : (tensor<4x3xf32>) -> () loc(unknown)
  }) : () -> () loc(unknown)
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> () loc(unknown)
