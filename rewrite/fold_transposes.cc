#include "rewrite/fold_transposes.h"

#include <string_view>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {
namespace {

llvm::SmallVector<int64_t> Through(llvm::ArrayRef<int64_t> dimensions,
                                   llvm::ArrayRef<int64_t> permutation) {
  llvm::SmallVector<int64_t> moved;
  for (const int64_t dimension : dimensions) moved.push_back(permutation[dimension]);
  return moved;
}

// The free dimensions come in the order of the operand, so a transpose may not change it.
bool KeepsFreeOrder(llvm::ArrayRef<int64_t> permutation, llvm::ArrayRef<int64_t> batch,
                    llvm::ArrayRef<int64_t> contracted) {
  int64_t last = -1;
  for (int64_t d = 0; d < static_cast<int64_t>(permutation.size()); ++d) {
    if (llvm::is_contained(batch, d) || llvm::is_contained(contracted, d)) continue;
    if (permutation[d] < last) return false;
    last = permutation[d];
  }
  return true;
}

void FoldOperand(Context& context, Op& dot, size_t operand) {
  const Op* transpose = dot.operand(operand)->defining_op();
  if (transpose == nullptr || !transpose->Is(Opcode::kTranspose)) return;
  const std::string_view batch_name =
      operand == 0 ? "lhs_batching_dimensions" : "rhs_batching_dimensions";
  const std::string_view contracted_name =
      operand == 0 ? "lhs_contracting_dimensions" : "rhs_contracting_dimensions";
  const Attribute numbers = dot.Get("dot_dimension_numbers");
  const llvm::ArrayRef<int64_t> permutation = transpose->Get("permutation").integers();
  const llvm::ArrayRef<int64_t> batch = numbers.Find(batch_name).integers();
  const llvm::ArrayRef<int64_t> contracted = numbers.Find(contracted_name).integers();
  if (!KeepsFreeOrder(permutation, batch, contracted)) return;
  llvm::SmallVector<NamedAttribute> fields;
  for (const auto [name, value] : llvm::zip_equal(numbers.names(), numbers.items())) {
    Attribute field = value;
    if (name == batch_name) field = context.I64Array(Through(batch, permutation));
    if (name == contracted_name) field = context.I64Array(Through(contracted, permutation));
    fields.emplace_back(name, field);
  }
  dot.SetProperty(context, "dot_dimension_numbers", context.Struct(numbers.text(), fields));
  dot.set_operand(operand, transpose->operand(0));
}

}  // namespace

void FoldTransposes(Context& context, Op& root) {
  std::vector<Op*> dots;
  Walk(root, [&](Op& op) {
    if (op.Is(Opcode::kDotGeneral)) dots.push_back(&op);
  });
  for (Op* dot : dots) {
    FoldOperand(context, *dot, 0);
    FoldOperand(context, *dot, 1);
  }
}

}  // namespace plimsoll
