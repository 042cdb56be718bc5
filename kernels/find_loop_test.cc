#include "kernels/find_loop.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/verify.h"
#include "kernels/insert_kernels.h"
#include "kernels/loop_text.h"

namespace plimsoll {
namespace {

using testing::BodyText;
using ::testing::HasSubstr;
using testing::NamedType;
using ::testing::Not;
using testing::Program;

// A loop that counts to 7 and carries one value, whose body makes %n of %x.
std::string Counted(std::string_view type, std::string_view body, std::string_view initial = "%0") {
  return StrCat(R"(
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %w:2 = "stablehlo.while"(%zero, )",
                initial, R"() ({
    ^bb0(%i: tensor<i32>, %x: tensor<)",
                type, R"(>):
    %seven = "stablehlo.constant"() <{value = dense<7> : tensor<i32>}> : () -> tensor<i32>
    %c = "stablehlo.compare"(%i, %seven) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
    ^bb0(%i: tensor<i32>, %x: tensor<)",
                type, R"(>):
    )",
                body, R"(
    %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %j = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%j, %n) : (tensor<i32>, tensor<)",
                type, R"(>) -> ()
  }) : (tensor<i32>, tensor<)",
                type, R"(>) -> (tensor<i32>, tensor<)", type, R"(>)
)");
}

const Op* FirstLoop(const Module& module) {
  for (const Op& op : *module.main()->entry_block()) {
    if (op.Is(Opcode::kWhile)) return &op;
  }
  return nullptr;
}

struct Found {
  std::string program;
  std::string reason;
  std::optional<int64_t> turns;
};

Found Find(const std::vector<std::string_view>& arguments, std::string_view ops,
           std::string_view type) {
  const std::unique_ptr<Module> module = Program(arguments, ops, {{"%w#1", type}});
  Found found;
  if (module == nullptr) return found;
  const std::optional<FoundLoop> loop = FindLoop(*FirstLoop(*module), found.reason);
  if (!loop) return found;
  found.program = WriteLoop(loop->program);
  found.turns = loop->turns;
  return found;
}

TEST(FindLoop, KeepsTheStateOfEachElement) {
  const Found found = Find({"100xf32"}, Counted("100xf32", R"(
    %n = "stablehlo.multiply"(%x, %0) : (tensor<100xf32>, tensor<100xf32>) -> tensor<100xf32>)"),
                           "100xf32");
  EXPECT_EQ(found.program, R"(loop
operand f32[b]
%0 = constant i32 0
%1 = state i32 %0
%2 = load 0 0
%3 = state f32[b] %2
%4 = constant i32 7
%5 = compare lt %1, %4
%6 = multiply %3, %2
%7 = constant i32 1
%8 = add %1, %7
next %1 = %8
next %3 = %6
while %5
result f32[b] = %3
)") << found.reason;
  EXPECT_EQ(found.turns, 7);
}

TEST(FindLoop, UnrollsShortDimensions) {
  const Found found = Find({"100x2xf32"}, Counted("100x2xf32", R"(
    %a = "stablehlo.slice"(%x) <{limit_indices = array<i64: 100, 1>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<100x2xf32>) -> tensor<100x1xf32>
    %b = "stablehlo.slice"(%x) <{limit_indices = array<i64: 100, 2>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 1>}> : (tensor<100x2xf32>) -> tensor<100x1xf32>
    %m = "stablehlo.negate"(%a) : (tensor<100x1xf32>) -> tensor<100x1xf32>
    %n = "stablehlo.concatenate"(%b, %m) <{dimension = 1 : i64}> : (tensor<100x1xf32>, tensor<100x1xf32>) -> tensor<100x2xf32>)"),
                           "100x2xf32");
  EXPECT_THAT(found.program, HasSubstr(R"(%2 = load 0 0
%3 = load 0 1
%4 = state f32[b] %2
%5 = state f32[b] %3
)")) << found.reason;
  EXPECT_THAT(found.program, HasSubstr("next %4 = %5\n"));
  EXPECT_THAT(found.program, HasSubstr("result f32[b, 2] = %4, %5\n"));
}

TEST(FindLoop, MultipliesBySmallMatrices) {
  const Found found = Find({"100x2xf32", "2x2xf32"}, Counted("100x2xf32", R"(
    %n = "stablehlo.dot_general"(%x, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<100x2xf32>, tensor<2x2xf32>) -> tensor<100x2xf32>)"),
                           "100x2xf32");
  EXPECT_THAT(found.program, HasSubstr("operand f32[2, 2]\n")) << found.reason;
  EXPECT_THAT(found.program, HasSubstr("load 1 3\n"));
}

TEST(FindLoop, TakesSeveralDimensionsAsOneBatch) {
  const Found found = Find({"5x20xf32"}, Counted("5x20xf32", R"(
    %p = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<5x20xf32>
    %n = "stablehlo.add"(%x, %p) : (tensor<5x20xf32>, tensor<5x20xf32>) -> tensor<5x20xf32>)"),
                           "5x20xf32");
  EXPECT_THAT(found.program, HasSubstr("operand f32[b]\n")) << found.reason;
  EXPECT_THAT(found.program, HasSubstr("= position i64\n"));
  EXPECT_THAT(found.program, HasSubstr("= divide "));
}

TEST(FindLoop, UnrollsLoopsInside) {
  const Found found = Find({"100xf32"}, Counted("100xf32", R"(
    %start = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %v:2 = "stablehlo.while"(%start, %x) ({
      ^bb0(%k: tensor<i32>, %y: tensor<100xf32>):
      %two = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
      %d = "stablehlo.compare"(%k, %two) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%d) : (tensor<i1>) -> ()
    }, {
      ^bb0(%k: tensor<i32>, %y: tensor<100xf32>):
      %more = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %l = "stablehlo.add"(%k, %more) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %z = "stablehlo.tanh"(%y) : (tensor<100xf32>) -> tensor<100xf32>
      "stablehlo.return"(%l, %z) : (tensor<i32>, tensor<100xf32>) -> ()
    }) : (tensor<i32>, tensor<100xf32>) -> (tensor<i32>, tensor<100xf32>)
    %n = "stablehlo.negate"(%v#1) : (tensor<100xf32>) -> tensor<100xf32>)"),
                           "100xf32");
  EXPECT_THAT(found.program, HasSubstr(R"(%7 = tanh %3
%8 = tanh %7
%9 = negate %8
)")) << found.reason;
}

TEST(FindLoop, ReadsAndWritesSteps) {
  const std::unique_ptr<Module> module = Program({"7x100xf32", "100xf32"}, R"(
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %nothing = "stablehlo.constant"() <{value = dense<0.0> : tensor<7x100xf32>}> : () -> tensor<7x100xf32>
  %w:4 = "stablehlo.while"(%zero, %1, %nothing, %0) ({
    ^bb0(%i: tensor<i32>, %x: tensor<100xf32>, %ys: tensor<7x100xf32>, %xs: tensor<7x100xf32>):
    %seven = "stablehlo.constant"() <{value = dense<7> : tensor<i32>}> : () -> tensor<i32>
    %c = "stablehlo.compare"(%i, %seven) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
    ^bb0(%i: tensor<i32>, %x: tensor<100xf32>, %ys: tensor<7x100xf32>, %xs: tensor<7x100xf32>):
    %first = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %s = "stablehlo.dynamic_slice"(%xs, %i, %first) <{slice_sizes = array<i64: 1, 100>}> : (tensor<7x100xf32>, tensor<i32>, tensor<i32>) -> tensor<1x100xf32>
    %r = "stablehlo.reshape"(%s) : (tensor<1x100xf32>) -> tensor<100xf32>
    %n = "stablehlo.add"(%x, %r) : (tensor<100xf32>, tensor<100xf32>) -> tensor<100xf32>
    %u = "stablehlo.reshape"(%n) : (tensor<100xf32>) -> tensor<1x100xf32>
    %m = "stablehlo.dynamic_update_slice"(%ys, %u, %i, %first) : (tensor<7x100xf32>, tensor<1x100xf32>, tensor<i32>, tensor<i32>) -> tensor<7x100xf32>
    %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %j = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%j, %n, %m, %xs) : (tensor<i32>, tensor<100xf32>, tensor<7x100xf32>, tensor<7x100xf32>) -> ()
  }) : (tensor<i32>, tensor<100xf32>, tensor<7x100xf32>, tensor<7x100xf32>) -> (tensor<i32>, tensor<100xf32>, tensor<7x100xf32>, tensor<7x100xf32>)
)",
                                                 {{"%w#2", "7x100xf32"}, {"%w#3", "7x100xf32"}});
  ASSERT_NE(module, nullptr);
  std::string reason;
  const std::optional<FoundLoop> loop = FindLoop(*FirstLoop(*module), reason);
  ASSERT_TRUE(loop) << reason;
  EXPECT_EQ(WriteLoop(loop->program), R"(loop
operand f32[b]
operand f32[t, b]
%0 = constant i32 0
%1 = state i32 %0
%2 = load 0 0
%3 = state f32[b] %2
%4 = constant i32 7
%5 = compare lt %1, %4
%6 = load 1 0 at %1
%7 = add %3, %6
%8 = constant i32 1
%9 = add %1, %8
next %1 = %9
next %3 = %7
while %5
result f32[t, b] at %1 = %7
)");
  EXPECT_EQ(loop->unchanged.size(), 1U);
}

TEST(FindLoop, SaysWhyNot) {
  EXPECT_EQ(Find({"4xf32"}, Counted("4xf32", R"(
    %n = "stablehlo.negate"(%x) : (tensor<4xf32>) -> tensor<4xf32>)"),
                 "4xf32")
                .reason,
            "nothing that it changes is long enough to run along");
  EXPECT_EQ(Find({"100xf32"}, Counted("100xf32", R"(
    %n = "stablehlo.reverse"(%x) <{dimensions = array<i64: 0>}> : (tensor<100xf32>) -> tensor<100xf32>)"),
                 "100xf32")
                .reason,
            "the batch is reversed");
  EXPECT_EQ(Find({"100xf32"}, Counted("100xf32", R"(
    %z = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
    %s = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %t = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%t) : (tensor<f32>) -> ()
    }) : (tensor<100xf32>, tensor<f32>) -> tensor<f32>
    %n = "stablehlo.broadcast_in_dim"(%s) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<100xf32>)"),
                 "100xf32")
                .reason,
            "a reduction over the batch");
  EXPECT_EQ(Find({"100x100xf32"}, Counted("100x100xf32", R"(
    %n = "stablehlo.transpose"(%x) <{permutation = array<i64: 1, 0>}> : (tensor<100x100xf32>) -> tensor<100x100xf32>)"),
                 "100x100xf32")
                .program,
            "");
  EXPECT_EQ(Find({"100xcomplex<f32>"}, Counted("100xcomplex<f32>", R"(
    %n = "stablehlo.negate"(%x) : (tensor<100xcomplex<f32>>) -> tensor<100xcomplex<f32>>)"),
                 "100xcomplex<f32>")
                .reason,
            "kernels do not compute with complex<f32>");
}

struct Inserted {
  KernelReport report;
  std::string body;
};

Inserted Insert(const std::vector<std::string_view>& arguments, std::string_view ops,
                const std::vector<NamedType>& results, bool runs_loops = true) {
  const std::unique_ptr<Module> module = Program(arguments, ops, results);
  if (module == nullptr) return {};
  KernelOptions options;
  options.costs.tiles = [](const TileProgram&, llvm::ArrayRef<int64_t>, int64_t) {
    return KernelCost{};
  };
  if (runs_loops) {
    options.costs.loops = [](const LoopProgram&, int64_t batch, int64_t turns) {
      return KernelCost{.seconds = static_cast<double>(batch * turns)};
    };
  }
  StatusOr<KernelReport> report =
      InsertKernels(module->context(), *module->main()->entry_block(), options);
  EXPECT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_TRUE(Verify(*module).ok()) << Verify(*module).ToString();
  return {.report = *std::move(report), .body = BodyText(*module)};
}

constexpr std::string_view kNegate = R"(
    %n = "stablehlo.negate"(%x) : (tensor<5x20xf32>) -> tensor<5x20xf32>)";

TEST(InsertLoops, CallsAKernelInThePlaceOfALoop) {
  const Inserted inserted =
      Insert({"5x20xf32"}, Counted("5x20xf32", kNegate), {{"%w#0", "i32"}, {"%w#1", "5x20xf32"}});
  ASSERT_EQ(inserted.report.inserted.size(), 1U);
  EXPECT_EQ(inserted.report.inserted[0].seconds, 700);
  EXPECT_THAT(inserted.body, Not(HasSubstr("stablehlo.while")));
  EXPECT_THAT(inserted.body, HasSubstr("plimsoll_kernel"));
  EXPECT_THAT(inserted.body, HasSubstr("(tensor<100xf32>) -> tensor<5x20xf32>"));
}

TEST(InsertLoops, LeavesLoopsAloneIfNotAsked) {
  const Inserted inserted = Insert({"5x20xf32"}, Counted("5x20xf32", kNegate),
                                   {{"%w#1", "5x20xf32"}}, /*runs_loops=*/false);
  EXPECT_TRUE(inserted.report.inserted.empty());
  EXPECT_THAT(inserted.body, HasSubstr("stablehlo.while"));
}

TEST(InsertLoops, SaysWhatItLeaves) {
  const Inserted inserted = Insert({"100xf32"}, Counted("100xf32", R"(
    %n = "stablehlo.reverse"(%x) <{dimensions = array<i64: 0>}> : (tensor<100xf32>) -> tensor<100xf32>)"),
                                   {{"%w#1", "100xf32"}});
  EXPECT_TRUE(inserted.report.inserted.empty());
  ASSERT_EQ(inserted.report.refused.size(), 1U);
  EXPECT_EQ(inserted.report.refused[0].reason, "a loop changes it: the batch is reversed");
  EXPECT_THAT(inserted.body, HasSubstr("stablehlo.while"));
}

}  // namespace
}  // namespace plimsoll
