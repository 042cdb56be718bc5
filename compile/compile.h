// The pipeline: all steps that a program goes through, in order.

#ifndef PLIMSOLL_COMPILE_COMPILE_H_
#define PLIMSOLL_COMPILE_COMPILE_H_

#include <string_view>

#include "ir/graph.h"
#include "ir/status.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

struct Step {
  std::string_view name;
  std::string_view why;
  Status (*run)(Module& module);
};

// The steps in order.
llvm::ArrayRef<Step> PipelineSteps();

struct CompileOptions {
  // The last step to run; empty runs all.
  std::string_view stop_after;
  // Where the graph is written after each step, as <number>-<step>.mlir; empty writes nothing.
  std::string_view dump_directory;
};

Status Compile(Module& module, const CompileOptions& options);

}  // namespace plimsoll

#endif  // PLIMSOLL_COMPILE_COMPILE_H_
