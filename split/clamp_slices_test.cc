#include "split/clamp_slices.h"

#include <memory>
#include <string>
#include <string_view>

#include "analysis/testing.h"
#include "gtest/gtest.h"
#include "ir/verify.h"
#include "stablehlo/text_writer.h"

namespace plimsoll::testing {
namespace {

// The ops of a function of a matrix and two integers, which returns %r, a tensor of this type.
std::string Clamped(std::string_view ops, std::string_view type) {
  const std::unique_ptr<Module> module =
      Program({"7x6xf32", "i32", "ui8"}, ops, {{"%r", std::string(type)}});
  if (module == nullptr) return "";
  const Status status = ClampSlices(module->context(), module->op());
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_TRUE(Verify(*module).ok());
  const std::string text = WriteText(*module, Locations::kOmit);
  const size_t begin = text.find("^bb0");
  return text.substr(begin, text.rfind("  }) : () -> ()\n})") - begin);
}

TEST(ClampSlicesTest, BothStartsOfASliceOfASliceAreInside) {
  EXPECT_EQ(Clamped(R"(
  %c = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %a = "stablehlo.dynamic_slice"(%0, %1, %c) <{slice_sizes = array<i64: 4, 6>}> : (tensor<7x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  %b = "stablehlo.reshape"(%a) : (tensor<4x6xf32>) -> tensor<24xf32>
  %r = "stablehlo.dynamic_slice"(%b, %2) <{slice_sizes = array<i64: 2>}> : (tensor<24xf32>, tensor<ui8>) -> tensor<2xf32>
)",
                    "2xf32"),
            R"(^bb0(%arg0: tensor<7x6xf32>, %arg1: tensor<i32>, %arg2: tensor<ui8>):
    %0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %1 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %2 = "stablehlo.maximum"(%arg1, %1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %4 = "stablehlo.minimum"(%2, %3) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %5 = "stablehlo.dynamic_slice"(%arg0, %4, %0) <{slice_sizes = array<i64: 4, 6>}> : (tensor<7x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
    %6 = "stablehlo.reshape"(%5) : (tensor<4x6xf32>) -> tensor<24xf32>
    %7 = "stablehlo.constant"() <{value = dense<22> : tensor<ui8>}> : () -> tensor<ui8>
    %8 = "stablehlo.minimum"(%arg2, %7) : (tensor<ui8>, tensor<ui8>) -> tensor<ui8>
    %9 = "stablehlo.dynamic_slice"(%6, %8) <{slice_sizes = array<i64: 2>}> : (tensor<24xf32>, tensor<ui8>) -> tensor<2xf32>
    "func.return"(%9) : (tensor<2xf32>) -> ()
)");
}

TEST(ClampSlicesTest, OneSliceAloneStays) {
  const std::string_view slice = R"(
  %r = "stablehlo.dynamic_slice"(%0, %1, %1) <{slice_sizes = array<i64: 4, 6>}> : (tensor<7x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
)";
  EXPECT_EQ(Clamped(slice, "4x6xf32").find("minimum"), std::string::npos);
}

}  // namespace
}  // namespace plimsoll::testing
