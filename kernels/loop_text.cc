#include "kernels/loop_text.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/word_reader.h"

namespace plimsoll {
namespace {

std::string ArrayText(const LoopArray& array) {
  std::string text = StrCat(Name(array.type), "[");
  for (size_t i = 0; i < array.dimensions.size(); ++i) {
    if (i > 0) text += ", ";
    const int64_t length = array.dimensions[i];
    text += length == kBatchDimension  ? "b"
            : length == kStepDimension ? "t"
                                       : std::to_string(length);
  }
  return text + "]";
}

std::string OpText(const LoopOp& op) {
  switch (op.kind) {
    case LoopOpKind::kLoad: {
      const std::string text = StrCat("load ", op.index, " ", op.element);
      return op.operands.empty() ? text : StrCat(text, " at %", op.operands[0]);
    }
    case LoopOpKind::kPosition:
      return StrCat("position ", Name(op.type));
    case LoopOpKind::kConstant:
      return StrCat("constant ", Name(op.type), " ", op.bits);
    case LoopOpKind::kState:
      return StrCat("state ", Name(op.type), op.varies ? "[b]" : "", " %", op.operands[0]);
    case LoopOpKind::kCompute:
      break;
  }
  return ComputeText(op.opcode, op.comparison, op.type, op.operands);
}

std::string ResultText(const LoopResult& result) {
  std::string text = StrCat("result ", ArrayText(result.array));
  if (result.step >= 0) text += StrCat(" at %", result.step);
  if (result.fill >= 0) text += StrCat(" fill %", result.fill);
  text += " =";
  for (size_t i = 0; i < result.values.size(); ++i) {
    text += StrCat(i == 0 ? " %" : ", %", result.values[i]);
  }
  return text;
}

class Reader : private WordReader {
 public:
  explicit Reader(std::string_view text) : WordReader("loop program", text) {}

  StatusOr<LoopProgram> Read() {
    if (!NextLine() || Word() != kLoopWord) return Error("`", kLoopWord, "` is missing");
    RETURN_IF_ERROR(ExpectEndOfLine());
    while (NextLine()) RETURN_IF_ERROR(ReadLine());
    RETURN_IF_ERROR(Verify(program_));
    return std::move(program_);
  }

 private:
  StatusOr<LoopArray> ReadArray() {
    LoopArray array;
    ASSIGN_OR_RETURN(array.type, ReadType());
    if (!Take('[')) return Error("`[` is missing");
    while (!Take(']')) {
      if (AtEndOfLine()) return Error("`]` is missing");
      const std::string_view word = Word();
      int64_t length = word == "b" ? kBatchDimension : kStepDimension;
      if (word != "b" && word != "t") {
        ASSIGN_OR_RETURN(length, ToNumber<int64_t>(word));
        if (length <= 0) return Error("a dimension of ", length);
      }
      array.dimensions.push_back(length);
    }
    return array;
  }

  Status ExpectWord(std::string_view expected) {
    if (Word() != expected) return Error("`", expected, "` is missing");
    return OkStatus();
  }

  Status ReadResult() {
    LoopResult result;
    ASSIGN_OR_RETURN(result.array, ReadArray());
    while (!Take('=')) {
      const std::string_view word = Word();
      if (word != "at" && word != "fill") return Error("`=` is missing");
      ASSIGN_OR_RETURN((word == "at" ? result.step : result.fill), ReadOperand());
    }
    ASSIGN_OR_RETURN(result.values, ReadOperands());
    program_.results.push_back(std::move(result));
    return OkStatus();
  }

  Status ReadNext() {
    ASSIGN_OR_RETURN(const int state, ReadOperand());
    if (!Take('=')) return Error("`=` is missing");
    if (state < 0 || state >= static_cast<int>(program_.ops.size()) ||
        program_.op(state).kind != LoopOpKind::kState) {
      return Error("%", state, " is no state");
    }
    ASSIGN_OR_RETURN(program_.ops[static_cast<size_t>(state)].index, ReadOperand());
    return OkStatus();
  }

  StatusOr<int> ReadLoad() {
    ASSIGN_OR_RETURN(const int operand, ToNumber<int>(Word()));
    ASSIGN_OR_RETURN(const int64_t element, ToNumber<int64_t>(Word()));
    if (AtEndOfLine()) return AddLoad(program_, operand, element);
    RETURN_IF_ERROR(ExpectWord("at"));
    ASSIGN_OR_RETURN(const int step, ReadOperand());
    return AddLoad(program_, operand, element, step);
  }

  StatusOr<int> ReadState() {
    ASSIGN_OR_RETURN(const ScalarType type, ReadType());
    const bool varies = Take('[');
    if (varies) {
      RETURN_IF_ERROR(ExpectWord("b"));
      if (!Take(']')) return Error("`]` is missing");
    }
    ASSIGN_OR_RETURN(const int first, ReadOperand());
    ASSIGN_OR_RETURN(const int state, AddState(program_, varies, first));
    // A state that nothing is said of stays as it is.
    program_.ops.back().index = state;
    if (program_.ops.back().type != type) return Error("%", first, " is of another type");
    return state;
  }

  StatusOr<int> ReadOp() {
    const std::string_view word = Word();
    if (word == "load") return ReadLoad();
    if (word == "state") return ReadState();
    if (word == "position") {
      ASSIGN_OR_RETURN(const ScalarType type, ReadType());
      return AddPosition(program_, type);
    }
    if (word == "constant") return ReadConstant(program_);
    return ReadCompute(program_, word);
  }

  Status ReadLine() {
    if (AtEndOfLine()) return OkStatus();
    if (StartsWith('%')) {
      ASSIGN_OR_RETURN(const int name, ReadOperand());
      if (!Take('=')) return Error("`=` is missing");
      ASSIGN_OR_RETURN(const int op, ReadOp());
      if (op != name) return Error("%", name, " is the op number ", op);
      return ExpectEndOfLine();
    }
    const std::string_view word = Word();
    if (word == "operand") {
      ASSIGN_OR_RETURN(LoopArray array, ReadArray());
      RETURN_IF_ERROR(AddOperand(program_, std::move(array)));
    } else if (word == "next") {
      RETURN_IF_ERROR(ReadNext());
    } else if (word == "while") {
      ASSIGN_OR_RETURN(program_.condition, ReadOperand());
    } else if (word == "result") {
      RETURN_IF_ERROR(ReadResult());
    } else {
      return Error("`", word, "` is neither an operand, an op, a state's next, a condition nor a ",
                   "result");
    }
    return ExpectEndOfLine();
  }

  LoopProgram program_;
};

}  // namespace

std::string WriteLoop(const LoopProgram& program) {
  std::string text = StrCat(kLoopWord, "\n");
  for (const LoopArray& operand : program.operands) {
    text += StrCat("operand ", ArrayText(operand), "\n");
  }
  for (size_t i = 0; i < program.ops.size(); ++i) {
    text += StrCat("%", i, " = ", OpText(program.ops[i]), "\n");
  }
  for (size_t i = 0; i < program.ops.size(); ++i) {
    if (program.ops[i].kind != LoopOpKind::kState) continue;
    text += StrCat("next %", i, " = %", program.ops[i].index, "\n");
  }
  text += StrCat("while %", program.condition, "\n");
  for (const LoopResult& result : program.results) text += StrCat(ResultText(result), "\n");
  return text;
}

bool IsLoopText(std::string_view text) {
  return text.starts_with(kLoopWord) && text.substr(kLoopWord.size()).starts_with("\n");
}

StatusOr<LoopProgram> ReadLoop(std::string_view text) { return Reader(text).Read(); }

}  // namespace plimsoll
