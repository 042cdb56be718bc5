#include "kernels/staged_program.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "kernels/tile_text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace plimsoll {
namespace {

constexpr std::string_view kHead = "stages\n";
constexpr std::string_view kStage = "stage ";
constexpr std::string_view kArrow = " -> ";
constexpr std::array<std::string_view, 3> kKinds = {"argument", "panel", "result"};

template <typename... Parts>
Status Error(const Parts&... parts) {
  return Status(ErrorCode::kInvalidProgram, StrCat("staged program: ", parts...));
}

template <typename... Parts>
Status TextError(const Parts&... parts) {
  return Status(ErrorCode::kBrokenText, StrCat("staged program: ", parts...));
}

std::string PlaceText(const StagePlace& place) {
  return StrCat(kKinds[static_cast<size_t>(place.kind)], " ", place.number);
}

std::string PlacesText(const std::vector<StagePlace>& places) {
  std::string text;
  for (const StagePlace& place : places) {
    text += StrCat(text.empty() ? "" : ", ", PlaceText(place));
  }
  return text;
}

StatusOr<std::vector<StagePlace>> ReadPlaces(std::string_view text) {
  std::vector<StagePlace> places;
  while (!text.empty()) {
    const size_t end = std::min(text.find(", "), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 2, text.size()));
    const size_t space = std::min(word.find(' '), word.size());
    const auto* kind = llvm::find(kKinds, word.substr(0, space));
    int number = 0;
    const char* last = word.data() + word.size();
    const auto [stop, error] =
        std::from_chars(word.data() + std::min(space + 1, word.size()), last, number);
    if (kind == kKinds.end() || error != std::errc() || stop != last) {
      return TextError("`", word, "` is no argument, panel or result");
    }
    places.push_back(
        {.kind = static_cast<StagePlaceKind>(kind - kKinds.begin()), .number = number});
  }
  return places;
}

// The line behind the word `stage`, and the tile program below it.
StatusOr<Stage> ReadStage(std::string_view line, std::string_view tiles) {
  const size_t arrow = line.find(kArrow);
  if (arrow == std::string_view::npos) return TextError("`->` is missing");
  const std::string_view left = line.substr(0, arrow);
  const size_t space = std::min(left.find(' '), left.size());
  Stage stage;
  ASSIGN_OR_RETURN(stage.program, ReadTiles(tiles));
  ASSIGN_OR_RETURN(stage.operands, ReadPlaces(left.substr(std::min(space + 1, left.size()))));
  ASSIGN_OR_RETURN(stage.results, ReadPlaces(line.substr(arrow + kArrow.size())));
  const std::string_view rows = left.substr(0, space);
  for (size_t i = 0; i < stage.program.axes.size(); ++i) {
    stage.rows = static_cast<int>(i);
    if (AxisName(stage.program, stage.rows) == rows) return stage;
  }
  return TextError("there is no axis `", rows, "`");
}

// What each axis of a stage is to all stages: 0 for rows, 1 and more for the batch, -1 for others.
std::vector<int> CommonAxes(const Stage& stage) {
  std::vector<int> common;
  int batch = 0;
  for (size_t i = 0; i < stage.program.axes.size(); ++i) {
    const bool is_batch = stage.program.axes[i].kind == TileAxisKind::kBatch;
    common.push_back(static_cast<int>(i) == stage.rows ? 0 : is_batch ? ++batch : -1);
  }
  return common;
}

struct KnownArray {
  ScalarType type = ScalarType::kF32;
  std::vector<int> common;  // Of each dimension.
  bool can_be_read = true;

  bool operator==(const KnownArray&) const = default;
};

KnownArray Know(const Stage& stage, const TileArray& array) {
  const std::vector<int> common = CommonAxes(stage);
  KnownArray known = {.type = array.type, .common = {}};
  for (const int axis : array.axes) {
    known.common.push_back(axis == kNoAxis ? -1 : common[static_cast<size_t>(axis)]);
  }
  return known;
}

class Verifier {
 public:
  Status Take(const Stage& stage) {
    RETURN_IF_ERROR(Verify(stage.program));
    const TileProgram& program = stage.program;
    if (stage.operands.size() != program.operands.size() ||
        stage.results.size() != program.results.size()) {
      return Error("a stage has other operands or results than its program");
    }
    if (program.AxesOfKind(TileAxisKind::kRank) != 0) return Error("a stage ranks columns");
    const auto batch = static_cast<int>(llvm::count_if(
        program.axes, [](const TileAxis& axis) { return axis.kind == TileAxisKind::kBatch; }));
    if (batch_.value_or(batch) != batch) return Error("stages have different batches");
    batch_ = batch;
    if (stage.rows != kRowAxis && stage.rows != SummedAxis(program)) {
      return Error("the rows of a stage are neither its rows nor summed");
    }
    for (size_t i = 0; i < stage.operands.size(); ++i) {
      RETURN_IF_ERROR(Read(stage, stage.operands[i], program.operands[i]));
    }
    for (size_t i = 0; i < stage.results.size(); ++i) {
      RETURN_IF_ERROR(Write(stage, stage.results[i], program.results[i]));
    }
    return OkStatus();
  }

 private:
  Status Read(const Stage& stage, const StagePlace& place, const TileArray& array) {
    int& count = counts_[static_cast<size_t>(place.kind)];
    if (place.kind == StagePlaceKind::kArgument) {
      if (place.number < 0 || place.number > count) {
        return Error(PlaceText(place), " is not the next one");
      }
      count = std::max(count, place.number + 1);
      return OkStatus();
    }
    if (place.number < 0 || place.number >= count) {
      return Error(PlaceText(place), " is read before it is written");
    }
    const KnownArray& known = Known(place);
    if (!known.can_be_read) {
      return Error(PlaceText(place), " is not there before the last row is");
    }
    if (known != Know(stage, array)) {
      return Error(PlaceText(place), " is read with another type or along other axes");
    }
    return OkStatus();
  }

  Status Write(const Stage& stage, const StagePlace& place, const TileResult& result) {
    int& count = counts_[static_cast<size_t>(place.kind)];
    if (place.kind == StagePlaceKind::kArgument || place.number != count) {
      return Error(PlaceText(place), " is not the next one to be written");
    }
    ++count;
    const bool is_panel = place.kind == StagePlaceKind::kPanel;
    if (is_panel && (result.reduced != 0 || result.reducer != Opcode::kUnknown)) {
      return Error("a panel is not written as it is");
    }
    if ((result.reduced & kRowBit) != 0) return Error("rows are reduced in a stage");
    KnownArray known = Know(stage, result.array);
    known.can_be_read = stage.rows == kRowAxis;
    // Then one element of the batch is one piece of memory, which threads can have copies of.
    const bool is_batch_first = std::is_partitioned(known.common.begin(), known.common.end(),
                                                    [](int axis) { return axis > 0; });
    if (!known.can_be_read && (is_panel || !is_batch_first || result.reduced != 0)) {
      return Error("a sum over rows is a panel, reduced, or does not begin with the batch");
    }
    Known(place) = std::move(known);
    return OkStatus();
  }

  KnownArray& Known(const StagePlace& place) {
    return known_[{static_cast<int>(place.kind), place.number}];
  }

  std::optional<int> batch_;
  std::array<int, 3> counts_ = {0, 0, 0};
  std::map<std::pair<int, int>, KnownArray> known_;
};

}  // namespace

int StagedProgram::CountOf(StagePlaceKind kind) const {
  int count = 0;
  for (const Stage& stage : stages) {
    for (const auto* places : {&stage.operands, &stage.results}) {
      for (const StagePlace& place : *places) {
        if (place.kind == kind) count = std::max(count, place.number + 1);
      }
    }
  }
  return count;
}

int SummedAxis(const TileProgram& program) {
  int summed = kNoAxis;
  for (const TileResult& result : program.results) {
    const TileOp& value = program.ops[static_cast<size_t>(result.value)];
    const bool is_sum = result.reduced == 0 && result.reducer == Opcode::kAdd &&
                        value.kind == TileOpKind::kFold && value.opcode == Opcode::kAdd &&
                        program.axes[static_cast<size_t>(value.index)].kind == TileAxisKind::kLong;
    if (!is_sum || (summed != kNoAxis && summed != value.index)) return kNoAxis;
    summed = value.index;
  }
  // Positions along a piece of the axis are not those along the whole.
  for (const TileOp& op : program.ops) {
    if (op.kind == TileOpKind::kIota && op.index == summed) return kNoAxis;
    if (op.kind == TileOpKind::kFold && op.index == summed &&
        llvm::none_of(program.results, [&](const TileResult& result) {
          return &program.ops[static_cast<size_t>(result.value)] == &op;
        })) {
      return kNoAxis;
    }
  }
  return summed;
}

std::string WriteStages(const StagedProgram& program) {
  std::string text(kHead);
  for (const Stage& stage : program.stages) {
    text += StrCat(kStage, AxisName(stage.program, stage.rows), stage.operands.empty() ? "" : " ",
                   PlacesText(stage.operands), kArrow, PlacesText(stage.results), "\n",
                   WriteTiles(stage.program));
  }
  return text;
}

bool IsStagesText(std::string_view text) { return text.starts_with(kHead); }

StatusOr<StagedProgram> ReadStages(std::string_view text) {
  if (!IsStagesText(text)) return TextError("it does not begin with `stages`");
  text.remove_prefix(kHead.size());
  StagedProgram program;
  while (!text.empty()) {
    if (!text.starts_with(kStage)) return TextError("`stage` is missing");
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(kStage.size(), end - kStage.size());
    text.remove_prefix(end);
    const size_t next = std::min(text.find(StrCat("\n", kStage)), text.size());
    ASSIGN_OR_RETURN(Stage stage, ReadStage(line, text.substr(0, next)));
    program.stages.push_back(std::move(stage));
    text.remove_prefix(std::min(next + 1, text.size()));
  }
  RETURN_IF_ERROR(Verify(program));
  return program;
}

Status Verify(const StagedProgram& program) {
  if (program.stages.empty()) return Error("there is no stage");
  Verifier verifier;
  for (const Stage& stage : program.stages) RETURN_IF_ERROR(verifier.Take(stage));
  return OkStatus();
}

}  // namespace plimsoll
