#include "ir/context.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

namespace plimsoll {
namespace {

// Constants can be hundreds of megabytes; equal sizes with equal samples are rare enough to compare
// in full.
constexpr size_t kHashedBytes = 512;

llvm::hash_code HashBytes(llvm::ArrayRef<char> bytes) {
  if (bytes.size() <= 2 * kHashedBytes) {
    return llvm::hash_combine_range(bytes.begin(), bytes.end());
  }
  const llvm::ArrayRef<char> front = bytes.take_front(kHashedBytes);
  const llvm::ArrayRef<char> back = bytes.take_back(kHashedBytes);
  return llvm::hash_combine(bytes.size(), llvm::hash_combine_range(front.begin(), front.end()),
                            llvm::hash_combine_range(back.begin(), back.end()));
}

llvm::hash_code HashText(std::string_view text) { return HashBytes({text.data(), text.size()}); }

template <typename Handle>
llvm::hash_code HashHandles(llvm::ArrayRef<Handle> handles) {
  llvm::hash_code hash = llvm::hash_value(handles.size());
  for (const Handle& handle : handles) hash = llvm::hash_combine(hash, handle.data());
  return hash;
}

size_t Hash(const QuantizedData& data) {
  llvm::hash_code hash = llvm::hash_combine(
      data.storage.data(), data.flags, data.storage_min, data.storage_max, data.axis.value_or(-1),
      llvm::hash_combine_range(data.zero_points.begin(), data.zero_points.end()));
  for (const double scale : data.scales) {
    hash = llvm::hash_combine(hash, llvm::bit_cast<uint64_t>(scale));
  }
  return hash;
}

size_t Hash(const TypeData& data) {
  return llvm::hash_combine(data.kind, data.signedness, data.float_kind, data.width,
                            data.input_count, data.element.data(), data.encoding,
                            llvm::hash_combine_range(data.shape.begin(), data.shape.end()),
                            HashHandles(data.types), data.quantized ? Hash(*data.quantized) : 0,
                            HashText(data.text));
}

size_t Hash(const AttributeData& data) {
  llvm::hash_code names = llvm::hash_value(data.names.size());
  for (const std::string_view name : data.names) names = llvm::hash_combine(names, HashText(name));
  return llvm::hash_combine(
      data.kind, data.type.data(), data.bits, HashText(data.text), HashText(data.enumerator),
      HashHandles(data.items), names, HashBytes(data.bytes),
      llvm::hash_combine_range(std::begin(data.lines), std::end(data.lines)), data.metadata.data());
}

// Depth and weight of what is nested in a type or attribute, saturating.
class Nesting {
 public:
  template <typename Data>
  void Add(const Data* nested) {
    if (nested == nullptr) return;
    depth_ = std::max(depth_, nested->depth);
    weight_ = llvm::SaturatingAdd(weight_, nested->weight);
  }
  template <typename Handle>
  void Add(llvm::ArrayRef<Handle> handles) {
    for (const Handle& handle : handles) Add(handle.data());
  }
  void AddCharacters(uint64_t count) { weight_ = llvm::SaturatingAdd(weight_, count); }
  uint32_t depth() const { return depth_ + 1; }
  uint64_t weight() const { return llvm::SaturatingAdd(weight_, uint64_t{8}); }

 private:
  uint32_t depth_ = 0;
  uint64_t weight_ = 0;
};

bool SameDoubles(llvm::ArrayRef<double> a, llvm::ArrayRef<double> b) {
  // By bits: a NaN scale must be equal to itself, and -0.0 is not 0.0.
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

bool Same(const QuantizedData* a, const QuantizedData* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a->storage == b->storage && a->flags == b->flags && a->storage_min == b->storage_min &&
         a->storage_max == b->storage_max && a->axis == b->axis &&
         SameDoubles(a->scales, b->scales) && a->zero_points == b->zero_points;
}

bool SameBytes(llvm::ArrayRef<char> a, llvm::ArrayRef<char> b) {
  return a.size() == b.size() &&
         (a.data() == b.data() || a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

}  // namespace

namespace internal {

template <>
bool UniquingInfo<TypeData>::isEqual(const TypeData* a, const TypeData* b) {
  if (a == b) return true;
  if (a == getEmptyKey() || a == getTombstoneKey() || b == getEmptyKey() ||
      b == getTombstoneKey()) {
    return false;
  }
  return a->hash == b->hash && a->kind == b->kind && a->signedness == b->signedness &&
         a->float_kind == b->float_kind && a->width == b->width &&
         a->input_count == b->input_count && a->element == b->element &&
         a->encoding == b->encoding && a->shape == b->shape && a->types == b->types &&
         Same(a->quantized, b->quantized) && a->text == b->text;
}

template <>
bool UniquingInfo<AttributeData>::isEqual(const AttributeData* a, const AttributeData* b) {
  if (a == b) return true;
  if (a == getEmptyKey() || a == getTombstoneKey() || b == getEmptyKey() ||
      b == getTombstoneKey()) {
    return false;
  }
  return a->hash == b->hash && a->kind == b->kind && a->type == b->type && a->bits == b->bits &&
         a->text == b->text && a->enumerator == b->enumerator && a->items == b->items &&
         a->names == b->names &&
         std::equal(std::begin(a->lines), std::end(a->lines), std::begin(b->lines)) &&
         a->metadata == b->metadata && SameBytes(a->bytes, b->bytes);
}

}  // namespace internal

template <typename T>
llvm::ArrayRef<T> Context::Copy(llvm::ArrayRef<T> values) {
  if (values.empty()) return {};
  T* copy = arena_.Allocate<T>(values.size());
  std::uninitialized_copy(values.begin(), values.end(), copy);
  return {copy, values.size()};
}

std::string_view Context::Intern(std::string_view text) {
  return strings_.insert(llvm::StringRef(text)).first->getKey();
}

Type Context::Unique(TypeData data) {
  data.hash = Hash(data);
  const auto found = types_.find(&data);
  if (found != types_.end()) return Type(*found);
  data.shape = Copy(data.shape);
  data.types = Copy(data.types);
  data.text = Intern(data.text);
  if (data.quantized != nullptr) {
    auto* quantized = new (arena_.Allocate<QuantizedData>()) QuantizedData(*data.quantized);
    quantized->scales = Copy(quantized->scales);
    quantized->zero_points = Copy(quantized->zero_points);
    data.quantized = quantized;
  }
  Nesting nesting;
  nesting.Add(data.element.data());
  nesting.Add(data.encoding);
  nesting.Add(data.types);
  nesting.AddCharacters(data.text.size() + 4 * data.shape.size());
  if (data.quantized != nullptr) nesting.AddCharacters(32 * data.quantized->scales.size());
  data.depth = nesting.depth();
  data.weight = nesting.weight();
  const auto* copy = new (arena_.Allocate<TypeData>()) TypeData(data);
  types_.insert(copy);
  return Type(copy);
}

Attribute Context::Unique(AttributeData data, bool borrow) {
  data.hash = Hash(data);
  const auto found = attributes_.find(&data);
  if (found != attributes_.end()) return Attribute(*found);
  data.text = Intern(data.text);
  data.enumerator = Intern(data.enumerator);
  data.items = Copy(data.items);
  if (!data.names.empty()) {
    auto* names = arena_.Allocate<std::string_view>(data.names.size());
    for (size_t i = 0; i < data.names.size(); ++i)
      new (names + i) std::string_view(Intern(data.names[i]));
    data.names = {names, data.names.size()};
  }
  if (!borrow && !data.bytes.empty()) {
    // Aligned so that integers() can look at the bytes as numbers.
    char* bytes = Allocate(data.bytes.size(), alignof(int64_t));
    std::memcpy(bytes, data.bytes.data(), data.bytes.size());
    data.bytes = {bytes, data.bytes.size()};
  }
  Nesting nesting;
  nesting.Add(data.type.data());
  nesting.Add(data.items);
  nesting.Add(data.metadata.data());
  nesting.AddCharacters(data.text.size() + 2 * data.bytes.size());
  for (const std::string_view name : data.names) nesting.AddCharacters(name.size());
  data.depth = nesting.depth();
  data.weight = nesting.weight();
  const auto* copy = new (arena_.Allocate<AttributeData>()) AttributeData(data);
  attributes_.insert(copy);
  return Attribute(copy);
}

Type Context::SimpleType(TypeKind kind) { return Unique(TypeData{.kind = kind}); }

Type Context::GroupType(TypeKind kind, llvm::ArrayRef<Type> members) {
  return Unique(TypeData{.kind = kind, .types = members});
}

Type Context::IntegerType(unsigned width, Signedness signedness) {
  return Unique(TypeData{.kind = TypeKind::kInteger, .signedness = signedness, .width = width});
}

Type Context::FloatType(FloatKind kind) {
  return Unique(TypeData{.kind = TypeKind::kFloat, .float_kind = kind});
}

Type Context::ComplexType(Type element) {
  return Unique(TypeData{.kind = TypeKind::kComplex, .element = element});
}

Type Context::QuantizedType(Type expressed, const QuantizedData& quantized) {
  return Unique(
      TypeData{.kind = TypeKind::kQuantized, .element = expressed, .quantized = &quantized});
}

Type Context::TensorType(llvm::ArrayRef<int64_t> shape, Type element, Attribute encoding) {
  return Unique(TypeData{
      .kind = TypeKind::kTensor, .element = element, .encoding = encoding.data(), .shape = shape});
}

Type Context::UnrankedTensorType(Type element) {
  return Unique(TypeData{.kind = TypeKind::kUnrankedTensor, .element = element});
}

Type Context::MemrefType(llvm::ArrayRef<int64_t> shape, Type element) {
  return Unique(TypeData{.kind = TypeKind::kMemref, .element = element, .shape = shape});
}

Type Context::FunctionType(llvm::ArrayRef<Type> inputs, llvm::ArrayRef<Type> outputs) {
  llvm::SmallVector<Type> types(inputs.begin(), inputs.end());
  types.append(outputs.begin(), outputs.end());
  return Unique(TypeData{.kind = TypeKind::kFunction,
                         .input_count = static_cast<unsigned>(inputs.size()),
                         .types = types});
}

Type Context::OpaqueType(std::string_view text) {
  return Unique(TypeData{.kind = TypeKind::kOpaque, .text = text});
}

Attribute Context::Unit() { return Unique(AttributeData{}); }

Attribute Context::Integer(Type type, int64_t value) {
  assert(type.Is(TypeKind::kInteger) || type.Is(TypeKind::kIndex));
  auto bits = static_cast<uint64_t>(value);
  if (type.IsInteger(0)) {
    bits = 0;
  } else if (type.Is(TypeKind::kInteger) && type.integer_width() < 64) {
    const unsigned unused = 64 - type.integer_width();
    const bool zero_extend =
        type.signedness() == Signedness::kUnsigned || type.integer_width() == 1;
    bits = zero_extend ? bits << unused >> unused
                       : static_cast<uint64_t>(static_cast<int64_t>(bits << unused) >> unused);
  }
  return Unique(AttributeData{.kind = AttributeKind::kInteger, .type = type, .bits = bits});
}

Attribute Context::Float(Type type, uint64_t bits) {
  return Unique(AttributeData{.kind = AttributeKind::kFloat, .type = type, .bits = bits});
}

Attribute Context::String(std::string_view value, Type type) {
  return Unique(AttributeData{.kind = AttributeKind::kString, .type = type, .text = value});
}

Attribute Context::TypeAttribute(Type type) {
  return Unique(AttributeData{.kind = AttributeKind::kType, .type = type});
}

Attribute Context::Array(llvm::ArrayRef<Attribute> items) {
  return Unique(AttributeData{.kind = AttributeKind::kArray, .items = items});
}

Attribute Context::Dictionary(llvm::ArrayRef<NamedAttribute> entries) {
  llvm::SmallVector<NamedAttribute> sorted(entries.begin(), entries.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const NamedAttribute& a, const NamedAttribute& b) { return a.first < b.first; });
  llvm::SmallVector<std::string_view> names;
  llvm::SmallVector<Attribute> items;
  for (const auto& [name, value] : sorted) {
    names.push_back(name);
    items.push_back(value);
  }
  return Unique(AttributeData{.kind = AttributeKind::kDictionary, .items = items, .names = names});
}

Attribute Context::Symbol(std::string_view root, llvm::ArrayRef<Attribute> nested) {
  return Unique(AttributeData{.kind = AttributeKind::kSymbol, .text = root, .items = nested});
}

Attribute Context::DenseElements(Type type, llvm::ArrayRef<char> bytes, bool borrow) {
  return Unique(AttributeData{.kind = AttributeKind::kDenseElements, .type = type, .bytes = bytes},
                borrow);
}

Attribute Context::DenseArray(Type element, llvm::ArrayRef<char> bytes) {
  return Unique(AttributeData{.kind = AttributeKind::kDenseArray, .type = element, .bytes = bytes});
}

Attribute Context::I64Array(llvm::ArrayRef<int64_t> values) {
  return DenseArray(IntegerType(64), {reinterpret_cast<const char*>(values.data()),
                                      values.size() * sizeof(int64_t)});
}

Attribute Context::DenseResource(Type type, std::string_view key) {
  return Unique(AttributeData{.kind = AttributeKind::kDenseResource, .type = type, .text = key});
}

Attribute Context::Struct(std::string_view mnemonic, llvm::ArrayRef<NamedAttribute> fields) {
  llvm::SmallVector<std::string_view> names;
  llvm::SmallVector<Attribute> items;
  for (const auto& [name, value] : fields) {
    names.push_back(name);
    items.push_back(value);
  }
  return Unique(AttributeData{
      .kind = AttributeKind::kStruct, .text = mnemonic, .items = items, .names = names});
}

Attribute Context::Enum(std::string_view mnemonic, std::string_view enumerator) {
  return Unique(
      AttributeData{.kind = AttributeKind::kEnum, .text = mnemonic, .enumerator = enumerator});
}

Attribute Context::OpaqueAttribute(std::string_view text) {
  return Unique(AttributeData{.kind = AttributeKind::kOpaque, .text = text});
}

Location Context::UnknownLocation() {
  return Unique(AttributeData{.kind = AttributeKind::kUnknownLocation});
}

Location Context::FileLocation(std::string_view file, uint32_t start_line, uint32_t start_column,
                               uint32_t end_line, uint32_t end_column) {
  return Unique(AttributeData{.kind = AttributeKind::kFileLocation,
                              .text = file,
                              .lines = {start_line, start_column, end_line, end_column}});
}

Location Context::NameLocation(std::string_view name, Location child) {
  return Unique(AttributeData{.kind = AttributeKind::kNameLocation, .text = name, .items = child});
}

Location Context::CallSiteLocation(Location callee, Location caller) {
  const Attribute items[] = {callee, caller};
  return Unique(AttributeData{.kind = AttributeKind::kCallSiteLocation, .items = items});
}

Location Context::FusedLocation(llvm::ArrayRef<Attribute> locations, Attribute metadata) {
  return Unique(AttributeData{
      .kind = AttributeKind::kFusedLocation, .items = locations, .metadata = metadata});
}

}  // namespace plimsoll
