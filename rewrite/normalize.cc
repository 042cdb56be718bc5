#include "rewrite/normalize.h"

#include "rewrite/fold_transposes.h"
#include "rewrite/inline_calls.h"
#include "rewrite/merge_equal_ops.h"
#include "rewrite/remove_dead_ops.h"
#include "rewrite/resolve_cases.h"
#include "rewrite/split_barriers.h"

namespace plimsoll {

void Normalize(Module& module) {
  InlineCalls(module);
  ResolveCases(module.op());
  SplitBarriers(module.op());
  FoldTransposes(module.context(), module.op());
  MergeEqualOps(module.op());
  RemoveDeadOps(module.op());
}

}  // namespace plimsoll
