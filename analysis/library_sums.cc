#include "analysis/library_sums.h"

#include <cstdint>

#include "analysis/block_view.h"
#include "analysis/op_class.h"
#include "analysis/run_time.h"

namespace plimsoll {
namespace {

// What the library gains for an element that would be made, and loses for one of a short sum, are
// about as 1 to 2.
constexpr double kShortWeight = 2;
// What is smaller stays in the cache between the stages, and a call of the library takes longer.
constexpr int64_t kLeastBytes = 2 << 20;

// Elements that are reduced.
struct Reduced {
  double staged = 0;  // In stages, though they need not exist.
  double fused = 0;   // By code that makes them as well.
};

Reduced ReducedIn(const Block& block) {
  Reduced reduced;
  for (const Op& op : block) {
    if (op.Is(Opcode::kWhile)) {
      const Reduced inside = ReducedIn(op.region(1).front());
      const double turns = TurnsOf(op);
      reduced.staged += turns * inside.staged;
      reduced.fused += turns * inside.fused;
    }
    if (!op.Is(Opcode::kReduce) || op.result_count() != 1) continue;
    const Value& value = *op.operand(0);
    const auto elements = static_cast<double>(value.type().element_count().value_or(0));
    if (!ReducesInStages(op)) {
      reduced.fused += elements;
    } else if (value.use_count() == 1 && !value.is_argument() && BytesOf(value) >= kLeastBytes &&
               IsElementwise(*value.defining_op())) {
      reduced.staged += elements;
    }
  }
  return reduced;
}

}  // namespace

bool WantsLibrarySums(const Block& block) {
  const Reduced reduced = ReducedIn(block);
  return reduced.staged > kShortWeight * reduced.fused;
}

}  // namespace plimsoll
