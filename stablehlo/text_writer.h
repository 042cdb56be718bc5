// Writes a program in MLIR's generic text form, which XLA and every MLIR read.

#ifndef PLIMSOLL_STABLEHLO_TEXT_WRITER_H_
#define PLIMSOLL_STABLEHLO_TEXT_WRITER_H_

#include <string>

#include "ir/graph.h"

namespace plimsoll {

enum class Locations : bool { kOmit, kWrite };

std::string WriteText(const Module& module, Locations locations = Locations::kWrite);

// One op with its regions. Values from outside get numbers as well.
std::string WriteText(const Op& op, Locations locations = Locations::kOmit);

}  // namespace plimsoll

#endif  // PLIMSOLL_STABLEHLO_TEXT_WRITER_H_
