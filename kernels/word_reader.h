// Reads the text of a kernel's program: one line after the other, word by word.

#ifndef PLIMSOLL_KERNELS_WORD_READER_H_
#define PLIMSOLL_KERNELS_WORD_READER_H_

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/opcode.h"
#include "ir/status.h"
#include "kernels/scalar_type.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

class WordReader {
 public:
  // `what` names the text in errors: "tile program".
  WordReader(std::string_view what, std::string_view text) : what_(what), text_(text) {}

  // Goes to the next line; false behind the last one.
  bool NextLine();
  bool AtEndOfLine();
  // That nothing is left of the line.
  Status ExpectEndOfLine();
  bool StartsWith(char c);
  // What comes next is that character, which is taken.
  bool Take(char c);
  // Letters, digits, and what names have besides.
  std::string_view Word();

  template <typename... Parts>
  Status Error(const Parts&... parts) const {
    return Status(ErrorCode::kBrokenText, StrCat(what_, ", line ", number_, ": ", parts...));
  }

  template <typename Number>
  StatusOr<Number> ToNumber(std::string_view word) const {
    Number number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size()) {
      return Error("`", word, "` is not a number that fits here");
    }
    return number;
  }

  StatusOr<ScalarType> ReadType();
  // "%3"
  StatusOr<int> ReadOperand();
  // As many as are left of the line.
  StatusOr<std::vector<int>> ReadOperands();
  StatusOr<Opcode> ToOpcode(std::string_view word) const;
  StatusOr<Comparison> ReadComparison();

  // "constant f32 3" behind its word, and "compare lt %0, %1" with it: adds the op to a program.
  template <typename Program>
  StatusOr<int> ReadConstant(Program& program) {
    ASSIGN_OR_RETURN(const ScalarType type, ReadType());
    ASSIGN_OR_RETURN(const uint64_t bits, ToNumber<uint64_t>(Word()));
    return AddConstant(program, type, bits);
  }
  template <typename Program>
  StatusOr<int> ReadCompute(Program& program, std::string_view word) {
    ASSIGN_OR_RETURN(const Opcode opcode, ToOpcode(word));
    if (opcode == Opcode::kConvert || opcode == Opcode::kBitcastConvert) {
      ASSIGN_OR_RETURN(const ScalarType type, ReadType());
      ASSIGN_OR_RETURN(const int operand, ReadOperand());
      return AddConvert(program, opcode, type, operand);
    }
    Comparison comparison = Comparison::kEqual;
    if (opcode == Opcode::kCompare) {
      ASSIGN_OR_RETURN(comparison, ReadComparison());
    }
    ASSIGN_OR_RETURN(std::vector<int> operands, ReadOperands());
    ASSIGN_OR_RETURN(const int op, AddCompute(program, opcode, std::move(operands)));
    program.ops.back().comparison = comparison;
    return op;
  }

 private:
  void SkipSpace();

  std::string_view what_;
  std::string_view text_;
  std::string_view line_;
  int number_ = 0;
};

// "compare lt %0, %1", "convert f32 %2"; the type is the result's.
std::string ComputeText(Opcode opcode, Comparison comparison, ScalarType type,
                        llvm::ArrayRef<int> operands);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_WORD_READER_H_
