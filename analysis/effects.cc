#include "analysis/effects.h"

#include <string_view>

#include "analysis/run_time.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

bool HasOwnEffects(const Op& op) {
  switch (op.opcode()) {
    // What is not known, and what only calls: its body would have to be looked at.
    case Opcode::kUnknown:
    case Opcode::kCall:
    case Opcode::kComposite:
    // The host and other devices see these.
    case Opcode::kInfeed:
    case Opcode::kOutfeed:
    case Opcode::kSend:
    case Opcode::kRecv:
    case Opcode::kAllGather:
    case Opcode::kAllReduce:
    case Opcode::kAllToAll:
    case Opcode::kAsyncDone:
    case Opcode::kAsyncStart:
    case Opcode::kCollectiveBroadcast:
    case Opcode::kCollectivePermute:
    case Opcode::kCollectiveReduce:
    case Opcode::kReduceScatter:
    // Its numbers differ each time.
    case Opcode::kRng:
      return true;
    case Opcode::kCustomCall: {
      // Calls back into Python are told apart by their order, even those without effects.
      const Attribute target = op.Get("call_target_name");
      if (target && target.text().find("callback") != std::string_view::npos) return true;
      const Attribute effect = op.Get("has_side_effect");
      return effect && effect.Is(AttributeKind::kInteger) && effect.integer() != 0;
    }
    default:
      // StableHLO's other ops and CHLO's are pure; those of other dialects are not known to be.
      return !op.name().starts_with("stablehlo.") && !op.name().starts_with("chlo.");
  }
}

// True if the loops inside of the op end whatever it computes with.
bool Ends(const Op& op) {
  if (op.Is(Opcode::kWhile) && !KnownTurnsOf(op)) return false;
  for (size_t i = 0; i < op.region_count(); ++i) {
    if (!op.region(i).empty() && !llvm::all_of(op.region(i).front(), Ends)) return false;
  }
  return true;
}

}  // namespace

bool HasEffects(const Op& op) {
  if (HasOwnEffects(op)) return true;
  for (size_t i = 0; i < op.region_count(); ++i) {
    for (size_t j = 0; j < op.region(i).block_count(); ++j) {
      for (const Op& inner : op.region(i).block(j)) {
        if (HasEffects(inner)) return true;
      }
    }
  }
  return false;
}

bool CanBeTried(const Block& body) {
  return llvm::all_of(
      body, [&](const Op& op) { return &op == body.last() || (!HasEffects(op) && Ends(op)); });
}

}  // namespace plimsoll
