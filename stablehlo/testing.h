// What this room's tests share.

#ifndef PLIMSOLL_STABLEHLO_TESTING_H_
#define PLIMSOLL_STABLEHLO_TESTING_H_

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "ir/graph.h"
#include "ir/status.h"
#include "stablehlo/text_reader.h"
#include "stablehlo/text_writer.h"

namespace plimsoll::testing {

// A file of stablehlo/testdata.
inline std::string ReadTestData(std::string_view name) {
  std::ifstream file(StrCat(PLIMSOLL_TESTDATA, "/", name), std::ios::binary);
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The text, read and written again.
inline std::string Rewrite(std::string_view text, Locations locations = Locations::kOmit) {
  const StatusOr<std::unique_ptr<Module>> module = ReadText(text, "t.mlir");
  return module.ok() ? WriteText(**module, locations) : module.status().ToString();
}

// The error that reading the text gives, or "ok".
inline std::string ReadError(std::string_view text) {
  return ReadText(text, "t.mlir").status().ToString();
}

}  // namespace plimsoll::testing

#endif  // PLIMSOLL_STABLEHLO_TESTING_H_
