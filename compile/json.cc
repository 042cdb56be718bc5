#include "compile/json.h"

#include <cmath>

#include "ir/status.h"
#include "llvm/Support/ConvertUTF.h"

namespace plimsoll {
namespace {

std::string_view KindName(TypeKind kind) {
  switch (kind) {
    case TypeKind::kInteger:
      return "integer";
    case TypeKind::kFloat:
      return "float";
    case TypeKind::kIndex:
      return "index";
    case TypeKind::kNone:
      return "none";
    case TypeKind::kComplex:
      return "complex";
    case TypeKind::kQuantized:
      return "quantized";
    case TypeKind::kTensor:
      return "tensor";
    case TypeKind::kUnrankedTensor:
      return "unranked_tensor";
    case TypeKind::kMemref:
      return "memref";
    case TypeKind::kTuple:
      return "tuple";
    case TypeKind::kFunction:
      return "function";
    case TypeKind::kToken:
      return "token";
    case TypeKind::kFuture:
      return "future";
    case TypeKind::kWitness:
      return "witness";
    case TypeKind::kOpaque:
      return "opaque";
  }
  llvm_unreachable("a type kind without a name");
}

Json NumberToJson(Attribute attribute) {
  const Type type = attribute.type();
  if (type.IsInteger(1) && type.signedness() == Signedness::kSignless) {
    return attribute.integer() != 0;
  }
  const bool is_unsigned =
      type.Is(TypeKind::kInteger) && type.signedness() == Signedness::kUnsigned;
  return is_unsigned ? Json(static_cast<uint64_t>(attribute.integer())) : Json(attribute.integer());
}

// Arrays of integers and booleans; others are given as text.
Json ArrayToJson(Attribute attribute) {
  Json out = Json::array();
  if (attribute.type().IsInteger(64)) {
    for (const int64_t value : attribute.integers()) out.push_back(value);
  } else if (attribute.type().IsInteger(1)) {
    for (const char value : attribute.bytes()) out.push_back(value != 0);
  } else {
    return ToUtf8(attribute.ToString());
  }
  return out;
}

Json MembersToJson(Attribute attribute) {
  Json out = Json::object();
  for (size_t i = 0; i < attribute.items().size(); ++i) {
    out[ToUtf8(attribute.names()[i])] = ToJson(attribute.items()[i]);
  }
  return out;
}

}  // namespace

std::string ToUtf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto* data = reinterpret_cast<const llvm::UTF8*>(text.data());
    const unsigned size = llvm::getNumBytesForUTF8(*data);
    if (size <= text.size() && llvm::isLegalUTF8Sequence(data, data + size)) {
      out += text.substr(0, size);
      text.remove_prefix(size);
    } else {
      out += "\xEF\xBF\xBD";
      text.remove_prefix(1);
    }
  }
  return out;
}

Json ToJson(Type type) {
  Json out = {{"kind", KindName(type.kind())}, {"text", ToUtf8(type.ToString())}};
  if (type.Is(TypeKind::kTensor) || type.Is(TypeKind::kMemref)) {
    Json shape = Json::array();
    for (const int64_t size : type.shape()) {
      shape.push_back(size == kDynamic ? Json(nullptr) : Json(size));
    }
    out["shape"] = std::move(shape);
  }
  if (type.element_type()) out["element_type"] = ToUtf8(type.element_type().ToString());
  const std::optional<int64_t> bytes = type.bytes();
  out["bytes"] = bytes ? Json(*bytes) : Json(nullptr);
  return out;
}

Json ToJson(Attribute attribute) {
  switch (attribute.kind()) {
    case AttributeKind::kUnit:
      return true;
    case AttributeKind::kInteger:
      return NumberToJson(attribute);
    case AttributeKind::kFloat:
      // JSON has no infinities and no NaN.
      return std::isfinite(attribute.float_value()) ? Json(attribute.float_value())
                                                    : Json(attribute.ToString());
    case AttributeKind::kString:
      return ToUtf8(attribute.text());
    case AttributeKind::kEnum:
      return attribute.enumerator();
    case AttributeKind::kArray: {
      Json out = Json::array();
      for (const Attribute item : attribute.items()) out.push_back(ToJson(item));
      return out;
    }
    case AttributeKind::kDictionary:
    case AttributeKind::kStruct:
      return MembersToJson(attribute);
    case AttributeKind::kDenseArray:
      return ArrayToJson(attribute);
    default:
      return ToUtf8(attribute.ToString());
  }
}

Json AttributesToJson(const Op& op) {
  Json out = Json::object();
  for (const Attribute dictionary : {op.properties(), op.attributes()}) {
    if (!dictionary) continue;
    for (size_t i = 0; i < dictionary.items().size(); ++i) {
      const std::string name = ToUtf8(dictionary.names()[i]);
      if (!out.contains(name)) out[name] = ToJson(dictionary.items()[i]);
    }
  }
  return out;
}

}  // namespace plimsoll
