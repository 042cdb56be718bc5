#include "analysis/large_values.h"

#include <algorithm>
#include <charconv>

#include "analysis/hlo_text.h"
#include "ir/status.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// What stands behind `key` in `text`, up to a character of `ends`; empty if the key is not there.
std::string_view After(std::string_view text, std::string_view key, std::string_view ends) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + key.size());
  return rest.substr(0, rest.find_first_of(ends));
}

uint32_t ToNumber(std::string_view digits) {
  uint32_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

uint32_t NumberAfter(std::string_view text, std::string_view key) {
  return ToNumber(After(text, key, " }"));
}

// The tables of source lines that stand before the computations: each row is a number and a text.
class SourceTables {
 public:
  explicit SourceTables(std::string_view hlo_text) {
    llvm::DenseMap<uint32_t, std::string_view>* table = nullptr;
    while (!hlo_text.empty()) {
      const size_t end = hlo_text.find('\n');
      const std::string_view line = hlo_text.substr(0, end);
      hlo_text.remove_prefix(std::min(line.size() + 1, hlo_text.size()));
      if (line.ends_with("{")) break;
      if (line == "FileNames") {
        table = &file_names_;
      } else if (line == "FileLocations") {
        table = &locations_;
      } else if (line == "StackFrames") {
        table = &frames_;
      } else if (line.empty() || line.front() < '0' || line.front() > '9') {
        table = nullptr;
      } else if (table != nullptr) {
        (*table)[ToNumber(line)] = line;
      }
    }
  }

  // "train.py:41" for the metadata of an instruction; empty if that is not known.
  std::string Line(std::string_view metadata) const {
    std::string_view file = After(metadata, "source_file=\"", "\"");
    std::string_view line = After(metadata, "source_line=", " }");
    const uint32_t frame = NumberAfter(metadata, "stack_frame_id=");
    if (file.empty() && frame != 0) {
      const std::string_view location =
          locations_.lookup(NumberAfter(frames_.lookup(frame), "file_location_id="));
      file = After(file_names_.lookup(NumberAfter(location, "file_name_id=")), "\"", "\"");
      line = After(location, " line=", " }");
    }
    if (file.empty()) return "";
    return StrCat(file.substr(file.rfind('/') + 1), ":", line);
  }

 private:
  llvm::DenseMap<uint32_t, std::string_view> file_names_;
  llvm::DenseMap<uint32_t, std::string_view> locations_;
  llvm::DenseMap<uint32_t, std::string_view> frames_;
};

// The computations that run inside one instruction: they make no values in memory.
llvm::DenseSet<const HloComputation*> InnerComputations(const HloText& hlo) {
  llvm::DenseSet<const HloComputation*> inner = hlo.Fused();
  for (const HloComputation& computation : hlo.computations) {
    for (const HloInstruction& instruction : computation.instructions) {
      if (instruction.opcode != "call") inner.insert(hlo.Called(instruction, "to_apply"));
    }
  }
  return inner;
}

std::string TypeText(const HloShape& shape) {
  if (shape.element_type.empty()) return "tuple";
  std::string text = StrCat(shape.element_type, "[");
  for (size_t i = 0; i < shape.dimensions.size(); ++i) {
    text += StrCat(i == 0 ? "" : ",", shape.dimensions[i]);
  }
  return text + "]";
}

// "exp" of "jit(step)/loss/exp".
std::string Operation(const HloInstruction& instruction, std::string_view metadata) {
  const std::string_view name = After(metadata, "op_name=\"", "\"");
  if (instruction.opcode == "parameter") return StrCat("argument ", name);
  return std::string(name.empty() ? instruction.opcode : name.substr(name.rfind('/') + 1));
}

}  // namespace

std::vector<LargeValue> FindLargestValues(std::string_view hlo_text, size_t count) {
  const HloText hlo = ReadHloText(hlo_text);
  const llvm::DenseSet<const HloComputation*> inner = InnerComputations(hlo);
  std::vector<const HloInstruction*> found;
  for (const HloComputation& computation : hlo.computations) {
    if (inner.contains(&computation)) continue;
    // Only the last computation's parameters are the program's own; others are seen from inside.
    const bool is_entry = &computation == &hlo.computations.back();
    for (const HloInstruction& instruction : computation.instructions) {
      if (instruction.IsView()) continue;
      if (instruction.opcode == "parameter" && !is_entry) continue;
      found.push_back(&instruction);
    }
  }
  llvm::sort(found, [](const HloInstruction* a, const HloInstruction* b) {
    if (a->shape.bytes != b->shape.bytes) return a->shape.bytes > b->shape.bytes;
    // Names point into the text, so their addresses are its order.
    return a->name.data() < b->name.data();
  });
  if (found.size() > count) found.resize(count);

  const SourceTables sources(hlo_text);
  std::vector<LargeValue> values;
  for (const HloInstruction* instruction : found) {
    const std::string_view metadata = instruction->Attribute("metadata");
    values.push_back({.bytes = instruction->shape.bytes,
                      .type = TypeText(instruction->shape),
                      .operation = Operation(*instruction, metadata),
                      .source = sources.Line(metadata)});
  }
  return values;
}

}  // namespace plimsoll
