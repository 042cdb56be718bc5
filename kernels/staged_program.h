// What a kernel of several stages computes: tile programs one after the other, for some rows at a
// time. A value with a row and a column that one stage hands to the next is a panel: it exists for
// those rows only.
//
//   stages
//   stage r argument 0, argument 1 -> result 0, panel 0
//   axes r c l0
//   ...
//   stage r panel 0, argument 2 -> result 1
//   axes r c l0
//   ...
//
// Behind `stage` is the axis of the stage's program that is the rows: its own rows, or a long axis
// if the stage sums over rows.

#ifndef PLIMSOLL_KERNELS_STAGED_PROGRAM_H_
#define PLIMSOLL_KERNELS_STAGED_PROGRAM_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/status.h"
#include "kernels/tile_program.h"

namespace plimsoll {

enum class StagePlaceKind : uint8_t { kArgument, kPanel, kResult };

// Where an array of a stage lies. Numbers of each kind are in the order of first use.
struct StagePlace {
  StagePlaceKind kind = StagePlaceKind::kArgument;
  int number = 0;

  bool operator==(const StagePlace&) const = default;
};

struct Stage {
  TileProgram program;
  std::vector<StagePlace> operands;
  // Panels and results, each written by one stage. Later stages may read them.
  std::vector<StagePlace> results;
  int rows = kRowAxis;

  bool operator==(const Stage&) const = default;
};

struct StagedProgram {
  std::vector<Stage> stages;

  bool operator==(const StagedProgram&) const = default;

  // How many there are of a kind.
  int CountOf(StagePlaceKind kind) const;
};

// The long axis along which all results of a program are sums, each added to what is there, so that
// pieces of the axis may be summed one after the other; kNoAxis if there is none.
int SummedAxis(const TileProgram& program);

std::string WriteStages(const StagedProgram& program);

// True if the text is that of stages rather than of another program.
bool IsStagesText(std::string_view text);
// The program that the text stands for, verified.
StatusOr<StagedProgram> ReadStages(std::string_view text);

// That each stage is right, and reads only what is there for its rows.
Status Verify(const StagedProgram& program);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_STAGED_PROGRAM_H_
