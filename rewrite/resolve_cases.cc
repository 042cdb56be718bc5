#include "rewrite/resolve_cases.h"

#include <optional>
#include <vector>

namespace plimsoll {
namespace {

// The region that is run, if that is known.
const Region* ChosenRegion(const Op& op) {
  if (!op.Is(Opcode::kCase) && !op.Is(Opcode::kIf)) return nullptr;
  const std::optional<int64_t> number = ConstantScalar(*op.operand(0));
  if (!number) return nullptr;
  if (op.Is(Opcode::kIf)) return &op.region(*number != 0 ? 0 : 1);
  // An index out of range means the last branch.
  const auto last = static_cast<int64_t>(op.region_count()) - 1;
  return &op.region(*number < 0 || *number > last ? last : *number);
}

}  // namespace

void ResolveCases(Op& root) {
  for (bool has_changed = true; has_changed;) {
    std::vector<Op*> found;
    Walk(root, [&](Op& op) {
      if (ChosenRegion(op) != nullptr) found.push_back(&op);
    });
    has_changed = !found.empty();
    // Inner ones first: an outer one is copied without them.
    for (size_t i = found.size(); i > 0; --i) {
      Op& op = *found[i - 1];
      const Block& block = ChosenRegion(op)->front();
      ValueMap values;
      for (const Op& inner : block) {
        if (&inner != block.last()) op.block()->InsertBefore(&op, inner.Clone(values));
      }
      for (size_t r = 0; r < op.result_count(); ++r) {
        Value* returned = block.last()->operand(r);
        const auto copy = values.find(returned);
        op.result(r)->ReplaceAllUsesWith(copy == values.end() ? returned : copy->second);
      }
      op.Erase();
    }
  }
}

}  // namespace plimsoll
