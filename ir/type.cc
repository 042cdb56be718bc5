#include "ir/type.h"

#include "ir/print.h"
#include "llvm/Support/MathExtras.h"

namespace plimsoll {
namespace {

constexpr std::string_view kFloatNames[] = {
#define PLIMSOLL_FLOAT(identifier, name, semantics) name,
#include "ir/floats.def"
#undef PLIMSOLL_FLOAT
};

}  // namespace

std::string_view FloatName(FloatKind kind) { return kFloatNames[static_cast<size_t>(kind)]; }

std::optional<FloatKind> FloatKindFromName(std::string_view name) {
  for (size_t i = 0; i < std::size(kFloatNames); ++i) {
    if (kFloatNames[i] == name) return static_cast<FloatKind>(i);
  }
  return std::nullopt;
}

const llvm::fltSemantics& FloatSemantics(FloatKind kind) {
  switch (kind) {
#define PLIMSOLL_FLOAT(identifier, name, semantics) \
  case FloatKind::k##identifier:                    \
    return llvm::APFloat::semantics();
#include "ir/floats.def"
#undef PLIMSOLL_FLOAT
  }
  llvm_unreachable("a float kind that is not in the table");
}

bool Type::has_static_shape() const {
  for (const int64_t size : shape()) {
    if (size == kDynamic) return false;
  }
  return true;
}

bool Type::is_element_type() const {
  switch (kind()) {
    case TypeKind::kInteger:
    case TypeKind::kFloat:
    case TypeKind::kIndex:
    case TypeKind::kComplex:
    case TypeKind::kQuantized:
    case TypeKind::kOpaque:
      return true;
    default:
      return false;
  }
}

std::optional<int64_t> Type::element_count() const {
  if (!Is(TypeKind::kTensor) && !Is(TypeKind::kMemref)) return std::nullopt;
  int64_t count = 1;
  bool overflows = false;
  bool is_empty = false;
  for (const int64_t size : shape()) {
    if (size < 0) return std::nullopt;
    is_empty = is_empty || size == 0;
    overflows = overflows || llvm::MulOverflow(count, size, count);
  }
  if (is_empty) return 0;
  return overflows ? std::nullopt : std::optional<int64_t>(count);
}

std::optional<int64_t> Type::bytes_per_element() const {
  if (data_ == nullptr) return std::nullopt;
  switch (kind()) {
    case TypeKind::kInteger:
      return llvm::divideCeil(integer_width(), 8);
    case TypeKind::kIndex:
      return 8;
    case TypeKind::kFloat:
      return llvm::divideCeil(llvm::APFloat::getSizeInBits(FloatSemantics(float_kind())), 8);
    case TypeKind::kComplex: {
      const std::optional<int64_t> part = element_type().bytes_per_element();
      return part ? std::optional<int64_t>(2 * *part) : std::nullopt;
    }
    case TypeKind::kQuantized:
      return data_->quantized->storage.bytes_per_element();
    default:
      return std::nullopt;
  }
}

std::optional<int64_t> Type::bytes() const {
  if (data_ == nullptr) return std::nullopt;
  switch (kind()) {
    case TypeKind::kTensor:
    case TypeKind::kMemref: {
      const std::optional<int64_t> count = element_count();
      const std::optional<int64_t> size = element_type().bytes_per_element();
      int64_t product = 0;
      if (!count || !size || llvm::MulOverflow(*count, *size, product)) return std::nullopt;
      return product;
    }
    case TypeKind::kTuple:
    case TypeKind::kFuture: {
      int64_t sum = 0;
      for (const Type member : members()) {
        const std::optional<int64_t> size = member.bytes();
        if (!size || llvm::AddOverflow(sum, *size, sum)) return std::nullopt;
      }
      return sum;
    }
    case TypeKind::kToken:
    case TypeKind::kNone:
    case TypeKind::kWitness:
      return 0;
    default:
      return bytes_per_element();
  }
}

std::string Type::ToString() const {
  std::string out;
  Print(*this, out);
  return out;
}

}  // namespace plimsoll
