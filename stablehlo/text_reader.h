// Reads a program from MLIR's generic text form.

#ifndef PLIMSOLL_STABLEHLO_TEXT_READER_H_
#define PLIMSOLL_STABLEHLO_TEXT_READER_H_

#include <memory>
#include <string_view>

#include "ir/context.h"
#include "ir/graph.h"
#include "ir/status.h"

namespace plimsoll {

// `name` stands for the text in error messages. Nothing of `text` is kept.
StatusOr<std::unique_ptr<Module>> ReadText(
    std::string_view text, std::string_view name,
    std::shared_ptr<Context> context = std::make_shared<Context>());

}  // namespace plimsoll

#endif  // PLIMSOLL_STABLEHLO_TEXT_READER_H_
