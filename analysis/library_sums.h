// Which sums of a program are better computed by XLA's library than by XLA itself.

#ifndef PLIMSOLL_ANALYSIS_LIBRARY_SUMS_H_
#define PLIMSOLL_ANALYSIS_LIBRARY_SUMS_H_

#include "ir/graph.h"

namespace plimsoll {

// True if the library should compute the reductions of the block and its loops: XLA on a CPU
// reduces long dimensions in stages, for which it makes what is reduced as a whole. The library
// does not, but is slower where few elements are reduced.
bool WantsLibrarySums(const Block& block);

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_LIBRARY_SUMS_H_
