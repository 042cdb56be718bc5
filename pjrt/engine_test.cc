#include "pjrt/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <complex>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

// Read by the address sanitizer, if the tests are built with it: a test asks for more memory than
// there is. The sanitizer sets the name.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

namespace plimsoll {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::StartsWith;

constexpr char kAdd[] = R"(
module @add {
  func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %a, %b : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
})";

// The argument's memory is used again for the result.
constexpr char kDoubleInPlace[] = R"(
func.func @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
})";

const Engine& TestEngine() {
  static const Engine* const engine = [] {
    auto created =
        Engine::Create({PLIMSOLL_TEST_PLUGIN, {{"cpu_device_count", int64_t{1}}}, false});
    if (!created.ok()) {
      ADD_FAILURE() << created.status().ToString();
      std::abort();
    }
    return new Engine(*std::move(created));
  }();
  return *engine;
}

Executable Compile(std::string_view program, const CompileOptions& options = {}) {
  auto executable = TestEngine().Compile(program, options);
  if (!executable.ok()) {
    ADD_FAILURE() << executable.status().ToString();
    std::abort();
  }
  return *std::move(executable);
}

template <typename T>
Buffer ToDevice(ElementType element_type, std::vector<int64_t> dimensions,
                const std::vector<T>& values, HostMemory memory = HostMemory::kCopied) {
  auto buffer = TestEngine().ToDevice({element_type, std::move(dimensions)},
                                      std::as_bytes(std::span(values)), memory);
  if (!buffer.ok()) {
    ADD_FAILURE() << buffer.status().ToString();
    std::abort();
  }
  return *std::move(buffer);
}

Buffer FourFloats(const std::vector<float>& values) {
  return ToDevice(ElementType::kF32, {4}, values);
}

template <typename T>
std::vector<T> ToHost(const Buffer& buffer) {
  EXPECT_EQ(buffer.host_bytes() % sizeof(T), 0);
  std::vector<T> values(buffer.host_bytes() / sizeof(T));
  const Status status = buffer.ToHost(std::as_writable_bytes(std::span(values)));
  EXPECT_TRUE(status.ok()) << status.ToString();
  return values;
}

std::vector<Buffer> Execute(Executable& executable, std::vector<const Buffer*> arguments) {
  auto results = executable.Execute(arguments);
  if (!results.ok()) {
    ADD_FAILURE() << results.status().ToString();
    return {};
  }
  return *std::move(results);
}

TEST(EngineTest, TellsWhatItIs) {
  EXPECT_EQ(TestEngine().platform_name(), "cpu");
  EXPECT_THAT(TestEngine().platform_version(), testing::Not(IsEmpty()));
  EXPECT_THAT(TestEngine().api_version(), StartsWith("0."));
}

TEST(EngineTest, ExecutesAnAddition) {
  Executable add = Compile(kAdd);
  EXPECT_EQ(add.name(), "add");
  EXPECT_EQ(add.result_count(), 1);
  const Buffer a = FourFloats({1, 2, 3, 4});
  const Buffer b = FourFloats({10, 20, 30, 40});
  const std::vector<Buffer> results = Execute(add, {&a, &b});
  ASSERT_EQ(results.size(), 1);
  EXPECT_EQ(results[0].type(), (ArrayType{ElementType::kF32, {4}}));
  EXPECT_THAT(ToHost<float>(results[0]), ElementsAre(11, 22, 33, 44));
  // The arguments are still there.
  EXPECT_FALSE(a.IsDonated());
  EXPECT_THAT(ToHost<float>(a), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(ToHost<float>(Execute(add, {&a, &a})[0]), ElementsAre(2, 4, 6, 8));
}

TEST(EngineTest, ExecutesAProgramWithManyResults) {
  Executable program = Compile(R"(
    func.func @main(%a: tensor<2xi32>) -> (tensor<2xi32>, tensor<i1>, tensor<2xi32>) {
      %0 = stablehlo.constant dense<true> : tensor<i1>
      %1 = stablehlo.negate %a : tensor<2xi32>
      return %a, %0, %1 : tensor<2xi32>, tensor<i1>, tensor<2xi32>
    })");
  const Buffer a = ToDevice<int32_t>(ElementType::kS32, {2}, {5, 6});
  const std::vector<Buffer> results = Execute(program, {&a});
  ASSERT_EQ(results.size(), 3);
  EXPECT_THAT(ToHost<int32_t>(results[0]), ElementsAre(5, 6));
  EXPECT_THAT(ToHost<uint8_t>(results[1]), ElementsAre(1));
  EXPECT_THAT(ToHost<int32_t>(results[2]), ElementsAre(-5, -6));
}

TEST(EngineTest, ExecutesAProgramWithoutArgumentsOrResults) {
  Executable program = Compile("func.func @main() { return }");
  EXPECT_THAT(program.Arguments(), Optional(IsEmpty()));
  EXPECT_THAT(Execute(program, {}), IsEmpty());
}

TEST(EngineTest, GivesTheElementsOfAResultTuple) {
  Executable program = Compile(R"(
    func.func @main(%a: tensor<2xi32>) -> tuple<tensor<2xi32>, tensor<2xi32>> {
      %0 = stablehlo.tuple %a, %a : tuple<tensor<2xi32>, tensor<2xi32>>
      return %0 : tuple<tensor<2xi32>, tensor<2xi32>>
    })");
  const Buffer a = ToDevice<int32_t>(ElementType::kS32, {2}, {5, 6});
  EXPECT_EQ(Execute(program, {&a}).size(), 2);
}

TEST(EngineTest, ReadsResultsInRowMajorOrder) {
  // XLA keeps the transpose as another layout of the same bytes if it may.
  Executable program = Compile(R"(
    func.func @main(%a: tensor<2x3xi32>) -> (tensor<3x2xi32> {mhlo.layout_mode = "{0,1}"}) {
      %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>
      return %0 : tensor<3x2xi32>
    })");
  const Buffer a = ToDevice<int32_t>(ElementType::kS32, {2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(ToHost<int32_t>(Execute(program, {&a})[0]), ElementsAre(1, 4, 2, 5, 3, 6));
}

// Every element type goes through the device and through a program, in every shape that is special.
class RoundTripTest : public testing::TestWithParam<ElementTypeInfo> {
 protected:
  // Bytes that are values of the type: sub-byte types use the low bits only, and no float is a NaN
  // whose bits may change.
  static std::vector<uint8_t> Values(const ElementTypeInfo& info, size_t count) {
    std::vector<uint8_t> bytes(count * info.host_bytes);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i % 2);
    return bytes;
  }
};

TEST_P(RoundTripTest, ThroughTheDevice) {
  const ElementTypeInfo& info = GetParam();
  for (const std::vector<int64_t>& dimensions : std::vector<std::vector<int64_t>>{
           {}, {1}, {7}, {2, 5}, {3, 1, 3}, {0}, {4, 0, 2}, {1000, 3}}) {
    const ArrayType type{info.type, dimensions};
    const std::vector<uint8_t> values = Values(info, *type.HostBytes() / info.host_bytes);
    for (const HostMemory memory : {HostMemory::kCopied, HostMemory::kBorrowed}) {
      const Buffer buffer = ToDevice(info.type, dimensions, values, memory);
      EXPECT_EQ(buffer.type(), type);
      EXPECT_EQ(ToHost<uint8_t>(buffer), values) << type.ToString();
    }
  }
}

TEST_P(RoundTripTest, ThroughAProgram) {
  const ElementTypeInfo& info = GetParam();
  const std::string type = StrCat("tensor<3x5x", info.mlir_name, ">");
  Executable program = Compile(StrCat("func.func @main(%a: ", type, ") -> ", type, " {\n",
                                      "  %0 = stablehlo.reverse %a, dims = [0, 1] : ", type, "\n",
                                      "  %1 = stablehlo.reverse %0, dims = [0, 1] : ", type, "\n",
                                      "  return %1 : ", type, "\n}"));
  EXPECT_THAT(program.Arguments(), Optional(ElementsAre(ProgramArgument{{info.type, {3, 5}}})));
  const std::vector<uint8_t> values = Values(info, 15);
  const Buffer argument = ToDevice(info.type, {3, 5}, values);
  const std::vector<Buffer> results = Execute(program, {&argument});
  ASSERT_EQ(results.size(), 1);
  EXPECT_EQ(results[0].type(), argument.type());
  EXPECT_EQ(ToHost<uint8_t>(results[0]), values);
}

INSTANTIATE_TEST_SUITE_P(AllElementTypes, RoundTripTest,
                         testing::ValuesIn(ElementTypes().begin(), ElementTypes().end()),
                         [](const auto& info) { return std::string(info.param.numpy_name); });

TEST(EngineTest, SeesSubByteValuesWithTheirSigns) {
  Executable program = Compile(R"(
    func.func @main(%a: tensor<3xi4>) -> tensor<3xi32> {
      %0 = stablehlo.convert %a : (tensor<3xi4>) -> tensor<3xi32>
      return %0 : tensor<3xi32>
    })");
  const Buffer a = ToDevice<int8_t>(ElementType::kS4, {3}, {-8, -1, 7});
  EXPECT_THAT(ToHost<int32_t>(Execute(program, {&a})[0]), ElementsAre(-8, -1, 7));
  // Back on the host, only the low bits are set.
  EXPECT_THAT(ToHost<int8_t>(a), ElementsAre(8, 15, 7));
}

TEST(EngineTest, SeesComplexAndShortFloatValues) {
  Executable program = Compile(R"(
    func.func @main(%a: tensor<complex<f32>>, %b: tensor<2xbf16>, %c: tensor<1xf8E5M2>)
        -> (tensor<f32>, tensor<2xf32>, tensor<1xf32>) {
      %0 = stablehlo.imag %a : (tensor<complex<f32>>) -> tensor<f32>
      %1 = stablehlo.convert %b : (tensor<2xbf16>) -> tensor<2xf32>
      %2 = stablehlo.convert %c : (tensor<1xf8E5M2>) -> tensor<1xf32>
      return %0, %1, %2 : tensor<f32>, tensor<2xf32>, tensor<1xf32>
    })");
  const Buffer a = ToDevice<std::complex<float>>(ElementType::kC64, {}, {{1, -2}});
  const Buffer b = ToDevice<uint16_t>(ElementType::kBF16, {2}, {0x3f80, 0xc000});
  const Buffer c = ToDevice<uint8_t>(ElementType::kF8E5M2, {1}, {0x3e});
  const std::vector<Buffer> results = Execute(program, {&a, &b, &c});
  EXPECT_THAT(ToHost<float>(results[0]), ElementsAre(-2));
  EXPECT_THAT(ToHost<float>(results[1]), ElementsAre(1, -2));
  EXPECT_THAT(ToHost<float>(results[2]), ElementsAre(1.5));
}

TEST(EngineTest, UsesAlignedBorrowedMemoryItself) {
  constexpr size_t kCount = 1 << 16;
  struct alignas(64) Values {
    float values[kCount] = {};
  };
  const auto host = std::make_unique<Values>();
  const std::span<const float> values(host->values);
  {
    const auto buffer = TestEngine().ToDevice({ElementType::kF32, {int64_t{kCount}}},
                                              std::as_bytes(values), HostMemory::kBorrowed);
    ASSERT_TRUE(buffer.ok());
    // Seen through the engine's buffer, so nothing was copied. (A caller must not do this.)
    host->values[7] = 1;
    EXPECT_EQ(ToHost<float>(*buffer)[7], 1);
  }
  host->values[7] = 2;
}

TEST(DonationTest, TakesTheArgument) {
  Executable program = Compile(kDoubleInPlace);
  const auto memory = program.Memory();
  ASSERT_TRUE(memory.ok()) << memory.status().ToString();
  EXPECT_EQ(memory->alias, 16);

  const Buffer a = FourFloats({1, 2, 3, 4});
  EXPECT_THAT(ToHost<float>(Execute(program, {&a})[0]), ElementsAre(2, 4, 6, 8));
  EXPECT_TRUE(a.IsDonated());
}

TEST(DonationTest, LeavesBorrowedMemoryAlone) {
  struct alignas(64) Values {
    float values[4] = {1, 2, 3, 4};
  };
  const Values host;
  Executable program = Compile(kDoubleInPlace);
  const auto a = TestEngine().ToDevice(
      {ElementType::kF32, {4}}, std::as_bytes(std::span(host.values)), HostMemory::kBorrowed);
  ASSERT_TRUE(a.ok());
  EXPECT_THAT(ToHost<float>(Execute(program, {&*a})[0]), ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(host.values, ElementsAre(1, 2, 3, 4));
}

TEST(DonationTest, ADonatedArrayCannotBeUsedAgain) {
  Executable program = Compile(kDoubleInPlace);
  const Buffer a = FourFloats({1, 2, 3, 4});
  Execute(program, {&a});

  const auto again = program.Execute(std::vector<const Buffer*>{&a});
  EXPECT_EQ(again.status().code(), ErrorCode::kWrongInputs);
  EXPECT_THAT(again.status().message(),
              HasSubstr("argument 0: expected an array with values, found one that an earlier"));
  std::vector<std::byte> bytes(16);
  EXPECT_EQ(a.ToHost(bytes).code(), ErrorCode::kBadArgument);
}

TEST(DonationTest, AnArrayCannotBeDonatedAndReadAtOnce) {
  Executable program = Compile(R"(
    func.func @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<4xf32>)
        -> tensor<4xf32> {
      %0 = stablehlo.add %a, %b : tensor<4xf32>
      return %0 : tensor<4xf32>
    })");
  const Buffer a = FourFloats({1, 2, 3, 4});
  const auto results = program.Execute(std::vector<const Buffer*>{&a, &a});
  EXPECT_EQ(results.status().code(), ErrorCode::kEngineFailure);
  EXPECT_THAT(results.status().message(), StartsWith("the engine could not execute the program"));
}

TEST(MemoryTest, CountsArgumentsResultsAndTemporaries) {
  // The matrix is needed as a whole, twice over: for its own product.
  Executable program = Compile(R"(
    func.func @main(%a: tensor<1000xf32>) -> tensor<f32> {
      %0 = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<1000xf32>) -> tensor<1000x1000xf32>
      %1 = stablehlo.cosine %0 : tensor<1000x1000xf32>
      %2 = stablehlo.dot_general %1, %1, contracting_dims = [1] x [0]
        : (tensor<1000x1000xf32>, tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0, 1]
        : (tensor<1000x1000xf32>, tensor<f32>) -> tensor<f32>
      return %3 : tensor<f32>
    })");
  const auto memory = program.Memory();
  ASSERT_TRUE(memory.ok()) << memory.status().ToString();
  EXPECT_EQ(memory->argument, 4000);
  EXPECT_EQ(memory->output, 4);
  EXPECT_EQ(memory->alias, 0);
  EXPECT_THAT(memory->temporary, Gt(4'000'000));
  EXPECT_EQ(memory->host_temporary, 0);
}

TEST(CompileTest, TakesXlaFlags) {
  CompileOptions options;
  options.xla_flags = {{"xla_cpu_enable_fast_math", true},
                       {"xla_backend_optimization_level", "1"},
                       {"xla_cpu_parallel_codegen_split_count", int64_t{2}}};
  Executable add = Compile(kAdd, options);
  const Buffer a = FourFloats({1, 2, 3, 4});
  EXPECT_THAT(ToHost<float>(Execute(add, {&a, &a})[0]), ElementsAre(2, 4, 6, 8));
}

struct RefusedProgram {
  std::string_view name;
  std::string_view program;
  CompileOptions options;
  std::string_view problem;
};

class RefusedProgramTest : public testing::TestWithParam<RefusedProgram> {};

TEST_P(RefusedProgramTest, GivesAnErrorOfOneLine) {
  const auto executable = TestEngine().Compile(GetParam().program, GetParam().options);
  ASSERT_FALSE(executable.ok());
  EXPECT_EQ(executable.status().code(), ErrorCode::kEngineFailure);
  EXPECT_THAT(executable.status().message(),
              AllOf(StartsWith("the engine could not compile the program ("),
                    HasSubstr(std::string(GetParam().problem))));
  EXPECT_EQ(executable.status().message().find('\n'), std::string_view::npos);
}

INSTANTIATE_TEST_SUITE_P(
    All, RefusedProgramTest,
    testing::Values(
        RefusedProgram{"NoProgram", "", {}, "requires module with `main` function"},
        RefusedProgram{"Nonsense", "nonsense", {}, "error: custom op 'nonsense' is unknown"},
        RefusedProgram{"BrokenBytecode", "ML\xefR\x06", {}, "error: "},
        RefusedProgram{"UnknownCustomCall",
                       R"(func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
                            %0 = stablehlo.custom_call @nobody(%a) {api_version = 4 : i32}
                                : (tensor<4xf32>) -> tensor<4xf32>
                            return %0 : tensor<4xf32>
                          })",
                       {},
                       "No FFI handler registered for nobody"},
        RefusedProgram{"DynamicShape",
                       "func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> { return %a : "
                       "tensor<?xf32> }",
                       {},
                       "Unbounded dynamism is disabled"},
        RefusedProgram{"ElementTypeWithoutXla",
                       "func.func @main(%a: tensor<2xf6E2M3FN>) -> tensor<2xf6E2M3FN> { return %a "
                       ": tensor<2xf6E2M3FN> }",
                       {},
                       "Invalid element type"},
        RefusedProgram{"UnknownFlag",
                       kAdd,
                       {1, 1, {{"xla_nobody", true}}},
                       "No such compile option: 'xla_nobody'"},
        RefusedProgram{"WrongFlagValue",
                       kAdd,
                       {1, 1, {{"xla_cpu_enable_fast_math", int64_t{7}}}},
                       "'7' is not a valid bool value"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(CompileTest, CutsLongMessagesShort) {
  // MLIR's message holds the program.
  const auto executable =
      TestEngine().Compile(StrCat("func.func @", std::string(5000, 'x'), "() { return }"), {});
  ASSERT_FALSE(executable.ok());
  EXPECT_LT(executable.status().message().size(), 2200);
  EXPECT_THAT(executable.status().message(), HasSubstr(" more characters)"));
}

TEST(CompileTest, SaysThatAProgramForManyDevicesCannotRunHere) {
  auto engine = Engine::Create({PLIMSOLL_TEST_PLUGIN, {{"cpu_device_count", int64_t{2}}}, false});
  ASSERT_TRUE(engine.ok()) << engine.status().ToString();
  auto executable = engine->Compile(kAdd, {2, 1, {}});
  ASSERT_TRUE(executable.ok()) << executable.status().ToString();
  EXPECT_TRUE(executable->Memory().ok());
  const auto results = executable->Execute({});
  EXPECT_EQ(results.status().code(), ErrorCode::kBadArgument);
  EXPECT_EQ(results.status().message(),
            "program add: expected a program for one device, found one for 2");
}

class WrongInputsTest : public testing::Test {
 protected:
  static std::string ErrorOf(std::vector<const Buffer*> arguments) {
    Executable add = Compile(kAdd);
    const auto results = add.Execute(arguments);
    EXPECT_FALSE(results.ok());
    EXPECT_EQ(results.status().code(), ErrorCode::kWrongInputs);
    return std::string(results.status().message());
  }

  const Buffer good_ = FourFloats({1, 2, 3, 4});
};

TEST_F(WrongInputsTest, TooFew) {
  EXPECT_EQ(ErrorOf({&good_}),
            "program add: expected 2 arguments, found 1; argument 1: expected tensor<4xf32>, found "
            "nothing");
}

TEST_F(WrongInputsTest, TooMany) {
  EXPECT_EQ(ErrorOf({&good_, &good_, &good_}),
            "program add: expected 2 arguments, found 3; argument 2: expected nothing, found "
            "tensor<4xf32>");
}

TEST_F(WrongInputsTest, WrongShape) {
  const Buffer bad = ToDevice<float>(ElementType::kF32, {2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(ErrorOf({&good_, &bad}),
            "program add: argument 1: expected tensor<4xf32>, found tensor<2x2xf32>");
}

TEST_F(WrongInputsTest, WrongElementTypeOfTheSameSize) {
  const Buffer bad = ToDevice<int32_t>(ElementType::kS32, {4}, {1, 2, 3, 4});
  EXPECT_EQ(ErrorOf({&bad, &good_}),
            "program add: argument 0: expected tensor<4xf32>, found tensor<4xi32>");
}

TEST_F(WrongInputsTest, AnotherOrderOfDimensions) {
  Executable program = Compile(R"(
    func.func @main(%a: tensor<2x3xi32> {mhlo.layout_mode = "{0,1}"}) -> tensor<2x3xi32> {
      %0 = stablehlo.negate %a : tensor<2x3xi32>
      return %0 : tensor<2x3xi32>
    })");
  const Buffer a = ToDevice<int32_t>(ElementType::kS32, {2, 3}, {1, 2, 3, 4, 5, 6});
  const auto results = program.Execute(std::vector<const Buffer*>{&a});
  EXPECT_EQ(results.status().code(), ErrorCode::kNotUnderstood);
  EXPECT_THAT(results.status().message(),
              HasSubstr("argument 0: expected an argument in row-major"));
}

TEST(TransferTest, ChecksTheNumberOfBytes) {
  const std::vector<std::byte> bytes(15);
  const auto buffer = TestEngine().ToDevice({ElementType::kF32, {4}}, bytes, HostMemory::kCopied);
  EXPECT_EQ(buffer.status().code(), ErrorCode::kWrongInputs);
  EXPECT_EQ(buffer.status().message(), "tensor<4xf32>: expected 16 bytes, found 15");

  std::vector<std::byte> small(12);
  const Status read = FourFloats({1, 2, 3, 4}).ToHost(small);
  EXPECT_EQ(read.code(), ErrorCode::kBadArgument);
  EXPECT_EQ(read.message(), "to read tensor<4xf32>: expected memory of 16 bytes, found 12");
}

TEST(TransferTest, RefusesImpossibleShapes) {
  for (const std::vector<int64_t>& dimensions :
       std::vector<std::vector<int64_t>>{{-1}, {int64_t{1} << 62, 8}}) {
    const auto buffer =
        TestEngine().ToDevice({ElementType::kF32, dimensions}, {}, HostMemory::kCopied);
    EXPECT_EQ(buffer.status().code(), ErrorCode::kWrongInputs);
  }
}

TEST(TransferTest, SaysThatAResultIsNoArray) {
  Executable program = Compile(R"(
    func.func @main() -> !stablehlo.token {
      %0 = stablehlo.create_token : !stablehlo.token
      return %0 : !stablehlo.token
    })");
  const auto results = program.Execute({});
  EXPECT_EQ(results.status().code(), ErrorCode::kNotUnderstood);
  EXPECT_THAT(results.status().message(), HasSubstr("no array of a known element type"));
}

TEST(ExecuteTest, GivesRunningOutOfMemoryAsAnError) {
  Executable program = Compile(R"(
    func.func @main(%a: tensor<f32>) -> tensor<10000000x1000000xf32> {
      %0 = stablehlo.broadcast_in_dim %a, dims = []
        : (tensor<f32>) -> tensor<10000000x1000000xf32>
      return %0 : tensor<10000000x1000000xf32>
    })");
  const Buffer a = ToDevice<float>(ElementType::kF32, {}, {1});
  const auto results = program.Execute(std::vector<const Buffer*>{&a});
  EXPECT_EQ(results.status().code(), ErrorCode::kEngineFailure);
  EXPECT_THAT(results.status().message(), HasSubstr("(resource exhausted): Out of memory"));
}

TEST(LifetimeTest, ObjectsMayOutliveTheirEngine) {
  auto engine = std::make_unique<Engine>(
      *Engine::Create({PLIMSOLL_TEST_PLUGIN, {{"cpu_device_count", int64_t{1}}}, false}));
  auto add = std::make_unique<Executable>(*engine->Compile(kAdd, {}));
  const std::vector<float> values = {1, 2, 3, 4};
  const auto a = engine->ToDevice({ElementType::kF32, {4}}, std::as_bytes(std::span(values)),
                                  HostMemory::kBorrowed);
  ASSERT_TRUE(a.ok());
  engine.reset();
  const std::vector<Buffer> results = Execute(*add, {&*a, &*a});
  add.reset();
  EXPECT_THAT(ToHost<float>(results[0]), ElementsAre(2, 4, 6, 8));
}

}  // namespace
}  // namespace plimsoll
