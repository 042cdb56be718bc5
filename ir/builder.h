// Makes ops at one place of a graph, with result types inferred.

#ifndef PLIMSOLL_IR_BUILDER_H_
#define PLIMSOLL_IR_BUILDER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/attribute.h"
#include "ir/context.h"
#include "ir/graph.h"
#include "ir/opcode.h"
#include "ir/status.h"
#include "ir/type.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace plimsoll {

enum class Comparison : uint8_t { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };

// Which dimensions of the left and right operand a product has in common.
struct DotDimensions {
  std::vector<int64_t> left_batch = {};
  std::vector<int64_t> right_batch = {};
  std::vector<int64_t> left_contracted = {};
  std::vector<int64_t> right_contracted = {};
};

class Builder {
 public:
  using Values = std::vector<Value*>;
  using Regions = std::vector<std::unique_ptr<Region>>;

  // Appends to the block.
  Builder(Context& context, Block& block, Location location)
      : context_(context), block_(&block), location_(location) {}
  // Inserts before the op, with its location. The op must be in a block.
  Builder(Context& context, Op& before)
      : context_(context), block_(before.block()), before_(&before), location_(before.location()) {}

  Context& context() const { return context_; }
  Block& block() const { return *block_; }
  Location location() const { return location_; }
  void set_location(Location location) { location_ = location; }

  // Any op of the table. The first infers its result types, and refuses where a size does not
  // follow from the operands; the second checks those given.
  StatusOr<Op*> Create(Opcode opcode, llvm::ArrayRef<Value*> operands,
                       llvm::ArrayRef<NamedAttribute> properties = {}, Regions regions = {});
  StatusOr<Op*> CreateWithTypes(Opcode opcode, llvm::ArrayRef<Type> result_types,
                                llvm::ArrayRef<Value*> operands,
                                llvm::ArrayRef<NamedAttribute> properties = {},
                                Regions regions = {});

  // Puts a ready op at the builder's place.
  Op* Append(std::unique_ptr<Op> op) { return block_->InsertBefore(before_, std::move(op)); }

  // The functions below can be nested: after an error they do nothing and give null, and the first
  // error stays here.
  const Status& status() const { return status_; }

  // All elements the same. The type is a tensor of static shape which can hold the number.
  Value* Constant(Type tensor, double value);
  Value* IntegerConstant(Type tensor, int64_t value);
  // Scalars
  Value* I32(int32_t value);
  Value* I64(int64_t value);
  Value* Iota(Type tensor, int64_t dimension);

  Value* Unary(Opcode opcode, Value* operand);
  Value* Negate(Value* operand) { return Unary(Opcode::kNegate, operand); }
  Value* Exponential(Value* operand) { return Unary(Opcode::kExponential, operand); }
  Value* Log(Value* operand) { return Unary(Opcode::kLog, operand); }
  Value* Binary(Opcode opcode, Value* left, Value* right);
  Value* Add(Value* left, Value* right) { return Binary(Opcode::kAdd, left, right); }
  Value* Subtract(Value* left, Value* right) { return Binary(Opcode::kSubtract, left, right); }
  Value* Multiply(Value* left, Value* right) { return Binary(Opcode::kMultiply, left, right); }
  Value* Divide(Value* left, Value* right) { return Binary(Opcode::kDivide, left, right); }
  Value* Remainder(Value* left, Value* right) { return Binary(Opcode::kRemainder, left, right); }
  Value* Maximum(Value* left, Value* right) { return Binary(Opcode::kMaximum, left, right); }
  Value* Minimum(Value* left, Value* right) { return Binary(Opcode::kMinimum, left, right); }
  Value* And(Value* left, Value* right) { return Binary(Opcode::kAnd, left, right); }
  Value* Or(Value* left, Value* right) { return Binary(Opcode::kOr, left, right); }
  Value* Compare(Comparison comparison, Value* left, Value* right);
  Value* Select(Value* predicate, Value* on_true, Value* on_false);
  Value* Convert(Value* operand, Type element);

  Value* Reshape(Value* operand, llvm::ArrayRef<int64_t> shape);
  // Dimension i of the operand becomes dimension `dimensions[i]` of the result.
  Value* BroadcastInDim(Value* operand, llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<int64_t> dimensions);
  Value* Transpose(Value* operand, llvm::ArrayRef<int64_t> permutation);
  // No strides stand for strides of 1.
  Value* Slice(Value* operand, llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> limits,
               llvm::ArrayRef<int64_t> strides = {});
  Value* DynamicSlice(Value* operand, llvm::ArrayRef<Value*> starts, llvm::ArrayRef<int64_t> sizes);
  Value* DynamicUpdateSlice(Value* operand, Value* update, llvm::ArrayRef<Value*> starts);
  Value* Pad(Value* operand, Value* padding, llvm::ArrayRef<int64_t> low,
             llvm::ArrayRef<int64_t> high);
  Value* Concatenate(llvm::ArrayRef<Value*> operands, int64_t dimension);

  // The elements are those of the operands unless `element` says otherwise. `precision_config` may
  // be null.
  Value* DotGeneral(Value* left, Value* right, const DotDimensions& dimensions, Type element = {},
                    Attribute precision_config = {});
  // Reduces with one op of two operands, such as kAdd or kMaximum.
  Value* Reduce(Value* operand, Value* initial, llvm::ArrayRef<int64_t> dimensions, Opcode reducer);

  // The callbacks are given a builder inside the region and the loop's values there.
  Values While(llvm::ArrayRef<Value*> initial,
               llvm::function_ref<Value*(Builder&, llvm::ArrayRef<Value*>)> condition,
               llvm::function_ref<Values(Builder&, llvm::ArrayRef<Value*>)> body);
  Values OptimizationBarrier(llvm::ArrayRef<Value*> operands);
  Values Call(const Op& function, llvm::ArrayRef<Value*> operands);
  // The terminator that the enclosing op wants: func.return, sdy.return or stablehlo.return.
  void Return(llvm::ArrayRef<Value*> operands);
  // An op with a block whose arguments are the inputs, to be filled by another builder.
  Op* Func(std::string_view name, llvm::ArrayRef<Type> inputs, llvm::ArrayRef<Type> outputs,
           bool is_private = true);

 private:
  StatusOr<Op*> Insert(Opcode opcode, llvm::ArrayRef<Type> result_types,
                       llvm::ArrayRef<Value*> operands, Attribute properties, Regions& regions);
  // The only result, or null after an error, which is kept.
  Value* Keep(StatusOr<Op*> op);
  // All results, or as many nulls.
  Values KeepAll(StatusOr<Op*> op, size_t count);
  Value* Fail(Status status);
  bool failed() const { return !status_.ok(); }
  // Fails if an operand is not a tensor.
  bool IsTensor(Opcode opcode, const Value* operand);
  Value* Splat(Type tensor, std::optional<std::string> element);
  // A region with one block that takes these types and is filled by `fill`, which gives what it
  // returns.
  std::unique_ptr<Region> Body(llvm::ArrayRef<Type> arguments,
                               llvm::function_ref<Values(Builder&, llvm::ArrayRef<Value*>)> fill);

  Context& context_;
  Block* block_;
  Op* before_ = nullptr;  // Null to append.
  Location location_;
  Status status_;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_IR_BUILDER_H_
