// Reads a program from MLIR bytecode: StableHLO's portable artifacts (the VHLO dialect), the
// StableHLO dialect as frameworks keep it in memory, and mixtures with other dialects.

#ifndef PLIMSOLL_STABLEHLO_BYTECODE_READER_H_
#define PLIMSOLL_STABLEHLO_BYTECODE_READER_H_

#include <memory>
#include <string_view>

#include "ir/context.h"
#include "ir/graph.h"
#include "ir/status.h"

namespace plimsoll {

// True if the bytes start as MLIR bytecode does.
bool IsBytecode(std::string_view bytes);

// Constants and resources are borrowed: `bytes` must live as long as the module's context. `name`
// stands for the input in error messages.
StatusOr<std::unique_ptr<Module>> ReadBytecode(
    std::string_view bytes, std::string_view name,
    std::shared_ptr<Context> context = std::make_shared<Context>());

}  // namespace plimsoll

#endif  // PLIMSOLL_STABLEHLO_BYTECODE_READER_H_
