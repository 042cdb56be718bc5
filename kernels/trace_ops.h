// The ops of a loop's body as ops on single numbers of a loop program.

#ifndef PLIMSOLL_KERNELS_TRACE_OPS_H_
#define PLIMSOLL_KERNELS_TRACE_OPS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "ir/status.h"
#include "kernels/loop_program.h"
#include "kernels/numbers.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"

namespace plimsoll {

// Code of more ops takes longer to make than loops usually run.
inline constexpr size_t kMostTracedOps = 6000;

// Where an array has the batch and its steps.
struct ArrayLayout {
  LoopArray array;              // With all dimensions of the batch as one.
  std::vector<int> cover;       // Of the value's own dimensions; kSame for steps.
  std::vector<int64_t> merged;  // The value's shape, with all dimensions of the batch as one.
};

class OpTracer {
 public:
  // `batch`: the lengths of the dimensions that the batch has.
  OpTracer(LoopProgram& program, std::vector<int64_t> batch)
      : program_(program), batch_(std::move(batch)) {}

  // What a value of the loop is.
  void Bind(const Value& value, Numbers numbers) { known_[&value] = std::move(numbers); }
  // It is what another value is outside of the loop.
  void BindOutside(const Value& value, const Value& outside) { outside_[&value] = &outside; }
  // It is not to be used.
  void BindNothing(const Value& value, Status why) { failed_.try_emplace(&value, std::move(why)); }

  // Traces all ops of a block but its terminator. What an op fails with comes up when its results
  // are asked for.
  void TraceBlock(const Block& block);
  // The value's numbers. Values that nothing is known of are from outside of the loop, and become
  // operands of the program.
  StatusOr<Numbers> Get(const Value& value);
  // The only number of a value without dimensions.
  StatusOr<int> GetScalar(const Value& value);
  // Which dimensions of a value are the batch and which the steps, if it has any.
  StatusOr<ArrayLayout> LayoutOf(const Value& value, std::optional<size_t> steps) const;
  // Where the shape has the dimensions of the batch.
  std::optional<size_t> FindBatch(llvm::ArrayRef<int64_t> shape) const;
  // The number that an op is known to be.
  std::optional<uint64_t> ConstantOf(int op) const;

  StatusOr<int> Compute(Opcode opcode, Comparison comparison, std::vector<int> operands);
  StatusOr<int> Convert(Opcode opcode, ScalarType type, int operand);

  // The values that the program's operands are, and the shapes that the kernel takes them in.
  llvm::ArrayRef<std::pair<const Value*, std::vector<int64_t>>> operands() const {
    return operands_;
  }

 private:
  StatusOr<std::vector<Numbers>> Trace(const Op& op);
  StatusOr<Numbers> TraceOne(const Op& op);
  StatusOr<std::vector<Numbers>> TraceWhile(const Op& op);
  StatusOr<std::vector<Numbers>> TraceBranches(const Op& op);
  StatusOr<std::vector<Numbers>> TraceReduce(const Op& op);
  // What a block gives for these arguments.
  StatusOr<std::vector<Numbers>> Call(const Block& block, llvm::ArrayRef<Numbers> arguments);
  StatusOr<Numbers> Elementwise(const Op& op);
  StatusOr<Numbers> Select(const Numbers& condition, const Numbers& a, const Numbers& b);
  StatusOr<Numbers> Constant(const Op& op);
  StatusOr<Numbers> Iota(const Op& op);
  StatusOr<Numbers> Product(const Op& op);
  StatusOr<Numbers> Slice(const Op& op);
  StatusOr<Numbers> DynamicSlice(const Op& op);
  StatusOr<Numbers> DynamicUpdateSlice(const Op& op);
  // Starts that are all known, such that what is read lies inside.
  std::optional<std::vector<int64_t>> KnownStarts(const Op& op, size_t first,
                                                  llvm::ArrayRef<int64_t> shape,
                                                  llvm::ArrayRef<int64_t> sizes);
  StatusOr<Numbers> Outside(const Value& value);
  StatusOr<int> OperandOf(const Value& value, const ArrayLayout& layout);
  // The inverse of a constant: XLA multiplies by it as well, where a program divides.
  std::optional<int> InverseOf(int op);
  // An op that is not there yet, or the one that is.
  int Unique(int op);

  LoopProgram& program_;
  std::vector<int64_t> batch_;
  llvm::DenseMap<const Value*, Numbers> known_;
  llvm::DenseMap<const Value*, const Value*> outside_;
  llvm::DenseMap<const Value*, Status> failed_;
  // Of values from outside.
  llvm::DenseMap<const Value*, Numbers> read_;
  std::vector<std::pair<const Value*, std::vector<int64_t>>> operands_;
  std::map<std::pair<const Value*, std::vector<int64_t>>, int> operand_numbers_;
  std::map<std::string, int> unique_;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_TRACE_OPS_H_
