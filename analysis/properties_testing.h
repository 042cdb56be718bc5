// What tests of properties share: ops as text, and what is known of a program's result.

#ifndef PLIMSOLL_ANALYSIS_PROPERTIES_TESTING_H_
#define PLIMSOLL_ANALYSIS_PROPERTIES_TESTING_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/properties.h"
#include "analysis/testing.h"
#include "ir/status.h"

namespace plimsoll::testing {

// The value that a program returns first.
inline Value& ReturnedValue(const Module& module) {
  return *module.main()->entry_block()->last()->operand(0);
}

// Why the result of these ops has the property. Types are written "4x4xf32".
inline std::string WhyOf(const std::vector<std::string_view>& arguments, std::string_view ops,
                         NamedType result, Property property) {
  const std::unique_ptr<Module> module = Program(arguments, ops, {result});
  if (module == nullptr) return "";
  Properties properties;
  return properties.Why(ReturnedValue(*module), property);
}

inline bool Holds(const std::vector<std::string_view>& arguments, std::string_view ops,
                  NamedType result, Property property) {
  return !WhyOf(arguments, ops, result, property).empty();
}

// One op, as generic text. `name` is that of the result, "%r".
inline std::string Unary(std::string_view name, std::string_view op, std::string_view operand,
                         std::string_view type) {
  return StrCat(name, " = \"", op, "\"(", operand, ") : (tensor<", type, ">) -> tensor<", type,
                ">\n");
}

inline std::string Binary(std::string_view name, std::string_view op, std::string_view a,
                          std::string_view b, std::string_view type) {
  return StrCat(name, " = \"stablehlo.", op, "\"(", a, ", ", b, ") : (tensor<", type, ">, tensor<",
                type, ">) -> tensor<", type, ">\n");
}

inline std::string Constant(std::string_view name, std::string_view value, std::string_view type) {
  return StrCat(name, " = \"stablehlo.constant\"() <{value = dense<", value, "> : tensor<", type,
                ">}> : () -> tensor<", type, ">\n");
}

inline std::string Iota(std::string_view name, int dimension, std::string_view type) {
  return StrCat(name, " = \"stablehlo.iota\"() <{iota_dimension = ", dimension,
                " : i64}> : () -> tensor<", type, ">\n");
}

// Also for reshapes.
inline std::string Convert(std::string_view name, std::string_view operand, std::string_view from,
                           std::string_view to, std::string_view op = "convert") {
  return StrCat(name, " = \"stablehlo.", op, "\"(", operand, ") : (tensor<", from, ">) -> tensor<",
                to, ">\n");
}

inline std::string Broadcast(std::string_view name, std::string_view operand, std::string_view from,
                             std::string_view dimensions, std::string_view to) {
  return StrCat(name, " = \"stablehlo.broadcast_in_dim\"(", operand,
                ") <{broadcast_dimensions = array<i64", dimensions.empty() ? "" : ": ", dimensions,
                ">}> : (tensor<", from, ">) -> tensor<", to, ">\n");
}

inline std::string Transpose(std::string_view name, std::string_view operand, std::string_view from,
                             std::string_view permutation, std::string_view to) {
  return StrCat(name, " = \"stablehlo.transpose\"(", operand,
                ") <{permutation = array<i64: ", permutation, ">}> : (tensor<", from,
                ">) -> tensor<", to, ">\n");
}

inline std::string Compare(std::string_view name, std::string_view direction, std::string_view a,
                           std::string_view b, std::string_view type, std::string_view result) {
  return StrCat(name, " = \"stablehlo.compare\"(", a, ", ", b,
                ") <{comparison_direction = #stablehlo<comparison_direction ", direction,
                ">}> : (tensor<", type, ">, tensor<", type, ">) -> tensor<", result, ">\n");
}

inline std::string Select(std::string_view name, std::string_view predicate,
                          std::string_view predicate_type, std::string_view a, std::string_view b,
                          std::string_view type) {
  return StrCat(name, " = \"stablehlo.select\"(", predicate, ", ", a, ", ", b, ") : (tensor<",
                predicate_type, ">, tensor<", type, ">, tensor<", type, ">) -> tensor<", type,
                ">\n");
}

// `dimensions` is what stands in #stablehlo.dot<...>.
inline std::string Dot(std::string_view name, NamedType a, NamedType b, std::string_view dimensions,
                       std::string_view result) {
  return StrCat(name, " = \"stablehlo.dot_general\"(", a.first, ", ", b.first,
                ") <{dot_dimension_numbers = #stablehlo.dot<", dimensions, ">}> : (tensor<",
                a.second, ">, tensor<", b.second, ">) -> tensor<", result, ">\n");
}

inline constexpr std::string_view kRowsTimesColumns =
    "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]";
inline constexpr std::string_view kRowsTimesRows =
    "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]";
inline constexpr std::string_view kColumnsTimesColumns =
    "lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]";

// Over f32, with one op of two operands.
inline std::string Reduce(std::string_view name, std::string_view reducer, NamedType operand,
                          std::string_view initial, std::string_view dimensions,
                          std::string_view result) {
  return StrCat(name, " = \"stablehlo.reduce\"(", operand.first, ", ", initial,
                ") <{dimensions = array<i64: ", dimensions,
                ">}> ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n",
                Binary("%s", reducer, "%a", "%b", "f32"),
                "\"stablehlo.return\"(%s) : (tensor<f32>) -> () }) : (tensor<", operand.second,
                ">, tensor<f32>) -> tensor<", result, ">\n");
}

// %eye of truth values, as jnp.eye makes it, for rows that are `offset` before columns.
inline std::string Mask(std::string_view name, std::string_view direction,
                        std::string_view offset = "0") {
  return StrCat(Iota("%rows", 0, "4x4xi32"), Iota("%columns", 1, "4x4xi32"),
                Constant("%offset", offset, "i32"),
                Broadcast("%offsets", "%offset", "i32", "", "4x4xi32"),
                Binary("%shifted", "add", "%rows", "%offsets", "4x4xi32"),
                Compare(name, direction, "%shifted", "%columns", "4x4xi32", "4x4xi1"));
}

// %eye, a 4x4 identity, as jnp.eye makes it.
inline std::string Eye() {
  return StrCat(Mask("%mask", "EQ"), Convert("%eye", "%mask", "4x4xi1", "4x4xf32"));
}

// %d: the squared distances of the four points %0, as (x[:, None] - x[None]) ** 2 summed.
inline std::string SquaredDistances(std::string_view second_points = "%0") {
  return StrCat(Broadcast("%x", "%0", "4x3xf32", "0, 2", "4x4x3xf32"),
                Broadcast("%y", second_points, "4x3xf32", "1, 2", "4x4x3xf32"),
                Binary("%difference", "subtract", "%x", "%y", "4x4x3xf32"),
                Binary("%squares", "multiply", "%difference", "%difference", "4x4x3xf32"),
                Constant("%zero", "0.0", "f32"),
                Reduce("%d", "add", {"%squares", "4x4x3xf32"}, "%zero", "2", "4x4xf32"));
}

}  // namespace plimsoll::testing

#endif  // PLIMSOLL_ANALYSIS_PROPERTIES_TESTING_H_
