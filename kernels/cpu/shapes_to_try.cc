#include "kernels/cpu/shapes_to_try.h"

#include <algorithm>
#include <cstdint>

#include "ir/status.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {

std::vector<KernelShape> ShapesToTry(const TileProgram& program, const CpuMachine& machine) {
  const KernelShape usual = ChooseShape(program, machine);
  std::vector<KernelShape> shapes = {usual};
  const auto add = [&](int rows, int vectors, int64_t block) {
    const int64_t step = int64_t{usual.lanes} * vectors;
    KernelShape shape = {.lanes = usual.lanes,
                         .rows = rows,
                         .vectors = vectors,
                         .block = std::max<int64_t>(1, block / step) * step};
    if (rows > 0 && vectors > 0 && !llvm::is_contained(shapes, shape)) shapes.push_back(shape);
  };
  // Columns in the place of rows, and rows in the place of columns.
  add(usual.rows / 2, usual.vectors * 2, usual.block);
  if (usual.vectors % 2 == 0) add(usual.rows * 2, usual.vectors / 2, usual.block);
  // Fewer at once: for bodies that need many registers themselves.
  add(usual.rows / 2, usual.vectors, usual.block);
  // Less that has to stay in the cache.
  add(usual.rows, usual.vectors, usual.block / 4);
  return shapes;
}

std::string WriteShape(const KernelShape& shape) {
  return StrCat(shape.lanes, " ", shape.rows, " ", shape.vectors, " ", shape.block);
}

std::optional<KernelShape> ReadShape(std::string_view text, const TileProgram& program,
                                     const CpuMachine& machine) {
  for (const KernelShape& shape : ShapesToTry(program, machine)) {
    if (WriteShape(shape) == text) return shape;
  }
  return std::nullopt;
}

}  // namespace plimsoll
