#include "plan/run_time.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "analysis/block_view.h"
#include "analysis/peak.h"

namespace plimsoll {
namespace {

constexpr double kProductsPerSecond = 5e10;
constexpr double kElementsPerSecond = 1e9;
// Of memory, for what the cache does not hold.
constexpr double kBytesPerSecond = 4e9;
// Of a loop that does not say how often it runs.
constexpr double kUnknownTurns = 10;

double ElementCount(const Value& value) {
  return static_cast<double>(value.type().element_count().value_or(0));
}

// A counter that starts at a constant, grows by a constant and ends below a constant.
double TurnsOf(const Op& loop) {
  const Block& condition = loop.region(0).front();
  const Block& body = loop.region(1).front();
  const Value& decision = *condition.last()->operand(0);
  const Op* compare = decision.defining_op();
  if (compare == nullptr || !compare->Is(Opcode::kCompare)) return kUnknownTurns;
  const Value& counter = *compare->operand(0);
  if (!counter.is_argument() || counter.block() != &condition) return kUnknownTurns;
  const Op* next = body.last()->operand(counter.index())->defining_op();
  if (next == nullptr || !next->Is(Opcode::kAdd)) return kUnknownTurns;
  const std::optional<int64_t> end = ConstantScalar(*compare->operand(1));
  const std::optional<int64_t> step = ConstantScalar(*next->operand(1));
  const int64_t start = ConstantScalar(*loop.operand(counter.index())).value_or(0);
  if (!end || !step || *step < 1) return kUnknownTurns;
  return std::max(0.0, static_cast<double>(*end - start) / static_cast<double>(*step));
}

}  // namespace

double SecondsOf(const Op& op) {
  double elements = 0;
  for (const Value* result : op.results()) elements += ElementCount(*result);
  switch (op.opcode()) {
    case Opcode::kDotGeneral: {
      // Each element of the result is a sum over what both operands share.
      double contracted = 1;
      const auto dimensions =
          op.Get("dot_dimension_numbers").Find("lhs_contracting_dimensions").integers();
      for (const int64_t d : dimensions) {
        contracted *= static_cast<double>(op.operand(0)->type().shape()[d]);
      }
      return elements * contracted / kProductsPerSecond;
    }
    case Opcode::kConvolution: {
      const double kernel = ElementCount(*op.operand(1));
      const int64_t features =
          op.Get("dimension_numbers").Find("output_feature_dimension").integer();
      return elements * kernel /
             static_cast<double>(std::max<int64_t>(1, op.result(0)->type().shape()[features])) /
             kProductsPerSecond;
    }
    case Opcode::kExponential:
    case Opcode::kLog:
    case Opcode::kTanh:
    case Opcode::kLogistic:
    case Opcode::kPower:
    case Opcode::kSine:
    case Opcode::kCosine:
      return elements * 4 / kElementsPerSecond;
    case Opcode::kReduce:
      return ElementCount(*op.operand(0)) / kElementsPerSecond;
    case Opcode::kSort:
    case Opcode::kChloTopK:
      return ElementCount(*op.operand(0)) * 20 / kElementsPerSecond;
    case Opcode::kWhile:
      return TurnsOf(op) * SecondsOf(op.region(1).front());
    case Opcode::kCase:
    case Opcode::kIf: {
      double seconds = 0;
      for (size_t r = 0; r < op.region_count(); ++r) {
        seconds = std::max(seconds, SecondsOf(op.region(r).front()));
      }
      return seconds;
    }
    case Opcode::kDynamicUpdateSlice:
      return ElementCount(*op.operand(1)) / kElementsPerSecond;
    case Opcode::kConstant:
    case Opcode::kIota:
    case Opcode::kBroadcastInDim:
    case Opcode::kReshape:
      return 0;
    default:
      return elements / kElementsPerSecond;
  }
}

double SecondsOf(const Block& block) {
  double seconds = 0;
  for (const Op& op : block) seconds += SecondsOf(op) + kSecondsPerOp;
  return seconds;
}

double SecondsInMemory(const Block& block, int64_t cache_bytes) {
  double seconds = 0;
  for (const Value* value : MaterializedValues(block)) {
    const int64_t bytes = BytesOf(*value);
    if (bytes <= cache_bytes) continue;
    // A loop's state is read and written where it is used, chunk by chunk most often.
    if (value->defining_op()->Is(Opcode::kWhile)) continue;
    const double times = 1 + static_cast<double>(value->use_count());
    seconds += times * static_cast<double>(bytes) / kBytesPerSecond;
  }
  for (const Op& op : block) {
    if (!op.Is(Opcode::kWhile)) continue;
    seconds += TurnsOf(op) * SecondsInMemory(op.region(1).front(), cache_bytes);
  }
  return seconds;
}

}  // namespace plimsoll
