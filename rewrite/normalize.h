// The form that all who change programs start from.

#ifndef PLIMSOLL_REWRITE_NORMALIZE_H_
#define PLIMSOLL_REWRITE_NORMALIZE_H_

#include "ir/graph.h"

namespace plimsoll {

// No calls, no branches that are never taken, barriers for one value each, products that read their
// operands as they lie, and nothing twice or for nobody.
void Normalize(Module& module);

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_NORMALIZE_H_
