#include "kernels/cpu/kernel_array.h"

#include <cstddef>
#include <string_view>

#include "llvm/ADT/STLExtras.h"

namespace plimsoll {

int64_t ElementCount(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

std::vector<llvm::ArrayRef<int64_t>> ShapesOf(llvm::ArrayRef<KernelArray> arrays) {
  std::vector<llvm::ArrayRef<int64_t>> shapes;
  for (const KernelArray& array : arrays) shapes.push_back(array.shape);
  return shapes;
}

std::vector<int64_t> AxisStrides(const TileProgram& program, const TileArray& array,
                                 llvm::ArrayRef<int64_t> shape) {
  std::vector<int64_t> strides(program.axes.size(), 0);
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (array.axes[i] != kNoAxis) strides[static_cast<size_t>(array.axes[i])] = stride;
    stride *= shape[i];
  }
  return strides;
}

int64_t ShortNumber(const TileProgram& program, AxisSet set, llvm::ArrayRef<int64_t> positions) {
  int64_t number = 0;
  for (size_t axis = 0; axis < program.axes.size(); ++axis) {
    if (program.axes[axis].kind != TileAxisKind::kShort) continue;
    if ((set & AxisBit(static_cast<int>(axis))) == 0) continue;
    number = number * program.axes[axis].length + positions[axis];
  }
  return number;
}

StatusOr<std::vector<int64_t>> AxisLengths(const TileProgram& program,
                                           llvm::ArrayRef<llvm::ArrayRef<int64_t>> operands,
                                           llvm::ArrayRef<llvm::ArrayRef<int64_t>> results) {
  const auto error = [](std::string_view what) {
    return Status(ErrorCode::kWrongInputs, StrCat("a kernel's arrays do not fit: ", what));
  };
  if (operands.size() != program.operands.size() || results.size() != program.results.size()) {
    return error("their number is another");
  }
  std::vector<int64_t> lengths(program.axes.size(), -1);
  for (size_t i = 0; i < program.axes.size(); ++i) {
    if (program.axes[i].length > 0) lengths[i] = program.axes[i].length;
  }
  const auto agree = [&](const TileArray& array, llvm::ArrayRef<int64_t> shape) {
    if (array.axes.size() != shape.size()) return false;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (array.axes[i] == kNoAxis) {
        if (shape[i] != 1) return false;
        continue;
      }
      int64_t& length = lengths[static_cast<size_t>(array.axes[i])];
      if (length < 0) length = shape[i];
      if (length != shape[i]) return false;
    }
    return true;
  };
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!agree(program.operands[i], operands[i])) return error("an operand's shape");
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (!agree(program.results[i].array, results[i])) return error("a result's shape");
  }
  if (llvm::is_contained(lengths, -1)) return error("the length of an axis is not known");
  return lengths;
}

}  // namespace plimsoll
