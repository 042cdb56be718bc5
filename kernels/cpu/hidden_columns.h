// Which columns a mask hides from a kernel of stages, for the numbers that it is called with.

#ifndef PLIMSOLL_KERNELS_CPU_HIDDEN_COLUMNS_H_
#define PLIMSOLL_KERNELS_CPU_HIDDEN_COLUMNS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "kernels/cpu/kernel_array.h"
#include "kernels/cpu/stage_layout.h"
#include "kernels/masked_columns.h"
#include "kernels/staged_program.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace plimsoll {

struct SeenColumns {
  // Behind the columns that have to be computed, the last of which stands for all others.
  int64_t end = 0;
  // If there are others; they live as long as what gave them.
  const MaskConditions* conditions = nullptr;
};

// An operand of a stage that has neither other rows nor other columns than the stage.
struct StageOperand {
  const char* first = nullptr;
  // In elements.
  int64_t row_stride = 0;
  int64_t column_stride = 0;
};

// Several threads may ask at once.
class HiddenColumns {
 public:
  // The program and the arguments have to live as long.
  HiddenColumns(const StagedProgram& program, const StagesLayout& layout,
                llvm::ArrayRef<KernelArray> arguments);

  // False if there is no mask of rows and columns.
  bool may_hide() const { return !predicates_.empty(); }

  using FindOperand = llvm::function_ref<StageOperand(size_t stage, size_t operand)>;
  SeenColumns SeenBy(int64_t row_begin, int64_t row_end, FindOperand find_operand);

 private:
  // For each stage and op: true if it is a predicate, or what one is made of, and follows from the
  // positions or from integers of rows and of columns.
  using Predicates = std::vector<std::vector<bool>>;

  bool FindPredicates();
  std::vector<KnownPredicates> KnownFor(int64_t row_begin, int64_t row_end, int64_t column_begin,
                                        int64_t column_end, FindOperand find_operand) const;
  const MaskConditions* ConditionsFor(const std::vector<KnownPredicates>& known);
  bool AreBounded(llvm::ArrayRef<int> numbers) const;

  const StagedProgram& program_;
  llvm::ArrayRef<KernelArray> arguments_;
  int64_t columns_ = 0;
  Predicates predicates_;
  std::mutex mutex_;
  std::map<std::vector<KnownPredicates>, std::optional<MaskConditions>> conditions_;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_HIDDEN_COLUMNS_H_
