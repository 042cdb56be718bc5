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
  // What has to be computed: the first of these stands for all columns before it, and the last for
  // all behind it.
  int64_t begin = 0;
  int64_t end = 0;
  // Null if there are none on that side. They live as long as what gave them.
  const MaskConditions* before = nullptr;
  const MaskConditions* behind = nullptr;
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
  // The program and the arguments have to live as long. Without arguments it is what follows from
  // positions alone, if what is not known is as it mostly is.
  HiddenColumns(const StagedProgram& program, const StagesLayout& layout,
                std::optional<llvm::ArrayRef<KernelArray>> arguments);

  // False if there is no mask of rows and columns.
  bool may_hide() const { return !predicates_.empty(); }

  using FindOperand = llvm::function_ref<StageOperand(size_t stage, size_t operand)>;
  SeenColumns SeenBy(int64_t row_begin, int64_t row_end, FindOperand find_operand);

 private:
  std::vector<KnownPredicates> KnownFor(int64_t row_begin, int64_t row_end, int64_t column_begin,
                                        int64_t column_end, FindOperand find_operand) const;
  const MaskConditions* ConditionsFor(const std::vector<KnownPredicates>& known);
  bool AreBounded(llvm::ArrayRef<int> numbers) const;

  const StagedProgram& program_;
  std::optional<llvm::ArrayRef<KernelArray>> arguments_;
  std::vector<std::vector<bool>> predicates_;
  int64_t columns_ = 0;
  bool can_begin_anywhere_ = true;
  std::mutex mutex_;
  std::map<std::vector<KnownPredicates>, std::optional<MaskConditions>> conditions_;
};

// What part of a program's pairs is not hidden, as far as positions tell it.
double ShareOfSeen(const StagedProgram& program, const StagesLayout& layout);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_HIDDEN_COLUMNS_H_
