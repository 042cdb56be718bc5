#include "analysis/hidden_memory.h"

#include <chrono>
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/status.h"

namespace plimsoll {
namespace {

constexpr int64_t kThreads = 2;
constexpr int64_t kOldJaxlib = 10;
constexpr int64_t kNewJaxlib = 12;
constexpr int64_t kMegabyte = 1000000;

// The entry computation with one YNNPACK fusion, whose inside is `fused`.
std::string YnnProgram(const std::string& result, const std::string& fused) {
  return "%sum (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n  %b = f32[] "
         "parameter(1)\n  ROOT %c = f32[] add(%a, %b)\n}\n\n"
         "%fused (x: f32[]) -> f32[] {\n" +
         fused + "}\n\nENTRY %main () -> " + result + " {\n  ROOT %ynn_fusion.7 = " + result +
         " fusion(), kind=kCustom, calls=%fused, backend_config={\"fusion_config\":{\"kind\":"
         "\"__ynn_fusion\"}}\n}\n";
}

int64_t Scratch(const std::string& text, int64_t jaxlib_minor = kNewJaxlib) {
  return EstimateHiddenMemory(text, kThreads, jaxlib_minor).scratch_bytes;
}

TEST(HiddenMemoryTest, AnElementwiseProgramHidesNothing) {
  const HiddenMemory hidden = EstimateHiddenMemory(R"(%fused_computation (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %e = f32[8]{0} exponential(%p)
}

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  ROOT %fusion = f32[8]{0} fusion(%x), kind=kLoop, calls=%fused_computation
}
)",
                                                   kThreads, kNewJaxlib);
  EXPECT_EQ(hidden.scratch_bytes, 0);
  EXPECT_EQ(hidden.constant_bytes, 0);
  EXPECT_EQ(hidden.instruction, "");
}

TEST(HiddenMemoryTest, CountsConstantsWhereverTheyAre) {
  constexpr char kConstants[] = R"(%f (p: f32[]) -> f32[] {
  %c = f32[1000]{0} constant({...})
}

ENTRY %main () -> f32[] {
  %d = s8[10]{0} constant({...})
}
)";
  EXPECT_EQ(EstimateHiddenMemory(kConstants, kThreads, kNewJaxlib).constant_bytes, 4010);
  EXPECT_EQ(EstimateHiddenMemory(kConstants, kThreads, kOldJaxlib).constant_bytes, 8020);
}

// Tests that a chain of elementwise steps into a reduction is fused: tiles only.
TEST(HiddenMemoryTest, AReducedChainIsNotKept) {
  const std::string text = YnnProgram("f32[]", R"(  %x = f32[5000,5000]{1,0} parameter(0)
  %e = f32[5000,5000]{1,0} exponential(%x)
  %m = f32[5000,5000]{1,0} multiply(%e, %e)
  %zero = f32[] constant(0)
  ROOT %r = f32[] reduce(%m, %zero), dimensions={0,1}, to_apply=%sum
)");
  EXPECT_LT(Scratch(text), 4 * kMegabyte);
}

TEST(HiddenMemoryTest, ASoftmaxOfRowsKeepsRowsAndOneOfColumnsKeepsAll) {
  const auto softmax = [](const std::string& reduced, const std::string& kept) {
    return YnnProgram("f32[5000,5000]{1,0}", R"(  %x = f32[5000,5000]{1,0} parameter(0)
  %e = f32[5000,5000]{1,0} exponential(%x)
  %zero = f32[] constant(0)
  %r = f32[5000]{0} reduce(%e, %zero), dimensions={)" +
                                                 reduced + R"(}, to_apply=%sum
  %b = f32[5000,5000]{1,0} broadcast(%r), dimensions={)" +
                                                 kept + R"(}
  ROOT %d = f32[5000,5000]{1,0} divide(%e, %b)
)");
  };
  EXPECT_LT(Scratch(softmax("1", "0")), 4 * kMegabyte);
  EXPECT_GE(Scratch(softmax("0", "1")), 100 * kMegabyte);
  EXPECT_LT(Scratch(softmax("0", "1")), 110 * kMegabyte);
}

std::string SummedProduct(const std::string& contracted) {
  return YnnProgram("f32[6000]{0}", "  %x = f32[6000," + contracted +
                                        "]{1,0} parameter(0)\n  %y = f32[" + contracted +
                                        ",5000]{1,0} parameter(1)\n" +
                                        R"(  %zero = f32[] constant(0)
  %dot = f32[6000,5000]{1,0} dot(%x, %y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %r = f32[6000]{0} reduce(%dot, %zero), dimensions={1}, to_apply=%sum
)");
}

TEST(HiddenMemoryTest, AProductIsKeptWholeIfItsLoopsStartWithColumns) {
  EXPECT_LT(Scratch(SummedProduct("64")), 20 * kMegabyte);
  EXPECT_GE(Scratch(SummedProduct("500")), 120 * kMegabyte);
  EXPECT_LT(Scratch(SummedProduct("500"), kOldJaxlib), 20 * kMegabyte);
}

TEST(HiddenMemoryTest, TheFirstSchedulerIsLostInACube) {
  const std::string text = YnnProgram("f32[]", R"(  %x = f32[2000,2000]{1,0} parameter(0)
  %y = f32[2000,2000]{1,0} parameter(1)
  %n = f32[2000,2000]{1,0} negate(%x)
  %e = f32[2000,2000]{1,0} exponential(%n)
  %zero = f32[] constant(0)
  %dot = f32[2000,2000]{1,0} dot(%e, %y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %r = f32[] reduce(%dot, %zero), dimensions={0,1}, to_apply=%sum
)");
  EXPECT_GE(Scratch(text, kOldJaxlib), 48 * kMegabyte);
  EXPECT_LT(Scratch(text, kNewJaxlib), 40 * kMegabyte);
}

TEST(HiddenMemoryTest, BetweenTwoSchedulersTheLargerCounts) {
  const std::string text = SummedProduct("500");
  EXPECT_EQ(Scratch(text, 11), std::max(Scratch(text, kOldJaxlib), Scratch(text, kNewJaxlib)));
}

TEST(HiddenMemoryTest, AShortProductIsAccumulatedInFourBytes) {
  const std::string text = YnnProgram("bf16[6000,5000]{1,0}",
                                      R"(  %x = bf16[6000,3000]{1,0} parameter(0)
  %y = bf16[3000,5000]{1,0} parameter(1)
  ROOT %dot = bf16[6000,5000]{1,0} dot(%x, %y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
)");
  EXPECT_EQ(Scratch(text), 120 * kMegabyte);
}

TEST(HiddenMemoryTest, NamesTheInstruction) {
  const HiddenMemory hidden = EstimateHiddenMemory(SummedProduct("500"), kThreads, kNewJaxlib);
  EXPECT_EQ(hidden.instruction, "ynn_fusion.7");
}

std::string Sort(const std::string& operands, bool is_stable) {
  return R"(ENTRY %main () -> f32[1000000] {
  %k = f32[1000000]{0} parameter(0)
  %v = s32[1000000]{0} parameter(1)
  %w = s32[1000000]{0} parameter(2)
  ROOT %sort.1 = f32[1000000]{0} sort()" +
         operands + "), dimensions={0}" + (is_stable ? ", is_stable=true" : "") +
         ", to_apply=%less\n}\n";
}

TEST(HiddenMemoryTest, AStableSortCopiesWhatItSorts) {
  EXPECT_EQ(Scratch(Sort("%k", false)), 0);
  EXPECT_EQ(Scratch(Sort("%k", true)), 16 * kMegabyte);
  EXPECT_EQ(Scratch(Sort("%k, %v", true)), 8 * kMegabyte);
  EXPECT_EQ(Scratch(Sort("%k, %v", true), kOldJaxlib), 32 * kMegabyte);
  EXPECT_EQ(Scratch(Sort("%k, %v, %w", true)), 48 * kMegabyte);
}

TEST(HiddenMemoryTest, AnFftOfAPrimeLengthIsAConvolution) {
  const auto fft = [](const std::string& length) {
    return "ENTRY %main () -> c64[1] {\n  %x = c64[" + length +
           "]{0} parameter(0)\n  ROOT %fft.0 = c64[" + length +
           "]{0} fft(%x), fft_type=FFT, fft_length={" + length + "}\n}\n";
  };
  EXPECT_EQ(Scratch(fft("1000000")), 8 * kMegabyte);
  EXPECT_EQ(Scratch(fft("1000003")), 64000192);
}

TEST(HiddenMemoryTest, LapackHasItsWorkspace) {
  const std::string text = R"(ENTRY %main () -> f32[1000,1000] {
  %x = f32[1000,1000]{0,1} parameter(0)
  ROOT %eigh.0 = (f32[1000,1000]{0,1}, f32[1000]{0}, s32[]) custom-call(%x), custom_call_target="lapack_ssyevd_ffi"
}
)";
  EXPECT_GT(Scratch(text), 12 * kMegabyte);
  EXPECT_LT(Scratch(text), 40 * kMegabyte);
}

TEST(HiddenMemoryTest, BlasPacksWhatThereIs) {
  const auto cholesky = [](std::string_view size) {
    return StrCat("ENTRY %main () -> f32[] {\n  %x = f32[", size, ",", size,
                  "]{0,1} parameter(0)\n  ROOT %c = (f32[", size, ",", size,
                  "]{0,1}, s32[]) custom-call(%x), custom_call_target=\"lapack_spotrf_ffi\"\n}\n");
  };
  EXPECT_LT(Scratch(cholesky("100")), 2 * kMegabyte);
  EXPECT_GT(Scratch(cholesky("1000")), 4 * kMegabyte);
  EXPECT_GT(Scratch(cholesky("3000")), 16 * kMegabyte);
  EXPECT_LT(Scratch(cholesky("3000")), 20 * kMegabyte);
}

TEST(HiddenMemoryTest, AQrOfFewColumnsHasLittleWorkspace) {
  const std::string text = R"(ENTRY %main () -> f32[10000,6] {
  %x = f32[10000,6]{0,1} parameter(0)
  ROOT %q = (f32[10000,6]{0,1}, f32[6]{0}) custom-call(%x), custom_call_target="lapack_sgeqrf_ffi"
}
)";
  EXPECT_LT(Scratch(text), 2 * kMegabyte);
}

TEST(HiddenMemoryTest, NoTextIsAnError) {
  const std::string text = SummedProduct("500") + Sort("%k, %v", true);
  for (const int64_t jaxlib : {kOldJaxlib, kNewJaxlib}) {
    for (size_t length = 0; length <= text.size(); ++length) {
      EstimateHiddenMemory(text.substr(0, length), kThreads, jaxlib);
    }
    for (size_t at = 0; at < text.size(); ++at) {
      for (const char c : {'9', ',', '0', '}', '('}) {
        std::string changed = text;
        changed[at] = c;
        EstimateHiddenMemory(changed, kThreads, jaxlib);
      }
    }
  }
}

TEST(HiddenMemoryTest, TakesTimeInProportionToTheText) {
  std::string text = "ENTRY %main () -> f32[] {\n  %x0 = f32[8]{0} parameter(0)\n";
  constexpr int kInstructions = 20000;
  for (int i = 1; i <= kInstructions; ++i) {
    text += "  %x" + std::to_string(i) + " = f32[8]{0} add(%x" + std::to_string(i - 1) +
            ", %x0), metadata={op_name=\"a name of the usual length\"}\n";
  }
  text += "}\n";
  const auto start = std::chrono::steady_clock::now();
  EstimateHiddenMemory(text, kThreads, kNewJaxlib);
  const auto taken = std::chrono::steady_clock::now() - start;
  // Some thirty times what it takes, for slow machines and sanitizers.
  EXPECT_LT(taken, std::chrono::seconds(1));
}

TEST(HiddenMemoryTest, BoundsWhatXlaCounts) {
  constexpr std::string_view kProgram = R"(%fused (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %big = f32[8,1000]{1,0} broadcast(%p), dimensions={0}
  ROOT %r = f32[8]{0} reduce(%big, %p), dimensions={1}
}

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %fusion = f32[8]{0} fusion(%x), kind=kLoop, calls=%fused
  %view = f32[8]{0} bitcast(%fusion)
  ROOT %out = f32[8]{0} copy(%view)
}
)";
  // The argument, the fusion's result and the copy, each behind a gap; nothing inside the fusion.
  EXPECT_EQ(EstimateHiddenMemory(kProgram, 2, 12).value_bytes, 3 * (32 + 64));
}

}  // namespace
}  // namespace plimsoll
