// The options of one compilation, and their form on the wire: XLA's CompileOptionsProto.

#ifndef PLIMSOLL_PJRT_COMPILE_OPTIONS_H_
#define PLIMSOLL_PJRT_COMPILE_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ir/status.h"
#include "pjrt/options.h"

namespace plimsoll {

struct CompileOptions {
  int64_t num_replicas = 1;
  int64_t num_partitions = 1;
  // XLA's flags for this compilation alone, without dashes: {"xla_cpu_enable_fast_math", true}.
  // Text works for flags of every type, and is what XLA_FLAGS would hold.
  std::vector<Option> xla_flags;
};

// The options as a serialized CompileOptionsProto; an error if a flag's value has a type that XLA's
// flags do not know.
StatusOr<std::string> Serialize(const CompileOptions& options);

}  // namespace plimsoll

#endif  // PLIMSOLL_PJRT_COMPILE_OPTIONS_H_
