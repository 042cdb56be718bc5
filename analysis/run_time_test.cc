#include "analysis/run_time.h"

#include <memory>
#include <string>
#include <string_view>

#include "analysis/machine_speed.h"
#include "analysis/testing.h"
#include "gtest/gtest.h"

namespace plimsoll::testing {
namespace {

double Seconds(const std::unique_ptr<Module>& module) {
  return module == nullptr ? 0 : SecondsOf(*module->main()->entry_block());
}

TEST(RunTimeTest, AProductTakesAsLongAsItsSums) {
  const auto product = [](std::string_view left, std::string_view right) {
    return Seconds(
        OneOp({left, right}, StrCat(R"(%p = "stablehlo.dot_general"(%0, %1) <{
        dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1],
        rhs_contracting_dimensions = [0]>}> : (tensor<)",
                                    left, ">, tensor<", right, ">) -> tensor<1000x2000xf32>")));
  };
  // But for what has to be read and written.
  EXPECT_NEAR(product("1000x3000xf32", "3000x2000xf32") / product("1000x300xf32", "300x2000xf32"),
              10, 1);
}

TEST(RunTimeTest, SlowerMachinesTakeLonger) {
  const std::unique_ptr<Module> product = OneOp({"1000x3000xf32", "3000x2000xf32"},
                                                R"(%p = "stablehlo.dot_general"(%0, %1) <{
        dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1],
        rhs_contracting_dimensions = [0]>}> :
        (tensor<1000x3000xf32>, tensor<3000x2000xf32>) -> tensor<1000x2000xf32>)");
  ASSERT_NE(product, nullptr);
  const auto seconds = [&](const MachineSpeed& speed) {
    SetSpeedOfMachine(speed);
    const double found = SecondsOfProgram(*product->main()->entry_block(), 64 << 20);
    SetSpeedOfMachine({});
    return found;
  };
  const double usual = seconds({});
  EXPECT_GT(seconds({.products = 4}), 2 * usual);
  EXPECT_GT(seconds({.pages = 4}), 1.2 * usual);
  EXPECT_LT(seconds({.elementwise = 4}), 1.1 * usual);
}

TEST(RunTimeTest, OnlyFactorsThatAreUsedOftenAreCopied) {
  const auto seconds = [](int rows) {
    const std::unique_ptr<Module> product =
        OneOp({StrCat(rows, "x64xf32"), "64x1000000xf32"},
              StrCat(R"(%p = "stablehlo.dot_general"(%0, %1) <{
        dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1],
        rhs_contracting_dimensions = [0]>}> : (tensor<)",
                     rows, "x64xf32>, tensor<64x1000000xf32>) -> tensor<", rows, "x1000000xf32>"));
    return product == nullptr ? 0 : SecondsOfProgram(*product->main()->entry_block(), 0);
  };
  EXPECT_GT(seconds(2), 2.2 * seconds(1));
  EXPECT_LT(seconds(3), 1.5 * seconds(2));
}

// Rows of that many numbers, read from or added to 1000 others.
double SecondsOfRead(int rows, int size) {
  const std::string updates = StrCat(rows, "x", size, "xf32");
  const std::string operand = StrCat("1000x", size, "xf32");
  const std::string indices = StrCat(rows, "x1xi32");
  return Seconds(OneOp({operand, indices}, StrCat(R"(%g = "stablehlo.gather"(%0, %1) <{
        dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
        start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, )",
                                                  size, ">}> : (tensor<", operand, ">, tensor<",
                                                  indices, ">) -> tensor<", updates, ">")));
}

double SecondsOfAdding(int rows, int size) {
  const std::string updates = StrCat(rows, "x", size, "xf32");
  const std::string operand = StrCat("1000x", size, "xf32");
  const std::string indices = StrCat(rows, "x1xi32");
  return Seconds(
      OneOp({operand, indices, updates}, StrCat(R"(%s = "stablehlo.scatter"(%0, %1, %2) <{
        scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
        ^bb1(%a: tensor<f32>, %b: tensor<f32>):
          %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
          "stablehlo.return"(%c) : (tensor<f32>) -> ()
        }) : (tensor<)",
                                                operand, ">, tensor<", indices, ">, tensor<",
                                                updates, ">) -> tensor<", operand, ">")));
}

TEST(RunTimeTest, GathersAndScattersTakeTimeForEachRow) {
  EXPECT_NEAR(SecondsOfRead(100000, 16) / SecondsOfRead(10000, 16), 10, 1);
  EXPECT_NEAR(SecondsOfAdding(100000, 16) / SecondsOfAdding(10000, 16), 9, 1);
  // As many numbers in fewer rows.
  EXPECT_GT(SecondsOfRead(160000, 1), 2 * SecondsOfRead(10000, 16));
  EXPECT_GT(SecondsOfAdding(160000, 1), 2 * SecondsOfAdding(10000, 16));
  // What is there is copied.
  EXPECT_GT(SecondsOfAdding(100, 1000), SecondsOfRead(100, 1000));
}

// A loop that adds a vector of a million numbers to itself until `condition` says %c.
std::unique_ptr<Module> Loop(std::string_view start, std::string_view condition) {
  return Program({"1000000xf32", "i32"},
                 StrCat("%start = \"stablehlo.constant\"() <{value = dense<", start,
                        R"(> : tensor<i32>}> : () -> tensor<i32>
  %loop:2 = "stablehlo.while"(%start, %0) ({
  ^bb1(%i: tensor<i32>, %s: tensor<1000000xf32>):
    %n = "stablehlo.constant"() <{value = dense<100> : tensor<i32>}> : () -> tensor<i32>
    %c = )",
                        condition, R"(
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb2(%i: tensor<i32>, %s: tensor<1000000xf32>):
    %step = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
    %j = "stablehlo.add"(%i, %step) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %t = "stablehlo.add"(%s, %s) : (tensor<1000000xf32>, tensor<1000000xf32>) -> tensor<1000000xf32>
    "stablehlo.return"(%j, %t) : (tensor<i32>, tensor<1000000xf32>) -> ()
  }) : (tensor<i32>, tensor<1000000xf32>) -> (tensor<i32>, tensor<1000000xf32>))"),
                 {{"%loop#1", "1000000xf32"}});
}

std::string LessThan(std::string_view end) {
  return StrCat("\"stablehlo.compare\"(%i, ", end,
                ") <{comparison_direction = #stablehlo<comparison_direction LT>}> : "
                "(tensor<i32>, tensor<i32>) -> tensor<i1>");
}

TEST(RunTimeTest, ALoopTakesAllOfItsTurns) {
  const double turn = Seconds(Loop("98", LessThan("%n")));
  EXPECT_GT(turn, 0);
  EXPECT_NEAR(Seconds(Loop("0", LessThan("%n"))), 50 * turn, turn);
  EXPECT_NEAR(Seconds(Loop("60", LessThan("%n"))), 20 * turn, turn);
  EXPECT_LT(Seconds(Loop("100", LessThan("%n"))), turn / 10);
}

TEST(RunTimeTest, ALoopComputesInAllOfItsTurns) {
  const std::unique_ptr<Module> loop = Loop("60", LessThan("%n"));
  ASSERT_NE(loop, nullptr);
  // In each of 20 turns a million sums, and one of the counter.
  EXPECT_EQ(FlopsOf(*loop->main()->entry_block()), 20 * 1'000'001);
}

TEST(RunTimeTest, ALoopThatDoesNotSayHowOftenItRunsIsNotForNothing) {
  const double turn = Seconds(Loop("98", LessThan("%n")));
  EXPECT_NEAR(Seconds(Loop("0", LessThan("%1"))), 10 * turn, turn);
}

std::string Call(std::string_view result, std::string_view routine, std::string_view options,
                 std::string_view operands, std::string_view types) {
  return StrCat(result, " = \"stablehlo.custom_call\"(", operands,
                ") <{call_target_name = \"lapack_", routine, "_ffi\"}> {mhlo.backend_config = {",
                options, "}} : ", types, "\n");
}

TEST(RunTimeTest, FactorsAndSolvesOfLapackTakeTheCubeOfTheirSize) {
  const double cube = Seconds(OneOp({"1000x1000xf32"}, R"(%c = "stablehlo.cholesky"(%0)
    : (tensor<1000x1000xf32>) -> tensor<1000x1000xf32>)"));
  const std::string lu =
      Call("%f:3", "sgetrf", "", "%0",
           "(tensor<1000x1000xf32>) -> (tensor<1000x1000xf32>, tensor<1000xi32>, tensor<i32>)");
  const std::string cholesky =
      Call("%f:2", "spotrf", "uplo = 76 : ui8", "%0",
           "(tensor<1000x1000xf32>) -> (tensor<1000x1000xf32>, tensor<i32>)");
  const std::string solve =
      Call("%f", "strsm", "diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8",
           "%0, %0", "(tensor<1000x1000xf32>, tensor<1000x1000xf32>) -> tensor<1000x1000xf32>");
  const std::string other =
      Call("%f", "sunknown", "", "%0", "(tensor<1000x1000xf32>) -> tensor<1000x1000xf32>");
  // What reads and writes memory comes on top.
  EXPECT_NEAR(Seconds(OneOp({"1000x1000xf32"}, cholesky)), cube, 0.1 * cube);
  EXPECT_NEAR(Seconds(OneOp({"1000x1000xf32"}, lu)), 2 * cube, 0.1 * cube);
  EXPECT_NEAR(Seconds(OneOp({"1000x1000xf32"}, solve)), 3 * cube, 0.1 * cube);
  EXPECT_LT(Seconds(OneOp({"1000x1000xf32"}, other)), 0.1 * cube);
}

TEST(RunTimeTest, WhatIsDoneAfterAFailureIsRare) {
  const auto choose = [](std::string_view direction) {
    return Seconds(Program(
        {"1000x1000xf32"},
        StrCat(
            Call("%f:2", "spotrf", "uplo = 76 : ui8", "%0",
                 "(tensor<1000x1000xf32>) -> (tensor<1000x1000xf32>, tensor<i32>)"),
            R"(%zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %c = "stablehlo.compare"(%f#1, %zero) <{
    comparison_direction = #stablehlo<comparison_direction )",
            direction, R"(>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %r = "stablehlo.if"(%c) ({
    "stablehlo.return"(%0) : (tensor<1000x1000xf32>) -> ()
  }, {
    %p = "stablehlo.dot_general"(%0, %0) <{dot_dimension_numbers = #stablehlo.dot<
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}>
      : (tensor<1000x1000xf32>, tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
    "stablehlo.return"(%p) : (tensor<1000x1000xf32>) -> ()
  }) : (tensor<i1>) -> tensor<1000x1000xf32>)"),
        {{"%r", "1000x1000xf32"}}));
  };
  EXPECT_LT(choose("EQ") + 0.01, choose("NE"));
}

TEST(SecondsOfProgramTest, TemporariesTakeTime) {
  const std::unique_ptr<Module> module = Loop("0", LessThan("%n"));
  ASSERT_NE(module, nullptr);
  const Block& body = *module->main()->entry_block();
  EXPECT_NEAR(SecondsOfProgram(body, 1'000'000'000) - SecondsOfProgram(body, 0), 0.27, 1e-6);
}

// XLA compiles a loop as a whole if it is small and calls no library.
TEST(SecondsOfProgramTest, ToStartOpsOfLoopsTakesTime) {
  const auto seconds = [](std::string_view size, std::string_view op) {
    const std::string tensor = StrCat("tensor<", size, "xf32>");
    const std::string types = StrCat("(tensor<i32>, ", tensor, ")");
    const std::string state = StrCat("(%i: tensor<i32>, %x: ", tensor, "):\n");
    const std::unique_ptr<Module> module = Program(
        {StrCat(size, "xf32")},
        StrCat(
            R"(%n = "stablehlo.constant"() <{value = dense<100> : tensor<i32>}> : () -> tensor<i32>
  %z = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %l:2 = "stablehlo.while"(%z, %0) ({
  ^bb0)",
            state,
            R"(%c = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}>
      : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0)",
            state, R"(%next = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %y = )",
            op, "(%x) <{", op.ends_with("call\"") ? "call_target_name = \"f\"" : "", "}> : (",
            tensor, ") -> ", tensor, "\n\"stablehlo.return\"(%next, %y) : ", types,
            " -> () }) : ", types, " -> ", types),
        {{"%l#1", StrCat(size, "xf32")}});
    return module == nullptr ? 0 : SecondsOfProgram(*module->main()->entry_block(), 0);
  };
  constexpr std::string_view kNegate = "\"stablehlo.negate\"";
  const double whole = seconds("1000", kNegate);
  EXPECT_GT(whole, 0);
  EXPECT_GT(seconds("1000", "\"stablehlo.custom_call\""), 1.5 * whole);
  EXPECT_GT(seconds("100000", kNegate), 1.5 * whole);
  EXPECT_LT(seconds("10000", kNegate), 1.5 * whole);
}

TEST(SecondsOfProgramTest, SmallProductsOfABatchTakeLonger) {
  const auto seconds = [](std::string_view batch, std::string_view rows) {
    const std::string type = StrCat(batch, "x", rows, "x32xf32");
    const std::unique_ptr<Module> module =
        OneOp({type, StrCat(batch, "x32x32xf32")},
              StrCat(R"(%p = "stablehlo.dot_general"(%0, %1) <{
        dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0],
        rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2],
        rhs_contracting_dimensions = [1]>}> : (tensor<)",
                     type, ">, tensor<", batch, "x32x32xf32>) -> tensor<", type, ">"));
    return module == nullptr ? 0 : SecondsOfProgram(*module->main()->entry_block(), 0);
  };
  const double of_few = seconds("10", "10000");
  EXPECT_GT(of_few, 0);
  EXPECT_GT(seconds("10000", "10"), 5 * of_few);
}

// XLA fuses what makes the elements of a short sum into it. If that is long, it has no vectors.
TEST(SecondsOfProgramTest, ShortSumsOfWhatTakesManyOpsTakeLong) {
  const auto seconds = [](std::string_view length, int ops) {
    const std::string type = StrCat("tensor<1000x", length, "x100xf32>");
    std::string text =
        R"(%zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  )";
    std::string last = "%0";
    for (int i = 0; i < ops; ++i) {
      const std::string name = StrCat("%x", i);
      text += StrCat(name, " = \"stablehlo.negate\"(", last, ") : (", type, ") -> ", type, "\n");
      last = name;
    }
    text += StrCat("%r = \"stablehlo.reduce\"(", last, R"(, %zero) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : ()",
                   type, ", tensor<f32>) -> tensor<1000x100xf32>");
    const std::unique_ptr<Module> module =
        Program({StrCat("1000x", length, "x100xf32")}, text, {{"%r", "1000x100xf32"}});
    return module == nullptr ? 0 : SecondsOfProgram(*module->main()->entry_block(), 0);
  };
  EXPECT_GT(seconds("20", 40), 10 * seconds("20", 4));
  // Few are unrolled.
  EXPECT_LT(seconds("4", 40), seconds("20", 40) / 10);
}

// Each row has its own best, which come and go.
TEST(SecondsOfProgramTest, TheBestOfShortRowsTakeLonger) {
  const auto seconds = [](std::string_view rows, std::string_view columns, std::string_view best) {
    const std::string type = StrCat("tensor<", rows, "x", columns, "xf32>");
    const std::unique_ptr<Module> module = OneOp(
        {StrCat(rows, "x", columns, "xf32")},
        StrCat("%v, %i = \"chlo.top_k\"(%0) <{k = ", best, " : i64}> : (", type, ") -> (tensor<",
               rows, "x", best, "xf32>, tensor<", rows, "x", best, "xi32>)"));
    return module == nullptr ? 0 : SecondsOfProgram(*module->main()->entry_block(), 0);
  };
  const double of_long_rows = seconds("30", "100000", "10");
  EXPECT_GT(of_long_rows, 0);
  EXPECT_GT(seconds("12000", "250", "10"), 3 * of_long_rows);
  EXPECT_LT(seconds("12000", "250", "1"), 1.5 * of_long_rows);
}

TEST(SecondsOfPartTest, PartsMakeUpTheProgram) {
  const std::unique_ptr<Module> module = Program({"1000x1000xf32"}, R"(
  %t = "stablehlo.tanh"(%0) : (tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  %p = "stablehlo.dot_general"(%t, %0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<1000x1000xf32>, tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
)",
                                                 {{"%p", "1000x1000xf32"}});
  ASSERT_NE(module, nullptr);
  const Block& body = *module->main()->entry_block();
  const Op& product = *body.last()->operand(0)->defining_op();
  const Op& tanh = *product.operand(0)->defining_op();
  const double all = SecondsOfPart(body, {&tanh, &product});
  // Each has a result of 4 MB, and both are there at once.
  EXPECT_NEAR(all, SecondsOfProgram(body, 8'000'000), 1e-9);
  EXPECT_LT(SecondsOfPart(body, {&tanh}), SecondsOfPart(body, {&product}));
  EXPECT_LT(SecondsOfPart(body, {&product}), all);
  EXPECT_EQ(SecondsOfPart(body, {}), 0);
}

TEST(SecondsOfProgramTest, WhatIsFusedTakesLittle) {
  const auto seconds = [](std::string_view op) {
    const std::unique_ptr<Module> module = OneOp(
        {"1000x1000xf32"},
        StrCat("%r = \"", op, "\"(%0) : (tensor<1000x1000xf32>) -> ", "tensor<1000x1000xf32>"));
    return module == nullptr ? 0 : SecondsOfProgram(*module->main()->entry_block(), 0);
  };
  EXPECT_GT(seconds("stablehlo.tanh"), 3 * seconds("stablehlo.negate"));
}

}  // namespace
}  // namespace plimsoll::testing
