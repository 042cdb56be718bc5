// Kernels whose rows and columns are the same points, such as K(x, x) @ v: what a pair (r, c) gives
// to row r and what the pair (c, r) gives to row c have most of their work in common, so a kernel
// of both needs only half of all pairs.

#ifndef PLIMSOLL_KERNELS_MIRROR_PROGRAM_H_
#define PLIMSOLL_KERNELS_MIRROR_PROGRAM_H_

#include <compare>
#include <optional>
#include <vector>

#include "kernels/staged_program.h"
#include "kernels/tile_program.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

// Two arguments, the first of which has rows where the second has columns, and the factor by which
// the first one's numbers are those of the second: 1, another power of two as in 2 * x @ x.T, or
// the negative of one.
struct ArgumentPair {
  int rows = 0;
  int columns = 0;
  double factor = 1;

  auto operator<=>(const ArgumentPair&) const = default;
};

// A tile program as the only stage of a kernel.
StagedProgram AsStages(TileProgram program);

// The pairs of arguments that may be the same array, but for a factor.
std::vector<ArgumentPair> PairsOfArguments(const StagedProgram& program);

// A program that also makes what pairs give that are turned around. Its arguments and panels are
// those of the kernel. Of the kernel's n results, the result n + i is what result i gets from
// turned pairs: sums over rows, kept by columns, which are its last axis. Stages of other programs
// may not reduce rows, so it is not one that `Verify` takes.
//
// Nothing if a stage needs another one's results, or if what it sums is not known for turned pairs.
// Arrays of the pairs have to be as they say.
std::optional<StagedProgram> MirrorProgram(const StagedProgram& program,
                                           llvm::ArrayRef<ArgumentPair> equal);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_MIRROR_PROGRAM_H_
