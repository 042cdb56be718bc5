// Lets slices of slices begin inside of what they are taken from.

#ifndef PLIMSOLL_SPLIT_CLAMP_SLICES_H_
#define PLIMSOLL_SPLIT_CLAMP_SLICES_H_

#include "ir/context.h"
#include "ir/graph.h"
#include "ir/status.h"

namespace plimsoll {

// A dynamic slice that begins out of bounds begins at the last place where it fits. XLA forgets
// that when it makes one slice of two (openxla/xla issue 49121), and chunks are slices of the
// program's own. So where one is taken of another, both get starts that are inside.
Status ClampSlices(Context& context, Op& root);

}  // namespace plimsoll

#endif  // PLIMSOLL_SPLIT_CLAMP_SLICES_H_
