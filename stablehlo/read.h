// The door for all programs: tells bytecode from text and reads either.

#ifndef PLIMSOLL_STABLEHLO_READ_H_
#define PLIMSOLL_STABLEHLO_READ_H_

#include <memory>
#include <string_view>

#include "ir/context.h"
#include "ir/graph.h"
#include "ir/status.h"

namespace plimsoll {

// `input` must live as long as the module's context: large constants of bytecode are not copied.
// `name` stands for the input in error messages.
// Types and attributes become those of `context`, so that parts of several programs can be put
// together.
StatusOr<std::unique_ptr<Module>> ReadModule(
    std::string_view input, std::string_view name,
    std::shared_ptr<Context> context = std::make_shared<Context>());

}  // namespace plimsoll

#endif  // PLIMSOLL_STABLEHLO_READ_H_
