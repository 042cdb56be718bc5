#include "kernels/cpu/bundle.h"

#include <algorithm>
#include <string>

#include "ir/status.h"
#include "kernels/cpu/emit_for.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/TargetParser/Triple.h"

namespace plimsoll {
namespace {

// There are as many registers on every machine, or nearly so.
constexpr size_t kMostOrdered = 16;

bool IsFloat(const Bundle& a) { return a.type()->isFPOrFPVectorTy(); }

}  // namespace

llvm::Function* CreateFunction(Emitter& emitter, llvm::FunctionType* type, std::string_view name) {
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                                          llvm::StringRef(name), emitter.module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  // Else a register that is kept in memory may lie across two lines of a cache.
  function->addFnAttr(llvm::Attribute::getWithStackAlignment(
      emitter.builder.getContext(),
      llvm::Align(static_cast<uint64_t>(emitter.machine.vector_bytes))));
  return function;
}

void LetRoundOnce(llvm::IRBuilder<>& builder) {
  llvm::FastMathFlags flags;
  flags.setAllowContract(true);
  builder.setFastMathFlags(flags);
}

Bundle Bundle::Slice(size_t first, size_t count) const {
  if (size() == 1) return *this;
  const llvm::ArrayRef<llvm::Value*> some =
      llvm::ArrayRef(values_).slice(first, std::min(count, size() - first));
  return Bundle(*emitter_, Values(some));
}

Bundle Bundle::Map(llvm::function_ref<llvm::Value*(llvm::Value*)> make) const {
  Values made;
  for (llvm::Value* value : values_) made.push_back(make(value));
  return Bundle(*emitter_, std::move(made));
}

Bundle Bundle::Map(const Bundle& other,
                   llvm::function_ref<llvm::Value*(llvm::Value*, llvm::Value*)> make) const {
  Values made;
  for (size_t i = 0; i < std::max(size(), other.size()); ++i) {
    made.push_back(make((*this)[i], other[i]));
  }
  return Bundle(*emitter_, std::move(made));
}

Bundle Bundle::Number(double number) const {
  llvm::Type* element = type()->getScalarType();
  llvm::Constant* constant = llvm::ConstantFP::get(type(), number);
  if (!type()->isVectorTy()) return Bundle(*emitter_, {constant});
  const llvm::APInt bits = llvm::cast<llvm::ConstantFP>(llvm::ConstantFP::get(element, number))
                               ->getValueAPF()
                               .bitcastToAPInt();
  const std::string name =
      StrCat(element->isDoubleTy() ? "f64." : "f32.", llvm::utohexstr(bits.getZExtValue()), ".",
             llvm::cast<llvm::FixedVectorType>(type())->getNumElements());
  llvm::Module& module = emitter_->module;
  llvm::GlobalVariable* global = module.getGlobalVariable(name, /*AllowInternal=*/true);
  if (global == nullptr) {
    global = new llvm::GlobalVariable(module, type(), /*isConstant=*/false,
                                      llvm::GlobalValue::InternalLinkage, constant, name);
    global->setExternallyInitialized(true);
    global->setAlignment(llvm::Align(64));
  }
  return Bundle(*emitter_, {builder().CreateAlignedLoad(type(), global, llvm::Align(64))});
}

Bundle Bundle::Integer(int64_t number) const {
  llvm::Type* integers = type()->getWithNewType(builder().getIntNTy(type()->getScalarSizeInBits()));
  return Bundle(*emitter_, {llvm::ConstantInt::getSigned(integers, number)});
}

Bundle Bundle::AsIntegers() const {
  llvm::Type* integers = type()->getWithNewType(builder().getIntNTy(type()->getScalarSizeInBits()));
  return Map([&](llvm::Value* value) { return builder().CreateBitCast(value, integers); });
}

Bundle Bundle::AsFloats() const {
  llvm::Type* floats = type()->getWithNewType(
      type()->getScalarSizeInBits() == 64 ? builder().getDoubleTy() : builder().getFloatTy());
  return Map([&](llvm::Value* value) { return builder().CreateBitCast(value, floats); });
}

Bundle operator+(const Bundle& a, const Bundle& b) {
  return a.Map(b, [&](llvm::Value* x, llvm::Value* y) {
    return IsFloat(a) ? a.builder().CreateFAdd(x, y) : a.builder().CreateAdd(x, y);
  });
}

Bundle operator-(const Bundle& a, const Bundle& b) {
  return a.Map(b, [&](llvm::Value* x, llvm::Value* y) {
    return IsFloat(a) ? a.builder().CreateFSub(x, y) : a.builder().CreateSub(x, y);
  });
}

Bundle operator*(const Bundle& a, const Bundle& b) {
  return a.Map(b, [&](llvm::Value* x, llvm::Value* y) {
    return IsFloat(a) ? a.builder().CreateFMul(x, y) : a.builder().CreateMul(x, y);
  });
}

Bundle operator/(const Bundle& a, const Bundle& b) {
  return a.Map(b, [&](llvm::Value* x, llvm::Value* y) { return a.builder().CreateFDiv(x, y); });
}

Bundle operator<(const Bundle& a, const Bundle& b) {
  return a.Map(b, [&](llvm::Value* x, llvm::Value* y) { return a.builder().CreateFCmpOLT(x, y); });
}

Bundle operator>(const Bundle& a, const Bundle& b) {
  return a.Map(b, [&](llvm::Value* x, llvm::Value* y) { return a.builder().CreateFCmpOGT(x, y); });
}

Bundle operator==(const Bundle& a, const Bundle& b) {
  return a.Map(b, [&](llvm::Value* x, llvm::Value* y) {
    return IsFloat(a) ? a.builder().CreateFCmpOEQ(x, y) : a.builder().CreateICmpEQ(x, y);
  });
}

Bundle MultiplyAdd(const Bundle& a, const Bundle& b, const Bundle& c) {
  Bundle::Values made;
  for (size_t i = 0; i < std::max({a.size(), b.size(), c.size()}); ++i) {
    // Becomes a product and a sum on machines that cannot do both at once, instead of a call.
    made.push_back(
        a.builder().CreateIntrinsic(llvm::Intrinsic::fmuladd, {a.type()}, {a[i], b[i], c[i]}));
  }
  return Bundle(a.emitter(), std::move(made));
}

Bundle Select(const Bundle& condition, const Bundle& on_true, const Bundle& on_false) {
  Bundle::Values made;
  for (size_t i = 0; i < std::max({condition.size(), on_true.size(), on_false.size()}); ++i) {
    made.push_back(condition.builder().CreateSelect(condition[i], on_true[i], on_false[i]));
  }
  return Bundle(condition.emitter(), std::move(made));
}

Bundle KeepOrder(const Bundle& a) {
  // What fills no register cannot be named here.
  const bool is_whole = a.type()->isVectorTy() && a.type()->isFPOrFPVectorTy() &&
                        a.type()->getPrimitiveSizeInBits() >= 128;
  if (!is_whole || a.size() > kMostOrdered) {
    EmitForgetMemory(a.builder());
    return a;
  }
  const std::string_view any_register =
      llvm::Triple(a.emitter().machine.triple).isX86() ? "v" : "w";
  std::string constraints;
  for (size_t i = 0; i < a.size(); ++i) constraints += StrCat("=", any_register, ",");
  for (size_t i = 0; i < a.size(); ++i) constraints += StrCat(i, ",");
  constraints += "~{memory}";
  const llvm::SmallVector<llvm::Type*, 16> types(a.size(), a.type());
  llvm::Type* all =
      a.size() == 1 ? a.type() : llvm::StructType::get(a.builder().getContext(), types);
  llvm::Value* ordered = a.builder().CreateCall(
      llvm::InlineAsm::get(llvm::FunctionType::get(all, types, /*isVarArg=*/false), "", constraints,
                           /*hasSideEffects=*/true),
      a.values());
  if (a.size() == 1) return Bundle(a.emitter(), {ordered});
  Bundle::Values values;
  for (size_t i = 0; i < a.size(); ++i) {
    values.push_back(a.builder().CreateExtractValue(ordered, static_cast<unsigned>(i)));
  }
  return Bundle(a.emitter(), std::move(values));
}

Bundle Intrinsic(llvm::Intrinsic::ID id, const Bundle& a) {
  return a.Map([&](llvm::Value* x) { return a.builder().CreateUnaryIntrinsic(id, x); });
}

Bundle Absolute(const Bundle& a) { return Intrinsic(llvm::Intrinsic::fabs, a); }

Bundle CopySign(const Bundle& magnitude, const Bundle& sign) {
  return magnitude.Map(sign, [&](llvm::Value* x, llvm::Value* y) {
    return magnitude.builder().CreateBinaryIntrinsic(llvm::Intrinsic::copysign, x, y);
  });
}

}  // namespace plimsoll
