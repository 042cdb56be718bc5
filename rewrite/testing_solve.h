// Programs that tests of solves share: what JAX makes of an LU factorisation and of solves.

#ifndef PLIMSOLL_REWRITE_TESTING_SOLVE_H_
#define PLIMSOLL_REWRITE_TESTING_SOLVE_H_

#include <string>
#include <string_view>

#include "ir/status.h"

namespace plimsoll::testing {

// Factors the 400x400 matrix `matrix`: `name`_f has the factors, `name`_o the order of rows.
inline std::string Lu(std::string_view name, std::string_view matrix) {
  std::string text = R"(
  %N:3 = "stablehlo.custom_call"(%MATRIX) <{api_version = 4 : i32, backend_config = "",
    call_target_name = "lapack_sgetrf_ffi", called_computations = [], has_side_effect = false,
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>,
    dense<> : tensor<0xindex>]}> {mhlo.backend_config = {},
    mhlo.frontend_attributes = {num_batch_dims = "0"}}
    : (tensor<400x400xf32>) -> (tensor<400x400xf32>, tensor<400xi32>, tensor<i32>)
  %N_one = "stablehlo.constant"() <{value = dense<1> : tensor<400xi32>}> : () -> tensor<400xi32>
  %N_p = "stablehlo.subtract"(%N#1, %N_one) : (tensor<400xi32>, tensor<400xi32>) -> tensor<400xi32>
  %N_zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %N_c = "stablehlo.compare"(%N#2, %N_zero) <{
    compare_type = #stablehlo<comparison_type SIGNED>,
    comparison_direction = #stablehlo<comparison_direction GE>}>
    : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %N_w = "stablehlo.broadcast_in_dim"(%N_c) <{broadcast_dimensions = array<i64>}>
    : (tensor<i1>) -> tensor<400x400xi1>
  %N_nan = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<400x400xf32>}>
    : () -> tensor<400x400xf32>
  %N_f = "stablehlo.select"(%N_w, %N#0, %N_nan)
    : (tensor<400x400xi1>, tensor<400x400xf32>, tensor<400x400xf32>) -> tensor<400x400xf32>
  %N_i = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<400xi32>
  %N_l:3 = "stablehlo.while"(%N_p, %N_zero, %N_i) ({
  ^bb1(%p: tensor<400xi32>, %i: tensor<i32>, %o: tensor<400xi32>):
    %end = "stablehlo.constant"() <{value = dense<400> : tensor<i32>}> : () -> tensor<i32>
    %c = "stablehlo.compare"(%i, %end) <{compare_type = #stablehlo<comparison_type SIGNED>,
      comparison_direction = #stablehlo<comparison_direction LT>}>
      : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb2(%p: tensor<400xi32>, %i: tensor<i32>, %o: tensor<400xi32>):
    %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %next = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %a = "stablehlo.dynamic_slice"(%p, %i) <{slice_sizes = array<i64: 1>}>
      : (tensor<400xi32>, tensor<i32>) -> tensor<1xi32>
    %x = "stablehlo.reshape"(%a) : (tensor<1xi32>) -> tensor<i32>
    %b = "stablehlo.dynamic_slice"(%o, %i) <{slice_sizes = array<i64: 1>}>
      : (tensor<400xi32>, tensor<i32>) -> tensor<1xi32>
    %y = "stablehlo.reshape"(%b) : (tensor<1xi32>) -> tensor<i32>
    %e = "stablehlo.dynamic_slice"(%o, %x) <{slice_sizes = array<i64: 1>}>
      : (tensor<400xi32>, tensor<i32>) -> tensor<1xi32>
    %z = "stablehlo.reshape"(%e) : (tensor<1xi32>) -> tensor<i32>
    %at_i = "stablehlo.reshape"(%i) : (tensor<i32>) -> tensor<1xi32>
    %first = "stablehlo.scatter"(%o, %at_i, %z) <{indices_are_sorted = true,
      scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb3(%s: tensor<i32>, %t: tensor<i32>):
      "stablehlo.return"(%t) : (tensor<i32>) -> ()
    }) : (tensor<400xi32>, tensor<1xi32>, tensor<i32>) -> tensor<400xi32>
    %second = "stablehlo.scatter"(%first, %a, %y) <{indices_are_sorted = true,
      scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb3(%s: tensor<i32>, %t: tensor<i32>):
      "stablehlo.return"(%t) : (tensor<i32>) -> ()
    }) : (tensor<400xi32>, tensor<1xi32>, tensor<i32>) -> tensor<400xi32>
    "stablehlo.return"(%p, %next, %second) : (tensor<400xi32>, tensor<i32>, tensor<400xi32>) -> ()
  }) : (tensor<400xi32>, tensor<i32>, tensor<400xi32>)
    -> (tensor<400xi32>, tensor<i32>, tensor<400xi32>)
  %N_o = "stablehlo.reshape"(%N_l#2) : (tensor<400xi32>) -> tensor<400x1xi32>)";
  const auto replace = [&text](std::string_view from, std::string_view to) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
      text.replace(at, from.size(), to);
      at += to.size();
    }
  };
  replace("%N", StrCat("%", name));
  replace("%MATRIX", matrix);
  return text;
}

// A triangular solve with 400x400 matrices and `columns` right-hand sides. The options are LAPACK's
// letters: 'N' or 'T', 'L' or 'U', and 'U' for ones on the diagonal or 'N'.
struct SolveOptions {
  char transposed = 'N';
  char triangle = 'L';
  char diagonal = 'N';
};
inline std::string Solve(std::string_view result, std::string_view matrix, std::string_view sides,
                         int columns, SolveOptions options) {
  const std::string type = StrCat("tensor<400x", columns, "xf32>");
  return StrCat("\n  ", result, R"( = "stablehlo.custom_call"()", matrix, ", ", sides,
                R"() <{api_version = 4 : i32, backend_config = "",
    call_target_name = "lapack_strsm_ffi", called_computations = [], has_side_effect = false,
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>]}> {mhlo.backend_config = {diag = )",
                static_cast<int>(options.diagonal),
                " : ui8, side = 76 : ui8, trans_x = ", static_cast<int>(options.transposed),
                " : ui8, uplo = ", static_cast<int>(options.triangle),
                R"( : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}}
    : (tensor<400x400xf32>, )",
                type, ") -> ", type);
}

// Solves with the factors of `Lu(name, ...)`.
inline std::string LuSolve(std::string_view result, std::string_view name, std::string_view sides,
                           int columns) {
  const std::string type = StrCat("tensor<400x", columns, "xf32>");
  const std::string factors = StrCat("%", name, "_f");
  return StrCat("\n  ", result, R"(_g = "stablehlo.gather"()", sides, ", %", name,
                R"(_o) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
    collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    indices_are_sorted = false, slice_sizes = array<i64: 1, )",
                columns, ">}> : (", type, ", tensor<400x1xi32>) -> ", type,
                Solve(StrCat(result, "_h"), factors, StrCat(result, "_g"), columns,
                      {.triangle = 'L', .diagonal = 'U'}),
                Solve(result, factors, StrCat(result, "_h"), columns, {.triangle = 'U'}));
}

// %eye: the identity.
inline constexpr std::string_view kIdentity = R"(
  %eye_r = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<400x400xi32>
  %eye_c = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<400x400xi32>
  %eye_b = "stablehlo.compare"(%eye_r, %eye_c) <{
    compare_type = #stablehlo<comparison_type SIGNED>,
    comparison_direction = #stablehlo<comparison_direction EQ>}>
    : (tensor<400x400xi32>, tensor<400x400xi32>) -> tensor<400x400xi1>
  %eye = "stablehlo.convert"(%eye_b) : (tensor<400x400xi1>) -> tensor<400x400xf32>)";

inline size_t Count(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

}  // namespace plimsoll::testing

#endif  // PLIMSOLL_REWRITE_TESTING_SOLVE_H_
