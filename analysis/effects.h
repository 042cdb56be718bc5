// Whether an op does more than to compute its results.

#ifndef PLIMSOLL_ANALYSIS_EFFECTS_H_
#define PLIMSOLL_ANALYSIS_EFFECTS_H_

#include "ir/graph.h"

namespace plimsoll {

// True if the op, or one inside of it, can be seen from outside by more than its results: it talks
// to the host or to other devices, or it is not known. Such an op must stay, once and in its order.
bool HasEffects(const Op& op);

// True if running a function's body does nothing but compute, and ends whatever it computes with:
// it can be run on any numbers to see how long that takes.
bool CanBeTried(const Block& body);

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_EFFECTS_H_
