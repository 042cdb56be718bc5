#include "pjrt/c_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "compile/c_api_internal.h"

namespace {

using ::testing::HasSubstr;

constexpr std::string_view kTwice = R"(
func.func @main(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = stablehlo.add %a, %a : tensor<2xf32>
  return %0, %a : tensor<2xf32>, tensor<2xf32>
})";

// The error as "PL101: text"; "" on success.
std::string Take(PlimsollError* error) {
  const std::unique_ptr<PlimsollError> owner(error);
  return error == nullptr ? "" : error->code + ": " + error->message;
}

nlohmann::json TakeJson(PlimsollString* string) {
  const std::unique_ptr<PlimsollString> owner(string);
  return nlohmann::json::parse(string->value);
}

class EngineCApiTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(Take(plimsoll_engine_create(PLIMSOLL_TEST_PLUGIN, R"({"cpu_device_count": 1})",
                                          /*verbose=*/0, &engine_)),
              "");
  }
  void TearDown() override { plimsoll_engine_free(engine_); }

  std::string Compile(std::string_view program, const char* xla_flags,
                      PlimsollExecutable** executable) {
    return Take(
        plimsoll_engine_compile(engine_, program.data(), program.size(), xla_flags, executable));
  }
  std::string CreateBuffer(const char* element_type, int64_t size, const float* data,
                           PlimsollBuffer** buffer) {
    return Take(plimsoll_buffer_create(engine_, element_type, &size, 1, data,
                                       static_cast<size_t>(size) * 4, /*borrow=*/0, buffer));
  }

  PlimsollEngine* engine_ = nullptr;
};

TEST(ElementTypesCApiTest, ListsNamesAndSizes) {
  const nlohmann::json types = TakeJson(plimsoll_element_types());
  EXPECT_EQ(types.front(), (nlohmann::json{{"name", "i1"}, {"numpy", "bool"}, {"host_bytes", 1}}));
  EXPECT_THAT(types, testing::Contains(nlohmann::json{
                         {"name", "bf16"}, {"numpy", "bfloat16"}, {"host_bytes", 2}}));
}

TEST_F(EngineCApiTest, RunsAProgram) {
  EXPECT_STREQ(plimsoll_engine_platform(engine_), "cpu");
  EXPECT_STRNE(plimsoll_engine_version(engine_), "");
  EXPECT_THAT(plimsoll_engine_api_version(engine_), HasSubstr("0."));

  PlimsollExecutable* executable = nullptr;
  ASSERT_EQ(Compile(kTwice, nullptr, &executable), "");
  EXPECT_STREQ(plimsoll_executable_name(executable), "main");
  ASSERT_EQ(plimsoll_executable_result_count(executable), 2);
  EXPECT_EQ(TakeJson(plimsoll_executable_argument_types(executable)),
            nlohmann::json::parse(R"([{"element_type": "f32", "shape": [2]}])"));
  PlimsollString* memory = nullptr;
  ASSERT_EQ(Take(plimsoll_executable_memory(executable, &memory)), "");
  EXPECT_EQ(TakeJson(memory)["argument"], 8);

  const float values[2] = {1, 2};
  PlimsollBuffer* argument = nullptr;
  ASSERT_EQ(CreateBuffer("f32", 2, values, &argument), "");
  PlimsollBuffer* results[2] = {};
  ASSERT_EQ(Take(plimsoll_executable_execute(executable, &argument, 1, results)), "");
  EXPECT_EQ(plimsoll_buffer_is_donated(argument), 0);
  EXPECT_STREQ(plimsoll_buffer_element_type(results[0]), "f32");
  ASSERT_EQ(plimsoll_buffer_rank(results[0]), 1);
  EXPECT_EQ(plimsoll_buffer_shape(results[0])[0], 2);
  float twice[2] = {};
  ASSERT_EQ(plimsoll_buffer_size(results[0]), sizeof(twice));
  ASSERT_EQ(Take(plimsoll_buffer_read(results[0], twice, sizeof(twice))), "");
  EXPECT_THAT(twice, testing::ElementsAre(2, 4));

  plimsoll_executable_free(executable);
  plimsoll_buffer_free(argument);
  for (PlimsollBuffer* result : results) plimsoll_buffer_free(result);
}

TEST(EngineErrorCApiTest, TellsWhatIsWrongWithThePluginOrItsOptions) {
  PlimsollEngine* engine = nullptr;
  EXPECT_EQ(Take(plimsoll_engine_create("/no/such.so", nullptr, 0, &engine)),
            "PL203: PJRT plugin /no/such.so: expected a shared library, found no such file");
  EXPECT_THAT(Take(plimsoll_engine_create(PLIMSOLL_TEST_PLUGIN, "[]", 0, &engine)),
              HasSubstr("PL204: options: expected a JSON object"));
  EXPECT_EQ(engine, nullptr);
}

TEST_F(EngineCApiTest, GivesErrorsAsValues) {
  PlimsollExecutable* executable = nullptr;
  EXPECT_THAT(Compile("nonsense", nullptr, &executable), HasSubstr("PL301: "));
  EXPECT_THAT(Compile(kTwice, "{", &executable), HasSubstr("PL204: "));
  EXPECT_EQ(executable, nullptr);

  const float values[3] = {1, 2, 3};
  PlimsollBuffer* buffer = nullptr;
  EXPECT_EQ(
      CreateBuffer("f6E2M3FN", 3, values, &buffer),
      "PL202: element type f6E2M3FN: expected one that PJRT can move to a device, such as f32 "
      "or i64");
  EXPECT_EQ(CreateBuffer("f64", 3, values, &buffer),
            "PL202: tensor<3xf64>: expected 24 bytes, found 12");
  EXPECT_EQ(buffer, nullptr);

  ASSERT_EQ(Compile(kTwice, nullptr, &executable), "");
  ASSERT_EQ(CreateBuffer("f32", 3, values, &buffer), "");
  PlimsollBuffer* results[2] = {};
  EXPECT_EQ(Take(plimsoll_executable_execute(executable, &buffer, 1, results)),
            "PL202: program main: argument 0: expected tensor<2xf32>, found tensor<3xf32>");
  EXPECT_EQ(results[0], nullptr);
  plimsoll_executable_free(executable);
  plimsoll_buffer_free(buffer);
}

TEST_F(EngineCApiTest, TakesEmptyAndScalarArraysWithoutAddresses) {
  PlimsollBuffer* empty = nullptr;
  const int64_t shape[2] = {0, 3};
  ASSERT_EQ(Take(plimsoll_buffer_create(engine_, "i8", shape, 2, nullptr, 0, /*borrow=*/1, &empty)),
            "");
  EXPECT_EQ(plimsoll_buffer_size(empty), 0);
  EXPECT_EQ(Take(plimsoll_buffer_read(empty, nullptr, 0)), "");
  plimsoll_buffer_free(empty);

  PlimsollBuffer* scalar = nullptr;
  const int8_t value = 7;
  ASSERT_EQ(Take(plimsoll_buffer_create(engine_, "i8", nullptr, 0, &value, 1, 0, &scalar)), "");
  EXPECT_EQ(plimsoll_buffer_rank(scalar), 0);
  plimsoll_buffer_free(scalar);
}

TEST(FreeCApiTest, TakesNull) {
  plimsoll_engine_free(nullptr);
  plimsoll_executable_free(nullptr);
  plimsoll_buffer_free(nullptr);
}

}  // namespace
