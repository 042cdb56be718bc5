#include "kernels/tile_text.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/word_reader.h"

namespace plimsoll {
namespace {

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
  return ComputeText(op.opcode, op.comparison, op.type, op.operands);
}

std::string ReducerText(const TileResult& result) {
  if (result.follows >= 0) return StrCat("with ", result.follows);
  if (result.reducer == Opcode::kChloTopK) return "top";
  return std::string(ShortName(result.reducer));
}

class Reader : private WordReader {
 public:
  explicit Reader(std::string_view text) : WordReader("tile program", text) {}

  StatusOr<TileProgram> Read() {
    while (NextLine()) RETURN_IF_ERROR(ReadLine());
    RETURN_IF_ERROR(Verify(program_));
    return std::move(program_);
  }

 private:
  StatusOr<int> ReadAxis() { return ToAxis(Word()); }

  StatusOr<int> ToAxis(std::string_view word) const {
    if (word == "1") return kNoAxis;
    for (size_t i = 0; i < program_.axes.size(); ++i) {
      if (AxisName(program_, static_cast<int>(i)) == word) return static_cast<int>(i);
    }
    return Error("there is no axis `", word, "`");
  }

  StatusOr<TileArray> ReadArray() {
    TileArray array;
    ASSIGN_OR_RETURN(array.type, ReadType());
    if (!Take('[')) return Error("`[` is missing");
    while (!Take(']')) {
      if (AtEndOfLine()) return Error("`]` is missing");
      ASSIGN_OR_RETURN(const int axis, ReadAxis());
      array.axes.push_back(axis);
    }
    return array;
  }

  Status ReadAxes() {
    if (!program_.axes.empty()) return Error("the axes are there already");
    for (std::string_view word = Word(); !word.empty(); word = Word()) {
      TileAxis axis;
      if (word == "c") axis.kind = TileAxisKind::kColumn;
      if (word.starts_with("b")) axis.kind = TileAxisKind::kBatch;
      if (word.starts_with("l")) axis.kind = TileAxisKind::kLong;
      if (word.starts_with("g")) axis.kind = TileAxisKind::kSegment;
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
    if (!StartsWith('%')) {
      const std::string_view word = Word();
      if (word == "top") {
        result.reducer = Opcode::kChloTopK;
      } else if (word == "with") {
        ASSIGN_OR_RETURN(result.follows, ToNumber<int>(Word()));
      } else {
        ASSIGN_OR_RETURN(result.reducer, ToOpcode(word));
      }
      while (!StartsWith('%')) {
        const std::string_view next = Word();
        if (next == "by") {
          ASSIGN_OR_RETURN(result.segment, ReadOperand());
          break;
        }
        ASSIGN_OR_RETURN(const int axis, ToAxis(next));
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
    if (word == "constant") return ReadConstant(program_);
    if (word == "fold") {
      ASSIGN_OR_RETURN(const Opcode reducer, ToOpcode(Word()));
      ASSIGN_OR_RETURN(const int axis, ReadAxis());
      ASSIGN_OR_RETURN(const int operand, ReadOperand());
      return AddFold(program_, reducer, axis, operand);
    }
    return ReadCompute(program_, word);
  }

  Status ReadLine() {
    if (AtEndOfLine()) return OkStatus();
    if (StartsWith('%')) {
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
    return ExpectEndOfLine();
  }

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
      if (result.segment >= 0) text += StrCat("by %", result.segment, " ");
    }
    text += StrCat("%", result.value, "\n");
  }
  return text;
}

StatusOr<TileProgram> ReadTiles(std::string_view text) { return Reader(text).Read(); }

}  // namespace plimsoll
