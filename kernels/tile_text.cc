#include "kernels/tile_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

constexpr std::array<std::string_view, 6> kComparisons = {"eq", "ne", "lt", "le", "gt", "ge"};

std::string ArrayText(const TileProgram& program, const TileArray& array) {
  std::string text = StrCat(Name(array.type), "[");
  for (size_t i = 0; i < array.axes.size(); ++i) {
    text += StrCat(i == 0 ? "" : ", ", AxisName(program, array.axes[i]));
  }
  return text + "]";
}

std::string OpText(const TileProgram& program, const TileOp& op) {
  switch (op.kind) {
    case TileOpKind::kLoad:
      return StrCat("load ", op.index);
    case TileOpKind::kIota:
      return StrCat("iota ", Name(op.type), " ", AxisName(program, op.index));
    case TileOpKind::kConstant:
      return StrCat("constant ", Name(op.type), " ", op.bits);
    case TileOpKind::kFold:
      return StrCat("fold ", ShortName(op.opcode), " ", AxisName(program, op.index), " %",
                    op.operands[0]);
    case TileOpKind::kCompute:
      break;
  }
  std::string text(ShortName(op.opcode));
  if (op.opcode == Opcode::kCompare) {
    text += StrCat(" ", kComparisons[static_cast<size_t>(op.comparison)]);
  }
  if (op.opcode == Opcode::kConvert || op.opcode == Opcode::kBitcastConvert) {
    text += StrCat(" ", Name(op.type));
  }
  for (size_t i = 0; i < op.operands.size(); ++i) {
    text += StrCat(i == 0 ? " %" : ", %", op.operands[i]);
  }
  return text;
}

std::string ReducerText(const TileResult& result) {
  if (result.follows >= 0) return StrCat("with ", result.follows);
  if (result.reducer == Opcode::kChloTopK) return "top";
  return std::string(ShortName(result.reducer));
}

// Reads one line after the other, word by word.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  StatusOr<TileProgram> Read() {
    while (!text_.empty()) {
      const size_t end = std::min(text_.find('\n'), text_.size());
      line_ = text_.substr(0, end);
      text_.remove_prefix(std::min(end + 1, text_.size()));
      ++number_;
      RETURN_IF_ERROR(ReadLine());
    }
    RETURN_IF_ERROR(Verify(program_));
    return std::move(program_);
  }

 private:
  template <typename... Parts>
  Status Error(const Parts&... parts) const {
    return Status(ErrorCode::kBrokenText, StrCat("tile program, line ", number_, ": ", parts...));
  }

  void SkipSpace() { line_.remove_prefix(std::min(line_.find_first_not_of(" ,"), line_.size())); }

  // Letters, digits, and what names have besides.
  std::string_view Word() {
    SkipSpace();
    const auto* end = llvm::find_if(
        line_, [](char c) { return c == ' ' || c == ',' || c == '[' || c == ']' || c == '='; });
    const std::string_view word = line_.substr(0, static_cast<size_t>(end - line_.begin()));
    line_.remove_prefix(word.size());
    return word;
  }

  bool Take(char c) {
    SkipSpace();
    if (!line_.starts_with(c)) return false;
    line_.remove_prefix(1);
    return true;
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

  StatusOr<ScalarType> ReadType() {
    const std::string_view word = Word();
    const std::optional<ScalarType> type = ScalarTypeFromName(word);
    if (!type) return Error("there is no type `", word, "`");
    return *type;
  }

  StatusOr<int> ReadAxis() {
    const std::string_view word = Word();
    if (word == "1") return kNoAxis;
    for (size_t i = 0; i < program_.axes.size(); ++i) {
      if (AxisName(program_, static_cast<int>(i)) == word) return static_cast<int>(i);
    }
    return Error("there is no axis `", word, "`");
  }

  StatusOr<int> ReadOperand() {
    if (!Take('%')) return Error("a value is missing");
    return ToNumber<int>(Word());
  }

  StatusOr<TileArray> ReadArray() {
    TileArray array;
    ASSIGN_OR_RETURN(array.type, ReadType());
    if (!Take('[')) return Error("`[` is missing");
    while (!Take(']')) {
      if (line_.empty()) return Error("`]` is missing");
      ASSIGN_OR_RETURN(const int axis, ReadAxis());
      array.axes.push_back(axis);
    }
    return array;
  }

  StatusOr<Opcode> ReadOpcode(std::string_view word) const {
    const Opcode opcode =
        FindOpcode(word.starts_with("chlo.") ? std::string(word) : StrCat("stablehlo.", word));
    if (!IsTileOpcode(opcode)) return Error("there is no op `", word, "`");
    return opcode;
  }

  Status ReadAxes() {
    if (!program_.axes.empty()) return Error("the axes are there already");
    for (std::string_view word = Word(); !word.empty(); word = Word()) {
      TileAxis axis;
      if (word == "c") axis.kind = TileAxisKind::kColumn;
      if (word.starts_with("b")) axis.kind = TileAxisKind::kBatch;
      if (word.starts_with("l")) axis.kind = TileAxisKind::kLong;
      if (word.starts_with("s") || word.starts_with("t")) {
        axis.kind = word.starts_with("s") ? TileAxisKind::kShort : TileAxisKind::kRank;
        if (!Take('=')) return Error("`", word, "` has no length");
        ASSIGN_OR_RETURN(axis.length, ToNumber<int64_t>(Word()));
      }
      program_.axes.push_back(axis);
      if (program_.axes.size() > kMostAxes ||
          AxisName(program_, static_cast<int>(program_.axes.size()) - 1) != word) {
        return Error("`", word, "` is not the name of an axis here");
      }
    }
    return OkStatus();
  }

  Status ReadResult() {
    TileResult result;
    ASSIGN_OR_RETURN(result.array, ReadArray());
    if (!Take('=')) return Error("`=` is missing");
    SkipSpace();
    if (!line_.starts_with("%")) {
      const std::string_view word = Word();
      if (word == "top") {
        result.reducer = Opcode::kChloTopK;
      } else if (word == "with") {
        ASSIGN_OR_RETURN(result.follows, ToNumber<int>(Word()));
      } else {
        ASSIGN_OR_RETURN(result.reducer, ReadOpcode(word));
      }
      for (SkipSpace(); !line_.starts_with("%"); SkipSpace()) {
        ASSIGN_OR_RETURN(const int axis, ReadAxis());
        if (axis != kRowAxis && axis != kColumnAxis) return Error("only r and c can be reduced");
        result.reduced |= AxisBit(axis);
      }
    }
    ASSIGN_OR_RETURN(result.value, ReadOperand());
    return AddResult(program_, std::move(result));
  }

  StatusOr<int> ReadOp() {
    const std::string_view word = Word();
    if (word == "load") {
      ASSIGN_OR_RETURN(const int operand, ToNumber<int>(Word()));
      return AddLoad(program_, operand);
    }
    if (word == "iota") {
      ASSIGN_OR_RETURN(const ScalarType type, ReadType());
      ASSIGN_OR_RETURN(const int axis, ReadAxis());
      return AddIota(program_, type, axis);
    }
    if (word == "constant") {
      ASSIGN_OR_RETURN(const ScalarType type, ReadType());
      ASSIGN_OR_RETURN(const uint64_t bits, ToNumber<uint64_t>(Word()));
      return AddConstant(program_, type, bits);
    }
    if (word == "fold") {
      ASSIGN_OR_RETURN(const Opcode reducer, ReadOpcode(Word()));
      ASSIGN_OR_RETURN(const int axis, ReadAxis());
      ASSIGN_OR_RETURN(const int operand, ReadOperand());
      return AddFold(program_, reducer, axis, operand);
    }
    ASSIGN_OR_RETURN(const Opcode opcode, ReadOpcode(word));
    if (opcode == Opcode::kConvert || opcode == Opcode::kBitcastConvert) {
      ASSIGN_OR_RETURN(const ScalarType type, ReadType());
      ASSIGN_OR_RETURN(const int operand, ReadOperand());
      return AddConvert(program_, opcode, type, operand);
    }
    size_t comparison = 0;
    if (opcode == Opcode::kCompare) {
      const std::string_view name = Word();
      comparison = static_cast<size_t>(llvm::find(kComparisons, name) - kComparisons.begin());
      if (comparison == kComparisons.size()) return Error("there is no comparison `", name, "`");
    }
    std::vector<int> operands;
    for (SkipSpace(); !line_.empty(); SkipSpace()) {
      ASSIGN_OR_RETURN(const int operand, ReadOperand());
      operands.push_back(operand);
    }
    ASSIGN_OR_RETURN(const int op, AddCompute(program_, opcode, std::move(operands)));
    program_.ops.back().comparison = static_cast<Comparison>(comparison);
    return op;
  }

  Status ReadLine() {
    SkipSpace();
    if (line_.empty()) return OkStatus();
    if (line_.starts_with("%")) {
      ASSIGN_OR_RETURN(const int name, ReadOperand());
      if (!Take('=')) return Error("`=` is missing");
      ASSIGN_OR_RETURN(const int op, ReadOp());
      if (op != name) return Error("%", name, " is the op number ", op);
    } else {
      const std::string_view word = Word();
      if (word == "axes") {
        RETURN_IF_ERROR(ReadAxes());
      } else if (word == "operand") {
        ASSIGN_OR_RETURN(TileArray array, ReadArray());
        program_.operands.push_back(std::move(array));
      } else if (word == "result") {
        RETURN_IF_ERROR(ReadResult());
      } else {
        return Error("`", word, "` is neither axes, an operand, an op nor a result");
      }
    }
    SkipSpace();
    if (!line_.empty()) return Error("`", line_, "` is too much");
    return OkStatus();
  }

  std::string_view text_;
  std::string_view line_;
  int number_ = 0;
  TileProgram program_;
};

}  // namespace

std::string WriteTiles(const TileProgram& program) {
  std::string text = "axes";
  for (size_t i = 0; i < program.axes.size(); ++i) {
    text += StrCat(" ", AxisName(program, static_cast<int>(i)));
    if (program.axes[i].length > 0) text += StrCat("=", program.axes[i].length);
  }
  text += "\n";
  for (const TileArray& operand : program.operands) {
    text += StrCat("operand ", ArrayText(program, operand), "\n");
  }
  for (size_t i = 0; i < program.ops.size(); ++i) {
    text += StrCat("%", i, " = ", OpText(program, program.ops[i]), "\n");
  }
  for (const TileResult& result : program.results) {
    text += StrCat("result ", ArrayText(program, result.array), " = ");
    if (result.reducer != Opcode::kUnknown || result.follows >= 0) {
      text += StrCat(ReducerText(result), (result.reduced & kRowBit) != 0 ? " r" : "",
                     (result.reduced & kColumnBit) != 0 ? " c" : "", " ");
    }
    text += StrCat("%", result.value, "\n");
  }
  return text;
}

StatusOr<TileProgram> ReadTiles(std::string_view text) { return Reader(text).Read(); }

}  // namespace plimsoll
