#include "kernels/word_reader.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "kernels/tile_program.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

constexpr std::array<std::string_view, 6> kComparisons = {"eq", "ne", "lt", "le", "gt", "ge"};

}  // namespace

bool WordReader::NextLine() {
  if (text_.empty()) return false;
  const size_t end = std::min(text_.find('\n'), text_.size());
  line_ = text_.substr(0, end);
  text_.remove_prefix(std::min(end + 1, text_.size()));
  ++number_;
  return true;
}

void WordReader::SkipSpace() {
  line_.remove_prefix(std::min(line_.find_first_not_of(" ,"), line_.size()));
}

bool WordReader::AtEndOfLine() {
  SkipSpace();
  return line_.empty();
}

Status WordReader::ExpectEndOfLine() {
  if (!AtEndOfLine()) return Error("`", line_, "` is too much");
  return OkStatus();
}

bool WordReader::StartsWith(char c) {
  SkipSpace();
  return line_.starts_with(c);
}

bool WordReader::Take(char c) {
  if (!StartsWith(c)) return false;
  line_.remove_prefix(1);
  return true;
}

std::string_view WordReader::Word() {
  SkipSpace();
  const auto* end = llvm::find_if(
      line_, [](char c) { return c == ' ' || c == ',' || c == '[' || c == ']' || c == '='; });
  const std::string_view word = line_.substr(0, static_cast<size_t>(end - line_.begin()));
  line_.remove_prefix(word.size());
  return word;
}

StatusOr<ScalarType> WordReader::ReadType() {
  const std::string_view word = Word();
  const std::optional<ScalarType> type = ScalarTypeFromName(word);
  if (!type) return Error("there is no type `", word, "`");
  return *type;
}

StatusOr<int> WordReader::ReadOperand() {
  if (!Take('%')) return Error("a value is missing");
  return ToNumber<int>(Word());
}

StatusOr<std::vector<int>> WordReader::ReadOperands() {
  std::vector<int> operands;
  while (!AtEndOfLine()) {
    ASSIGN_OR_RETURN(const int operand, ReadOperand());
    operands.push_back(operand);
  }
  return operands;
}

StatusOr<Opcode> WordReader::ToOpcode(std::string_view word) const {
  const Opcode opcode =
      FindOpcode(word.starts_with("chlo.") ? std::string(word) : StrCat("stablehlo.", word));
  if (!IsTileOpcode(opcode)) return Error("there is no op `", word, "`");
  return opcode;
}

StatusOr<Comparison> WordReader::ReadComparison() {
  const std::string_view name = Word();
  const auto* found = llvm::find(kComparisons, name);
  if (found == kComparisons.end()) return Error("there is no comparison `", name, "`");
  return static_cast<Comparison>(found - kComparisons.begin());
}

std::string ComputeText(Opcode opcode, Comparison comparison, ScalarType type,
                        llvm::ArrayRef<int> operands) {
  std::string text(ShortName(opcode));
  if (opcode == Opcode::kCompare) {
    text += StrCat(" ", kComparisons[static_cast<size_t>(comparison)]);
  }
  if (opcode == Opcode::kConvert || opcode == Opcode::kBitcastConvert) {
    text += StrCat(" ", Name(type));
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    text += StrCat(i == 0 ? " %" : ", %", operands[i]);
  }
  return text;
}

}  // namespace plimsoll
