// The context owns all types, attributes and identifiers of a module and makes equal ones one.

#ifndef PLIMSOLL_IR_CONTEXT_H_
#define PLIMSOLL_IR_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/attribute.h"
#include "ir/type.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Allocator.h"

namespace plimsoll {

using NamedAttribute = std::pair<std::string_view, Attribute>;

namespace internal {

// Lets the sets look up a description that is not theirs yet.
template <typename Data>
struct UniquingInfo {
  static const Data* getEmptyKey() { return llvm::DenseMapInfo<const Data*>::getEmptyKey(); }
  static const Data* getTombstoneKey() {
    return llvm::DenseMapInfo<const Data*>::getTombstoneKey();
  }
  static unsigned getHashValue(const Data* data) { return static_cast<unsigned>(data->hash); }
  static bool isEqual(const Data* a, const Data* b);
};

}  // namespace internal

class Context {
 public:
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // Keeps a string for as long as the context lives; equal strings are one.
  std::string_view Intern(std::string_view text);
  // Keeps a buffer alive for as long as the context lives.
  void KeepAlive(std::shared_ptr<const void> buffer) { buffers_.push_back(std::move(buffer)); }
  // Memory that lives as long as the context.
  char* Allocate(size_t size, size_t alignment) {
    return static_cast<char*>(arena_.Allocate(size, alignment));
  }

  Type IntegerType(unsigned width, Signedness signedness = Signedness::kSignless);
  Type FloatType(FloatKind kind);
  Type IndexType() { return SimpleType(TypeKind::kIndex); }
  Type NoneType() { return SimpleType(TypeKind::kNone); }
  Type TokenType() { return SimpleType(TypeKind::kToken); }
  Type WitnessType() { return SimpleType(TypeKind::kWitness); }
  Type ComplexType(Type element);
  Type QuantizedType(Type expressed, const QuantizedData& quantized);
  Type TensorType(llvm::ArrayRef<int64_t> shape, Type element, Attribute encoding = {});
  Type UnrankedTensorType(Type element);
  Type MemrefType(llvm::ArrayRef<int64_t> shape, Type element);
  Type TupleType(llvm::ArrayRef<Type> members) { return GroupType(TypeKind::kTuple, members); }
  Type FutureType(llvm::ArrayRef<Type> members) { return GroupType(TypeKind::kFuture, members); }
  Type FunctionType(llvm::ArrayRef<Type> inputs, llvm::ArrayRef<Type> outputs);
  Type OpaqueType(std::string_view text);

  Attribute Unit();
  Attribute Bool(bool value) { return Integer(IntegerType(1), value ? 1 : 0); }
  // `value` is cut to the type's width.
  Attribute Integer(Type type, int64_t value);
  Attribute I64(int64_t value) { return Integer(IntegerType(64), value); }
  Attribute Float(Type type, uint64_t bits);
  Attribute String(std::string_view value, Type type = {});
  Attribute TypeAttribute(Type type);
  Attribute Array(llvm::ArrayRef<Attribute> items);
  // Sorts by name. The names must differ.
  Attribute Dictionary(llvm::ArrayRef<NamedAttribute> entries);
  Attribute Symbol(std::string_view root, llvm::ArrayRef<Attribute> nested = {});
  // `bytes` holds all elements, or one that stands for all. It is borrowed if `borrow`, and must
  // then live as long as the context; else it is copied.
  Attribute DenseElements(Type type, llvm::ArrayRef<char> bytes, bool borrow = false);
  Attribute DenseArray(Type element, llvm::ArrayRef<char> bytes);
  Attribute I64Array(llvm::ArrayRef<int64_t> values);
  Attribute DenseResource(Type type, std::string_view key);
  Attribute Struct(std::string_view mnemonic, llvm::ArrayRef<NamedAttribute> fields);
  Attribute Enum(std::string_view mnemonic, std::string_view enumerator);
  Attribute OpaqueAttribute(std::string_view text);

  Location UnknownLocation();
  Location FileLocation(std::string_view file, uint32_t start_line, uint32_t start_column,
                        uint32_t end_line, uint32_t end_column);
  Location NameLocation(std::string_view name, Location child);
  Location CallSiteLocation(Location callee, Location caller);
  Location FusedLocation(llvm::ArrayRef<Attribute> locations, Attribute metadata = {});

 private:
  template <typename T>
  llvm::ArrayRef<T> Copy(llvm::ArrayRef<T> values);
  Type SimpleType(TypeKind kind);
  Type GroupType(TypeKind kind, llvm::ArrayRef<Type> members);
  // Finds the equal description or copies this one; `persist` makes the copy's parts the context's
  // own.
  Type Unique(TypeData data);
  Attribute Unique(AttributeData data, bool borrow = false);

  llvm::BumpPtrAllocator arena_;
  llvm::StringSet<llvm::BumpPtrAllocator&> strings_{arena_};
  llvm::DenseSet<const TypeData*, internal::UniquingInfo<TypeData>> types_;
  llvm::DenseSet<const AttributeData*, internal::UniquingInfo<AttributeData>> attributes_;
  std::vector<std::shared_ptr<const void>> buffers_;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_IR_CONTEXT_H_
