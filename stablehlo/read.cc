#include "stablehlo/read.h"

#include <utility>

#include "stablehlo/bytecode_reader.h"
#include "stablehlo/text_reader.h"

namespace plimsoll {
namespace {

// Text holds no zero bytes and starts with something printable.
bool LooksLikeText(std::string_view input) {
  const std::string_view start = input.substr(0, 4096);
  return start.find('\0') == std::string_view::npos &&
         start.find_first_not_of(" \t\r\n") != std::string_view::npos;
}

}  // namespace

StatusOr<std::unique_ptr<Module>> ReadModule(std::string_view input, std::string_view name,
                                             std::shared_ptr<Context> context) {
  if (IsBytecode(input)) return ReadBytecode(input, name, std::move(context));
  if (input.empty()) {
    return Status(ErrorCode::kNotAProgram,
                  StrCat(name, ": is empty, expected a StableHLO program"));
  }
  if (!LooksLikeText(input)) {
    return Status(
        ErrorCode::kNotAProgram,
        StrCat(name, ": is neither MLIR bytecode (it would start with \"ML\\xEFR\") nor text"));
  }
  return ReadText(input, name, std::move(context));
}

}  // namespace plimsoll
