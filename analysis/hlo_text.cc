#include "analysis/hlo_text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

constexpr int64_t kLongestDimension = int64_t{1} << 40;

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// A place in one line.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool done() const { return position_ >= text_.size(); }
  char peek() const { return done() ? '\0' : text_[position_]; }
  std::string_view rest() const { return text_.substr(position_); }
  void Skip(size_t count) { position_ = std::min(position_ + count, text_.size()); }

  bool Take(std::string_view prefix) {
    if (!rest().starts_with(prefix)) return false;
    Skip(prefix.size());
    return true;
  }

  void SkipSpaces() {
    while (peek() == ' ') Skip(1);
    if (!Take("/*")) return;
    const size_t end = rest().find("*/");
    Skip(end == std::string_view::npos ? rest().size() : end + 2);
    while (peek() == ' ') Skip(1);
  }

  std::string_view TakeName() {
    const size_t start = position_;
    while (!done() && IsNameCharacter(peek())) Skip(1);
    return text_.substr(start, position_ - start);
  }

  std::optional<int64_t> TakeNumber() {
    if (!IsDigit(peek())) return std::nullopt;
    int64_t number = 0;
    for (; IsDigit(peek()); Skip(1)) {
      number = std::min(number * 10 + (peek() - '0'), kLongestDimension + 1);
    }
    return number;
  }

  // An attribute's value, without the braces around it, up to the comma after it.
  std::string_view TakeValue() {
    if (peek() == '{') return TakeBracketed();
    const size_t start = position_;
    for (; !done() && peek() != ','; Skip(1)) {
      if (peek() == '"') SkipQuoted();
      if (peek() == '{' || peek() == '(' || peek() == '[') {
        TakeBracketed();
        if (peek() == ',') break;
      }
    }
    return text_.substr(start, position_ - start);
  }

  // What stands between the opening bracket here and its partner, and goes past it. Quoted text is
  // passed over.
  std::string_view TakeBracketed() {
    const size_t start = position_ + 1;
    size_t depth = 0;
    for (; !done(); Skip(1)) {
      const char c = peek();
      if (c == '"') {
        SkipQuoted();
        if (done()) break;
        continue;
      }
      if (c == '(' || c == '{' || c == '[') ++depth;
      if (c == ')' || c == '}' || c == ']') --depth;
      if (depth == 0) {
        const std::string_view inside = text_.substr(start, position_ - start);
        Skip(1);
        return inside;
      }
    }
    return start <= text_.size() ? text_.substr(start) : std::string_view();
  }

 private:
  // Leaves the cursor on the closing quote.
  void SkipQuoted() {
    for (Skip(1); !done() && peek() != '"'; Skip(1)) {
      if (peek() == '\\') Skip(1);
    }
  }

  std::string_view text_;
  size_t position_ = 0;
};

void TakeNumbers(Cursor& cursor, char end, llvm::SmallVectorImpl<int64_t>& numbers) {
  while (!cursor.done() && cursor.peek() != end) {
    if (const std::optional<int64_t> number = cursor.TakeNumber()) {
      numbers.push_back(*number);
    } else {
      cursor.Skip(1);
    }
  }
  cursor.Skip(1);
}

// "f32[4,<=8]{1,0:T(8)}": dimensions and layout of an array. False if there is none here.
bool TakeArrayShape(Cursor& cursor, HloShape& shape) {
  shape.element_type = cursor.TakeName();
  if (shape.element_type.empty() || !cursor.Take("[")) return false;
  TakeNumbers(cursor, ']', shape.dimensions);
  if (cursor.peek() == '{') {
    const std::string_view layout = cursor.TakeBracketed();
    Cursor inside(layout.substr(0, layout.find(':')));
    TakeNumbers(inside, '\0', shape.minor_to_major);
  }
  const auto is_too_long = [](int64_t dimension) { return dimension > kLongestDimension; };
  if (llvm::any_of(shape.dimensions, is_too_long)) return false;
  shape.bytes = MultiplySizes(shape.element_count(), ElementBytes(shape.element_type));
  return shape.bytes <= kMostBytes;
}

// A tuple's bytes are those of its arrays; nested tuples are one level for us.
int64_t TupleBytes(std::string_view inside) {
  Cursor cursor(inside);
  int64_t bytes = 0;
  while (!cursor.done()) {
    HloShape element;
    if (IsNameCharacter(cursor.peek()) && TakeArrayShape(cursor, element)) {
      bytes = AddSizes(bytes, element.bytes);
    } else {
      cursor.Skip(1);
    }
  }
  return bytes;
}

// The line of an instruction, without its operands' numbers: "%a = f32[2]{0} add(%b, %c), ...".
bool ReadInstruction(std::string_view line, HloInstruction& instruction, bool& is_root) {
  Cursor cursor(line);
  cursor.SkipSpaces();
  is_root = cursor.Take("ROOT ");
  cursor.Take("%");
  instruction.name = cursor.TakeName();
  if (instruction.name.empty() || !cursor.Take(" = ")) return false;
  if (cursor.peek() == '(') {
    instruction.shape.bytes = TupleBytes(cursor.TakeBracketed());
  } else if (!TakeArrayShape(cursor, instruction.shape)) {
    return false;
  }
  cursor.SkipSpaces();
  instruction.opcode = cursor.TakeName();
  if (instruction.opcode.empty() || cursor.peek() != '(') return false;
  instruction.arguments = cursor.TakeBracketed();
  instruction.attributes = cursor.rest();
  return true;
}

void ReadOperands(const llvm::DenseMap<llvm::StringRef, uint32_t>& numbers,
                  HloInstruction& instruction) {
  // A constant's arguments are its value, which can be long and names nothing.
  if (instruction.opcode == "constant" || instruction.opcode == "parameter") return;
  Cursor cursor(instruction.arguments);
  while (!cursor.done()) {
    if (!cursor.Take("%")) {
      cursor.Skip(1);
      continue;
    }
    const auto found = numbers.find(llvm::StringRef(cursor.TakeName()));
    if (found != numbers.end()) instruction.operands.push_back(found->second);
  }
}

// "%name (a: f32[2]) -> f32[2] {" or "ENTRY %name ...": the name, or nothing for another line.
std::string_view ComputationName(std::string_view line) {
  if (!line.ends_with("{")) return {};
  Cursor cursor(line);
  cursor.Take("ENTRY ");
  if (!cursor.Take("%")) return {};
  return cursor.TakeName();
}

}  // namespace

int64_t AddSizes(int64_t a, int64_t b) { return std::min(a + b, kMostBytes + 1); }

int64_t MultiplySizes(int64_t a, int64_t b) {
  int64_t product = 0;
  const bool overflows = __builtin_mul_overflow(a, b, &product);
  return overflows ? kMostBytes + 1 : std::min(product, kMostBytes + 1);
}

int64_t ElementBytes(std::string_view element_type) {
  constexpr std::array<std::pair<std::string_view, int64_t>, 14> kBytes = {{
      {"pred", 1},
      {"s64", 8},
      {"u64", 8},
      {"f64", 8},
      {"c64", 8},
      {"c128", 16},
      {"s32", 4},
      {"u32", 4},
      {"f32", 4},
      {"s16", 2},
      {"u16", 2},
      {"f16", 2},
      {"bf16", 2},
      {"token", 0},
  }};
  for (const auto& [name, bytes] : kBytes) {
    if (name == element_type) return bytes;
  }
  // What is left has at most eight bits: s8, u4, f8e4m3fn and the like.
  return element_type == "opaque" ? 0 : 1;
}

int64_t HloShape::element_count() const {
  int64_t count = 1;
  for (const int64_t dimension : dimensions) count = MultiplySizes(count, dimension);
  return count;
}

std::string_view HloInstruction::Attribute(std::string_view key) const {
  Cursor cursor(attributes);
  while (cursor.Take(", ")) {
    const std::string_view name = cursor.TakeName();
    cursor.Take("=");
    const std::string_view value = cursor.TakeValue();
    if (name == key) return value;
  }
  return {};
}

bool HloInstruction::IsView() const {
  constexpr std::string_view kViews[] = {
      "after-all",   "async-done", "async-update", "bitcast",           "call",
      "conditional", "domain",     "while",        "get-tuple-element", "optimization-barrier",
      "tuple",
  };
  return llvm::is_contained(kViews, opcode);
}

llvm::SmallVector<int64_t, 4> HloInstruction::Numbers(std::string_view key) const {
  llvm::SmallVector<int64_t, 4> numbers;
  Cursor cursor(Attribute(key));
  TakeNumbers(cursor, '\0', numbers);
  return numbers;
}

const HloComputation* HloText::Called(const HloInstruction& instruction,
                                      std::string_view key) const {
  Cursor cursor(instruction.Attribute(key));
  cursor.Take("%");
  const auto found = computation_numbers.find(llvm::StringRef(cursor.TakeName()));
  return found == computation_numbers.end() ? nullptr : &computations[found->second];
}

llvm::DenseSet<const HloComputation*> HloText::Fused() const {
  llvm::DenseSet<const HloComputation*> fused;
  for (const HloComputation& computation : computations) {
    for (const HloInstruction& instruction : computation.instructions) {
      if (instruction.opcode == "fusion") fused.insert(Called(instruction, "calls"));
    }
  }
  return fused;
}

HloText ReadHloText(std::string_view text) {
  HloText hlo;
  llvm::DenseMap<llvm::StringRef, uint32_t> numbers;
  bool inside = false;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (const std::string_view name = ComputationName(line); !name.empty()) {
      hlo.computation_numbers[llvm::StringRef(name)] = hlo.computations.size();
      hlo.computations.push_back({.name = name, .instructions = {}, .root = 0});
      numbers.clear();
      inside = true;
    } else if (line.starts_with("}")) {
      inside = false;
    } else if (inside) {
      HloComputation& computation = hlo.computations.back();
      HloInstruction instruction;
      bool is_root = false;
      if (!ReadInstruction(line, instruction, is_root)) continue;
      ReadOperands(numbers, instruction);
      if (is_root) computation.root = computation.instructions.size();
      numbers[llvm::StringRef(instruction.name)] = computation.instructions.size();
      computation.instructions.push_back(std::move(instruction));
    }
  }
  return hlo;
}

}  // namespace plimsoll
