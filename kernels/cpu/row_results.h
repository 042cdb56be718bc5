// What results of a kernel of stages have of single rows: to make it anew, and to keep sums in
// proportion to maxima that grow from one slab of columns to the next.

#ifndef PLIMSOLL_KERNELS_CPU_ROW_RESULTS_H_
#define PLIMSOLL_KERNELS_CPU_ROW_RESULTS_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/cpu/stage_layout.h"
#include "kernels/cpu/stage_runner.h"
#include "kernels/running_maxima.h"
#include "kernels/staged_program.h"

namespace plimsoll {

// Of what one row has of a result.
struct RowDimension {
  int64_t length = 0;
  int64_t stride_bytes = 0;
};

class RowResults {
 public:
  // All of these have to live as long.
  RowResults(const StagedProgram& program, const StagesLayout& layout, const StageRunner& runner);

  // Sets what a stage combines with what is there to what it begins with. Sums over rows stay.
  void Fill(size_t stage, const StageTask& task, Range rows) const;
  ScalarType TypeOf(size_t stage, size_t result) const {
    return program_.stages[stage].program.results[result].array.type;
  }
  // Of a result with one number for each row.
  double Get(size_t stage, size_t result, const StageTask& task, int64_t row) const;
  void Set(size_t stage, size_t result, const StageTask& task, int64_t row, double number) const;
  void Multiply(size_t stage, size_t result, const StageTask& task, int64_t row,
                double factor) const;

 private:
  char* RowOf(size_t stage, size_t result, const StageTask& task, int64_t row) const;

  const StagedProgram& program_;
  const StageRunner& runner_;
  // For each stage and result.
  std::vector<std::vector<std::vector<RowDimension>>> dimensions_;
};

// The maxima of some rows while stages are run for one slab of columns.
class GrowingMaxima {
 public:
  // Where a maximum is that of nothing so far, stages take the least finite number for it if
  // `replaces`: then what they sum is nothing, rather than not a number.
  GrowingMaxima(const RowResults& results, const std::vector<RunningMaximum>& maxima,
                const StageTask& task, Range rows, bool replaces);
  ~GrowingMaxima();
  GrowingMaxima(const GrowingMaxima&) = delete;
  GrowingMaxima& operator=(const GrowingMaxima&) = delete;

  // Around each stage.
  void Before(size_t stage);
  void After(size_t stage);

 private:
  double Get(const RunningMaximum& maximum, int64_t row) const {
    return results_.Get(maximum.stage, maximum.result, task_, row);
  }

  const RowResults& results_;
  const std::vector<RunningMaximum>& maxima_;
  const StageTask& task_;
  const Range rows_;
  const bool replaces_;
  // Of a stage's maxima, those before it for each row.
  std::vector<std::vector<double>> before_;
  // Maxima and rows of which another number is there for now.
  std::vector<std::pair<const RunningMaximum*, int64_t>> replaced_;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_ROW_RESULTS_H_
