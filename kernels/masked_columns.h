// Columns that a mask hides: where they add nothing to any result, a kernel of stages leaves them
// out.

#ifndef PLIMSOLL_KERNELS_MASKED_COLUMNS_H_
#define PLIMSOLL_KERNELS_MASKED_COLUMNS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/staged_program.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

// For each op of a stage: its value, if that is a predicate with the same one for some rows and
// columns.
using KnownPredicates = std::vector<std::optional<bool>>;

// For each stage and op: true if it is a predicate, or what one is made of, and follows from the
// positions or, where there are arguments, from integers of rows and of columns. Empty if no
// predicate is one of rows and columns.
std::vector<std::vector<bool>> MaskPredicates(const StagedProgram& program, bool has_arguments);

// When columns may be left out, of which one is computed all the same and stands for the others.
struct MaskConditions {
  // These are zero in that column, right after the stage that writes them. If one is not, all
  // stages up to that one have to be run again for all columns.
  std::vector<int> zero_panels;
  // No element of these is beyond 2^kMostExponent, nor NaN: zero times them is zero.
  std::vector<int> bounded_arguments;

  bool operator==(const MaskConditions&) const = default;
};

inline constexpr int kMostExponent = 40;

// For each stage, the axis that is the panels' columns, or those of a stage that is the only one;
// nothing if they do not agree on it.
std::optional<std::vector<int>> PanelColumns(const StagedProgram& program);

// The conditions under which columns may be left out where predicates are as known, one list for
// each stage. Nothing if they are never more than others.
std::optional<MaskConditions> ConditionsToSkip(const StagedProgram& program,
                                               llvm::ArrayRef<KnownPredicates> known);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_MASKED_COLUMNS_H_
