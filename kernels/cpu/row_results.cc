#include "kernels/cpu/row_results.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/cpu/combine_parts.h"
#include "kernels/scalar_type.h"

namespace plimsoll {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double Read(ScalarType type, const char* element) {
  if (type == ScalarType::kF64) {
    double number = 0;
    std::memcpy(&number, element, sizeof(number));
    return number;
  }
  float number = 0;
  std::memcpy(&number, element, sizeof(number));
  return number;
}

void Write(ScalarType type, double number, char* element) {
  if (type == ScalarType::kF64) {
    std::memcpy(element, &number, sizeof(number));
    return;
  }
  const auto single = static_cast<float>(number);
  std::memcpy(element, &single, sizeof(single));
}

double LeastFinite(ScalarType type) {
  return type == ScalarType::kF64 ? std::numeric_limits<double>::lowest()
                                  : static_cast<double>(std::numeric_limits<float>::lowest());
}

template <typename Visit>
void ForEachElement(llvm::ArrayRef<RowDimension> dimensions, char* first, Visit visit) {
  if (dimensions.empty()) {
    visit(first);
    return;
  }
  for (int64_t i = 0; i < dimensions[0].length; ++i) {
    ForEachElement(dimensions.drop_front(), first + i * dimensions[0].stride_bytes, visit);
  }
}

}  // namespace

RowResults::RowResults(const StagedProgram& program, const StagesLayout& layout,
                       const StageRunner& runner)
    : program_(program), runner_(runner) {
  for (size_t i = 0; i < program.stages.size(); ++i) {
    const Stage& stage = program.stages[i];
    dimensions_.emplace_back(stage.results.size());
    for (size_t j = 0; j < stage.results.size(); ++j) {
      const TileArray& array = stage.program.results[j].array;
      for (const int axis : array.axes) {
        if (axis == kNoAxis || axis == stage.rows) continue;
        if (stage.program.axes[static_cast<size_t>(axis)].kind == TileAxisKind::kBatch) continue;
        dimensions_[i][j].push_back(
            {.length = layout.stages[i].lengths[static_cast<size_t>(axis)],
             .stride_bytes = runner.StridesOfResult(i, j)[axis] * BytesOf(array.type)});
      }
    }
  }
}

char* RowResults::RowOf(size_t stage, size_t result, const StageTask& task, int64_t row) const {
  const ScalarType type = TypeOf(stage, result);
  const int64_t* strides = runner_.StridesOfResult(stage, result);
  return runner_.BaseOf(stage, program_.stages[stage].results[result], type, strides, task, row) +
         row * strides[kRowAxis] * BytesOf(type);
}

void RowResults::Fill(size_t stage, const StageTask& task, Range rows) const {
  if (program_.stages[stage].rows != kRowAxis) return;
  for (size_t i = 0; i < dimensions_[stage].size(); ++i) {
    const TileResult& result = program_.stages[stage].program.results[i];
    if (program_.stages[stage].results[i].kind != StagePlaceKind::kResult ||
        result.reducer == Opcode::kUnknown) {
      continue;
    }
    runner_.ForgetRounding(stage, i, task, rows);
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      ForEachElement(dimensions_[stage][i], RowOf(stage, i, task, row), [&](char* element) {
        FillNeutral(result.reducer, result.array.type, element, 1);
      });
    }
  }
}

double RowResults::Get(size_t stage, size_t result, const StageTask& task, int64_t row) const {
  const ScalarType type = TypeOf(stage, result);
  return Read(type, RowOf(stage, result, task, row));
}

void RowResults::Set(size_t stage, size_t result, const StageTask& task, int64_t row,
                     double number) const {
  const ScalarType type = TypeOf(stage, result);
  Write(type, number, RowOf(stage, result, task, row));
}

void RowResults::Multiply(size_t stage, size_t result, const StageTask& task, int64_t row,
                          double factor) const {
  const ScalarType type = TypeOf(stage, result);
  runner_.ForgetRounding(stage, result, task, {.begin = row, .end = row + 1});
  ForEachElement(dimensions_[stage][result], RowOf(stage, result, task, row),
                 [&](char* element) { Write(type, Read(type, element) * factor, element); });
}

GrowingMaxima::GrowingMaxima(const RowResults& results, const std::vector<RunningMaximum>& maxima,
                             const StageTask& task, Range rows, bool replaces)
    : results_(results), maxima_(maxima), task_(task), rows_(rows), replaces_(replaces) {
  before_.resize(maxima.size());
}

GrowingMaxima::~GrowingMaxima() {
  for (const auto& [maximum, row] : replaced_) {
    results_.Set(maximum->stage, maximum->result, task_, row, -kInfinity);
  }
}

void GrowingMaxima::Before(size_t stage) {
  for (size_t i = 0; i < maxima_.size(); ++i) {
    if (maxima_[i].stage != stage) continue;
    for (int64_t row = rows_.begin; row < rows_.end; ++row) {
      before_[i].push_back(Get(maxima_[i], row));
    }
  }
}

void GrowingMaxima::After(size_t stage) {
  for (size_t i = 0; i < maxima_.size(); ++i) {
    const RunningMaximum& maximum = maxima_[i];
    if (maximum.stage != stage) continue;
    const ScalarType type = results_.TypeOf(maximum.stage, maximum.result);
    for (int64_t row = rows_.begin; row < rows_.end; ++row) {
      const double before = before_[i][static_cast<size_t>(row - rows_.begin)];
      const double now = Get(maximum, row);
      if (now == -kInfinity && replaces_) {
        results_.Set(maximum.stage, maximum.result, task_, row, LeastFinite(type));
        replaced_.emplace_back(&maximum, row);
      }
      // With a maximum of nothing, sums are nothing as well.
      if (now == before || before == -kInfinity) continue;
      for (const RescaledSum& sum : maximum.sums) {
        results_.Multiply(sum.stage, sum.result, task_, row, std::exp(-sum.power * (now - before)));
      }
    }
  }
}

}  // namespace plimsoll
