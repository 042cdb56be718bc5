// What a compiled program takes, read from the HLO that the engine gives back: PJRT itself does not
// tell.

#ifndef PLIMSOLL_PJRT_PROGRAM_SHAPE_H_
#define PLIMSOLL_PJRT_PROGRAM_SHAPE_H_

#include <optional>
#include <string_view>
#include <vector>

#include "pjrt/element_types.h"

namespace plimsoll {

struct ProgramArgument {
  ArrayType type;
  // False if the program wants the dimensions in another order in memory.
  bool is_row_major = true;

  bool operator==(const ProgramArgument&) const = default;
};

// The arguments of a program. `hlo_module` is a serialized xla::HloModuleProto. Nothing if the
// bytes are broken or an argument is not an array of known element type and static shape.
std::optional<std::vector<ProgramArgument>> ArgumentsOfHloModule(std::string_view hlo_module);

// The same for a serialized xla::HloModuleProtoWithConfig.
std::optional<std::vector<ProgramArgument>> ArgumentsOfHloModuleWithConfig(std::string_view hlo);

}  // namespace plimsoll

#endif  // PLIMSOLL_PJRT_PROGRAM_SHAPE_H_
