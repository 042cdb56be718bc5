// Several values that go through the same instructions: each instruction is emitted for all of them
// before the next one, so that none has to wait for the one before it.

#ifndef PLIMSOLL_KERNELS_CPU_BUNDLE_H_
#define PLIMSOLL_KERNELS_CPU_BUNDLE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "kernels/cpu/machine.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace plimsoll {

// Where instructions go, and for which processor.
struct Emitter {
  llvm::Module& module;
  llvm::IRBuilder<>& builder;
  const CpuMachine& machine;
};

// A function that others call.
llvm::Function* CreateFunction(Emitter& emitter, llvm::FunctionType* type, std::string_view name);

// From here on a product and a sum may be rounded once.
void LetRoundOnce(llvm::IRBuilder<>& builder);

// Scalars or vectors, all of one type. A bundle of one goes with every other one of its type.
class Bundle {
 public:
  using Values = llvm::SmallVector<llvm::Value*, 8>;

  Bundle(Emitter& emitter, Values values) : emitter_(&emitter), values_(std::move(values)) {}

  Emitter& emitter() const { return *emitter_; }
  llvm::IRBuilder<>& builder() const { return emitter_->builder; }
  size_t size() const { return values_.size(); }
  llvm::Value* operator[](size_t index) const { return values_[size() == 1 ? 0 : index]; }
  const Values& values() const { return values_; }
  llvm::Type* type() const { return values_.front()->getType(); }
  // At most `count` of them from one on; a bundle of one is whole.
  Bundle Slice(size_t first, size_t count) const;
  bool is_f64() const { return type()->getScalarType()->isDoubleTy(); }

  Bundle Map(llvm::function_ref<llvm::Value*(llvm::Value*)> make) const;
  Bundle Map(const Bundle& other,
             llvm::function_ref<llvm::Value*(llvm::Value*, llvm::Value*)> make) const;

  // The same number in the place of each value. Vectors are read from memory each time, since LLVM
  // would keep them in registers that it does not have.
  Bundle Number(double number) const;
  // The same with integers of the same width.
  Bundle Integer(int64_t number) const;

  // The same bits as integers, or as floats again.
  Bundle AsIntegers() const;
  Bundle AsFloats() const;

 private:
  Emitter* emitter_;
  Values values_;
};

Bundle operator+(const Bundle& a, const Bundle& b);
Bundle operator-(const Bundle& a, const Bundle& b);
Bundle operator*(const Bundle& a, const Bundle& b);
Bundle operator/(const Bundle& a, const Bundle& b);
// Comparisons are ordered: false if one is NaN.
Bundle operator<(const Bundle& a, const Bundle& b);
Bundle operator>(const Bundle& a, const Bundle& b);
Bundle operator==(const Bundle& a, const Bundle& b);

// a * b + c, rounded once where the machine can.
Bundle MultiplyAdd(const Bundle& a, const Bundle& b, const Bundle& c);
Bundle Select(const Bundle& condition, const Bundle& on_true, const Bundle& on_false);
Bundle Absolute(const Bundle& a);
Bundle CopySign(const Bundle& magnitude, const Bundle& sign);
// The same values, all of which are there before anything that follows is read from memory or
// computed of them: LLVM would read ahead, into registers that it does not have.
Bundle KeepOrder(const Bundle& a);
// One of LLVM's intrinsics with one operand, such as floor.
Bundle Intrinsic(llvm::Intrinsic::ID id, const Bundle& a);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_BUNDLE_H_
