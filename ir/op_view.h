// An op as its types' rules see it, whether it is in a graph already or about to be made: checked
// access to operands' types, attributes and regions, with errors that name the op.

#ifndef PLIMSOLL_IR_OP_VIEW_H_
#define PLIMSOLL_IR_OP_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/attribute.h"
#include "ir/context.h"
#include "ir/graph.h"
#include "ir/opcode.h"
#include "ir/status.h"
#include "ir/type.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {

class OpView {
 public:
  // `properties` is a dictionary or null. What is referred to must outlive the view.
  OpView(Context& context, Opcode opcode, llvm::ArrayRef<Type> operands, Attribute properties = {},
         llvm::ArrayRef<const Region*> regions = {})
      : context_(context),
        opcode_(opcode),
        operands_(operands),
        properties_(properties),
        regions_(regions) {}

  Context& context() const { return context_; }
  Opcode opcode() const { return opcode_; }
  std::string_view name() const { return GetOpInfo(opcode_).name; }

  // "stablehlo.pad: ..."
  template <typename... Parts>
  Status Error(const Parts&... parts) const {
    return {ErrorCode::kInvalidProgram, StrCat(name(), ": ", parts...)};
  }

  llvm::ArrayRef<Type> operands() const { return operands_; }
  Status ExpectOperands(size_t count) const;
  Status ExpectOperandsAtLeast(size_t count) const;
  // The type of an operand that must be a ranked tensor.
  StatusOr<Type> Tensor(size_t index) const;
  // The same for all operands from `first` on.
  Status ExpectTensors(size_t first = 0) const;
  // Tensors without dimensions, of one integer type, from `first` on.
  Status ExpectIndices(size_t first) const;
  Status ExpectCompatibleElements(size_t a, size_t b) const;

  // Null if there is none of that name.
  Attribute Find(std::string_view name) const;
  // True if the attribute is there, and is not `false`.
  bool HasFlag(std::string_view name) const;
  StatusOr<int64_t> Integer(std::string_view name) const;
  StatusOr<int64_t> IntegerOr(std::string_view name, int64_t absent) const;
  StatusOr<llvm::ArrayRef<int64_t>> Integers(std::string_view name) const;
  // The same with one number for each dimension of the operand.
  StatusOr<llvm::ArrayRef<int64_t>> IntegersOfRank(std::string_view name, size_t rank) const;
  StatusOr<llvm::ArrayRef<int64_t>> IntegersOrEmpty(std::string_view name) const;
  // A dimension of a tensor of that rank.
  StatusOr<size_t> DimensionNumber(std::string_view name, size_t rank) const;
  StatusOr<std::string_view> Enumerator(std::string_view name, std::string_view mnemonic) const;
  StatusOr<Attribute> Struct(std::string_view name, std::string_view mnemonic) const;
  StatusOr<llvm::ArrayRef<int64_t>> IntegersField(Attribute structure,
                                                  std::string_view field) const;
  StatusOr<int64_t> IntegerField(Attribute structure, std::string_view field) const;

  // That the numbers are dimensions of a tensor of that rank, each at most once.
  Status ExpectDimensions(std::string_view what, llvm::ArrayRef<int64_t> numbers,
                          size_t rank) const;
  Status ExpectSorted(std::string_view what, llvm::ArrayRef<int64_t> numbers) const;

  llvm::ArrayRef<const Region*> regions() const { return regions_; }
  Status ExpectRegions(size_t count) const;
  // True if that region is there and not empty: while an op is being made it may not be.
  bool HasBody(size_t region) const;
  // The types of the region's arguments, and of what its last op returns.
  StatusOr<std::vector<Type>> ArgumentTypes(size_t region) const;
  StatusOr<std::vector<Type>> ReturnedTypes(size_t region) const;

 private:
  StatusOr<const Block*> BodyOf(size_t region) const;

  Context& context_;
  Opcode opcode_;
  llvm::ArrayRef<Type> operands_;
  Attribute properties_;
  llvm::ArrayRef<const Region*> regions_;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_IR_OP_VIEW_H_
