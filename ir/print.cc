#include "ir/print.h"

#include <algorithm>
#include <cstring>

#include "ir/print_parts.h"
#include "ir/structs.h"
#include "llvm/ADT/bit.h"

namespace plimsoll {
namespace {

// Prints the items with `, ` between them.
template <typename Items, typename Function>
void PrintList(const Items& items, std::string& out, Function print) {
  bool first = true;
  for (const auto& item : items) {
    if (!first) out += ", ";
    first = false;
    print(item);
  }
}

void PrintIntegers(llvm::ArrayRef<int64_t> values, std::string& out) {
  out += '[';
  PrintList(values, out, [&](int64_t value) { PrintNumber(value, out); });
  out += ']';
}

void PrintDimension(int64_t size, std::string& out) {
  if (size == kDynamic) {
    out += '?';
  } else {
    PrintNumber(size, out);
  }
}

void PrintShape(Type type, std::string& out) {
  for (const int64_t size : type.shape()) {
    PrintDimension(size, out);
    out += 'x';
  }
  Print(type.element_type(), out);
}

void PrintTypes(llvm::ArrayRef<Type> types, std::string& out) {
  PrintList(types, out, [&](Type type) { Print(type, out); });
}

void PrintQuantized(Type type, std::string& out) {
  const QuantizedData& quantized = *type.data()->quantized;
  const bool is_signed = (quantized.flags & 1) != 0;
  const unsigned width =
      quantized.storage.Is(TypeKind::kInteger) ? quantized.storage.integer_width() : 0;
  out += "!quant.uniform<";
  if (width != 0) {
    out += is_signed ? 'i' : 'u';
    PrintNumber(width, out);
    // Storage is never wider than 32 bits in a valid program.
    const unsigned magnitude = std::min(is_signed ? width - 1 : width, 62U);
    const int64_t natural_max = (int64_t{1} << magnitude) - 1;
    const int64_t natural_min = is_signed ? -natural_max - 1 : 0;
    if (quantized.storage_min != natural_min || quantized.storage_max != natural_max) {
      out += '<';
      PrintNumber(quantized.storage_min, out);
      out += ':';
      PrintNumber(quantized.storage_max, out);
      out += '>';
    }
  } else {
    Print(quantized.storage, out);
  }
  out += ':';
  Print(type.element_type(), out);
  if (quantized.axis) {
    out += ':';
    PrintNumber(*quantized.axis, out);
  }
  out += ", ";
  if (quantized.axis) out += '{';
  for (size_t i = 0; i < quantized.scales.size(); ++i) {
    if (i != 0) out += ", ";
    PrintDouble(quantized.scales[i], out);
    if (i < quantized.zero_points.size() && quantized.zero_points[i] != 0) {
      out += ':';
      PrintNumber(quantized.zero_points[i], out);
    }
  }
  if (quantized.axis) out += '}';
  out += '>';
}

uint64_t ReadLittleEndian(llvm::ArrayRef<char> bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), std::min<size_t>(bytes.size(), sizeof(bits)));
  return bits;
}

// One element of a constant.
void PrintElement(Type type, llvm::ArrayRef<char> bytes, std::string& out) {
  switch (type.kind()) {
    case TypeKind::kComplex: {
      const size_t half = bytes.size() / 2;
      out += '(';
      PrintElement(type.element_type(), bytes.take_front(half), out);
      out += ',';
      PrintElement(type.element_type(), bytes.drop_front(half), out);
      out += ')';
      return;
    }
    case TypeKind::kFloat:
      PrintFloat(type, ReadLittleEndian(bytes), out);
      return;
    default: {
      const uint64_t bits = ReadLittleEndian(bytes);
      if (type.IsInteger(1)) {
        out += (bits & 1) != 0 ? "true" : "false";
        return;
      }
      const unsigned width = type.Is(TypeKind::kInteger) ? type.integer_width() : 64;
      const unsigned unused = 64 - width;
      if (type.Is(TypeKind::kInteger) && type.signedness() == Signedness::kUnsigned) {
        PrintNumber(bits << unused >> unused, out);
      } else {
        PrintNumber(static_cast<int64_t>(bits << unused) >> unused, out);
      }
    }
  }
}

// Nested lists in row-major order: [[1, 2], [3, 4]].
void PrintElements(Type element, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<char>& bytes,
                   size_t element_size, std::string& out) {
  if (shape.empty()) {
    PrintElement(element, bytes.take_front(element_size), out);
    bytes = bytes.drop_front(element_size);
    return;
  }
  out += '[';
  for (int64_t i = 0; i < shape[0]; ++i) {
    if (i != 0) out += ", ";
    PrintElements(element, shape.drop_front(), bytes, element_size, out);
  }
  out += ']';
}

void PrintDenseElements(Attribute attribute, std::string& out) {
  const Type type = attribute.type();
  const Type element = type.element_type();
  const std::optional<int64_t> element_size = element.bytes_per_element();
  llvm::ArrayRef<char> bytes = attribute.bytes();
  out += "dense<";
  // Numbers of more than 64 bits are only ever written as bytes.
  const int64_t longest = element.Is(TypeKind::kComplex) ? 16 : 8;
  const bool as_numbers = element_size && *element_size > 0 && *element_size <= longest &&
                          !element.Is(TypeKind::kQuantized);
  const std::optional<int64_t> count = type.element_count();
  // Booleans have no bytes that all versions of MLIR agree on: older ones pack eight in one.
  const bool is_short = count && (*count <= kLongestElementList || element.IsInteger(1));
  if (bytes.empty()) {
    // MLIR writes an empty constant as nothing.
  } else if (as_numbers && attribute.is_splat()) {
    PrintElement(element, bytes, out);
  } else if (as_numbers && is_short) {
    PrintElements(element, type.shape(), bytes, *element_size, out);
  } else {
    out += "\"0x";
    PrintHex(bytes, out);
    out += '"';
  }
  out += "> : ";
  Print(type, out);
}

void PrintDenseArray(Attribute attribute, std::string& out) {
  const Type element = attribute.type();
  const size_t size = *element.bytes_per_element();
  out += "array<";
  Print(element, out);
  llvm::ArrayRef<char> bytes = attribute.bytes();
  for (bool first = true; !bytes.empty(); first = false) {
    out += first ? ": " : ", ";
    PrintElement(element, bytes.take_front(size), out);
    bytes = bytes.drop_front(size);
  }
  out += '>';
}

void PrintConvolutionSide(std::string_view first_name, int64_t first, std::string_view second_name,
                          int64_t second, llvm::ArrayRef<int64_t> spatial, std::string& out) {
  out += '[';
  for (size_t i = 0; i < spatial.size() + 2; ++i) {
    if (i != 0) out += ", ";
    const auto dimension = static_cast<int64_t>(i);
    if (dimension == first) {
      out += first_name;
    } else if (dimension == second) {
      out += second_name;
    } else {
      PrintNumber(std::find(spatial.begin(), spatial.end(), dimension) - spatial.begin(), out);
    }
  }
  out += ']';
}

void PrintConvolution(Attribute attribute, std::string& out) {
  const auto number = [&](std::string_view name) { return attribute.Find(name).integer(); };
  const auto list = [&](std::string_view name) { return attribute.Find(name).integers(); };
  PrintConvolutionSide("b", number("input_batch_dimension"), "f", number("input_feature_dimension"),
                       list("input_spatial_dimensions"), out);
  out += 'x';
  PrintConvolutionSide("i", number("kernel_input_feature_dimension"), "o",
                       number("kernel_output_feature_dimension"), list("kernel_spatial_dimensions"),
                       out);
  out += "->";
  PrintConvolutionSide("b", number("output_batch_dimension"), "f",
                       number("output_feature_dimension"), list("output_spatial_dimensions"), out);
}

void PrintField(const StructField& field, Attribute value, std::string& out) {
  out += field.name;
  out += " = ";
  switch (field.kind) {
    case FieldKind::kInts:
      PrintIntegers(value.integers(), out);
      break;
    case FieldKind::kInt:
      PrintNumber(value.integer(), out);
      break;
    case FieldKind::kBool:
      out += value.integer() != 0 ? "true" : "false";
      break;
    case FieldKind::kFloat64:
      PrintDouble(value.float_value(), out);
      break;
    case FieldKind::kType:
      Print(value.type(), out);
      break;
    case FieldKind::kAny:
      Print(value, out);
      break;
  }
}

bool IsDefault(const StructField& field, Attribute value) {
  return field.kind == FieldKind::kInts  ? value.bytes().empty()
         : field.kind == FieldKind::kInt ? value.integer() == 0
                                         : false;
}

void PrintStruct(Attribute attribute, std::string& out) {
  const StructInfo* info = FindStruct(attribute.text());
  out += '#';
  out += attribute.text();
  out += '<';
  if (!HasItsFields(attribute)) {
    out += "<<malformed>>";
  } else if (attribute.text() == "stablehlo.conv") {
    PrintConvolution(attribute, out);
  } else if (attribute.text() == "stablehlo.bounds") {
    PrintList(attribute.items()[0].integers(), out,
              [&](int64_t bound) { PrintDimension(bound, out); });
  } else {
    bool first = true;
    for (size_t i = 0; i < info->fields.size(); ++i) {
      if (info->omits_defaults && IsDefault(info->fields[i], attribute.items()[i])) continue;
      if (!first) out += ", ";
      first = false;
      PrintField(info->fields[i], attribute.items()[i], out);
    }
  }
  out += '>';
}

void PrintEnum(Attribute attribute, std::string& out) {
  const std::string_view mnemonic = attribute.text();
  out += '#';
  if (EnumHasAngleBrackets(mnemonic)) {
    out += mnemonic;
    out += '<';
  } else {
    const size_t dot = mnemonic.find('.');
    out += mnemonic.substr(0, dot);
    out += '<';
    out += mnemonic.substr(dot + 1);
    out += ' ';
  }
  out += attribute.enumerator();
  out += '>';
}

}  // namespace

void Print(Type type, std::string& out) {
  if (!type) {
    out += "<<null type>>";
    return;
  }
  switch (type.kind()) {
    case TypeKind::kInteger:
      out += type.signedness() == Signedness::kSignless ? "i"
             : type.signedness() == Signedness::kSigned ? "si"
                                                        : "ui";
      PrintNumber(type.integer_width(), out);
      return;
    case TypeKind::kFloat:
      out += FloatName(type.float_kind());
      return;
    case TypeKind::kIndex:
      out += "index";
      return;
    case TypeKind::kNone:
      out += "none";
      return;
    case TypeKind::kComplex:
      out += "complex<";
      Print(type.element_type(), out);
      out += '>';
      return;
    case TypeKind::kQuantized:
      PrintQuantized(type, out);
      return;
    case TypeKind::kTensor:
      out += "tensor<";
      PrintShape(type, out);
      if (type.encoding()) {
        out += ", ";
        Print(type.encoding(), out);
      }
      out += '>';
      return;
    case TypeKind::kUnrankedTensor:
      out += "tensor<*x";
      Print(type.element_type(), out);
      out += '>';
      return;
    case TypeKind::kMemref:
      out += "memref<";
      PrintShape(type, out);
      out += '>';
      return;
    case TypeKind::kTuple:
      out += "tuple<";
      PrintTypes(type.members(), out);
      out += '>';
      return;
    case TypeKind::kFuture:
      out += "!stablehlo.future<";
      PrintTypes(type.members(), out);
      out += '>';
      return;
    case TypeKind::kFunction: {
      out += '(';
      PrintTypes(type.inputs(), out);
      out += ") -> ";
      const llvm::ArrayRef<Type> outputs = type.outputs();
      const bool bare = outputs.size() == 1 && !outputs[0].Is(TypeKind::kFunction);
      if (!bare) out += '(';
      PrintTypes(outputs, out);
      if (!bare) out += ')';
      return;
    }
    case TypeKind::kToken:
      out += "!stablehlo.token";
      return;
    case TypeKind::kWitness:
      out += "!shape.witness";
      return;
    case TypeKind::kOpaque:
      out += type.data()->text;
      return;
  }
}

void PrintDictionary(Attribute dictionary, std::string& out, const LocationAliases* aliases) {
  out += '{';
  for (size_t i = 0; i < dictionary.items().size(); ++i) {
    if (i != 0) out += ", ";
    const std::string_view name = dictionary.names()[i];
    PrintName(name, out);
    const Attribute value = dictionary.items()[i];
    if (value.Is(AttributeKind::kUnit)) continue;
    out += " = ";
    Print(value, out, aliases);
  }
  out += '}';
}

void PrintLocation(Location location, std::string& out, const LocationAliases* aliases,
                   bool expand) {
  if (!location) {
    out += "unknown";
    return;
  }
  if (aliases != nullptr && !expand) {
    const auto found = aliases->find(location.data());
    if (found != aliases->end()) {
      out += "#loc";
      PrintNumber(found->second, out);
      return;
    }
  }
  switch (location.kind()) {
    case AttributeKind::kFileLocation:
      PrintString(location.text(), out);
      out += ':';
      PrintNumber(location.start_line(), out);
      out += ':';
      PrintNumber(location.start_column(), out);
      if (location.end_line() != location.start_line()) {
        out += " to ";
        PrintNumber(location.end_line(), out);
        out += ':';
        PrintNumber(location.end_column(), out);
      } else if (location.end_column() != location.start_column()) {
        out += " to :";
        PrintNumber(location.end_column(), out);
      }
      return;
    case AttributeKind::kNameLocation:
      PrintString(location.text(), out);
      if (!location.child().Is(AttributeKind::kUnknownLocation)) {
        out += '(';
        PrintLocation(location.child(), out, aliases);
        out += ')';
      }
      return;
    case AttributeKind::kCallSiteLocation:
      out += "callsite(";
      PrintLocation(location.callee(), out, aliases);
      out += " at ";
      PrintLocation(location.caller(), out, aliases);
      out += ')';
      return;
    case AttributeKind::kFusedLocation:
      out += "fused";
      if (location.metadata()) {
        out += '<';
        Print(location.metadata(), out, aliases);
        out += '>';
      }
      out += '[';
      PrintList(location.items(), out,
                [&](Attribute member) { PrintLocation(member, out, aliases); });
      out += ']';
      return;
    case AttributeKind::kOpaque:
      out += location.text();
      return;
    default:
      out += "unknown";
  }
}

void Print(Attribute attribute, std::string& out, const LocationAliases* aliases) {
  if (!attribute) {
    out += "<<null attribute>>";
    return;
  }
  switch (attribute.kind()) {
    case AttributeKind::kUnit:
      out += "unit";
      return;
    case AttributeKind::kInteger: {
      const Type type = attribute.type();
      if (type.IsInteger(1) && type.signedness() == Signedness::kSignless) {
        out += attribute.integer() != 0 ? "true" : "false";
        return;
      }
      if (type.Is(TypeKind::kInteger) && type.signedness() == Signedness::kUnsigned) {
        PrintNumber(static_cast<uint64_t>(attribute.integer()), out);
      } else {
        PrintNumber(attribute.integer(), out);
      }
      out += " : ";
      Print(type, out);
      return;
    }
    case AttributeKind::kFloat:
      PrintFloat(attribute.type(), attribute.float_bits(), out);
      out += " : ";
      Print(attribute.type(), out);
      return;
    case AttributeKind::kString:
      PrintString(attribute.text(), out);
      if (attribute.type()) {
        out += " : ";
        Print(attribute.type(), out);
      }
      return;
    case AttributeKind::kType:
      Print(attribute.type(), out);
      return;
    case AttributeKind::kArray:
      out += '[';
      PrintList(attribute.items(), out, [&](Attribute item) { Print(item, out, aliases); });
      out += ']';
      return;
    case AttributeKind::kDictionary:
      PrintDictionary(attribute, out, aliases);
      return;
    case AttributeKind::kSymbol:
      PrintSymbol(attribute.text(), out);
      for (const Attribute nested : attribute.items()) {
        out += "::";
        PrintSymbol(nested.text(), out);
      }
      return;
    case AttributeKind::kDenseElements:
      PrintDenseElements(attribute, out);
      return;
    case AttributeKind::kDenseArray:
      PrintDenseArray(attribute, out);
      return;
    case AttributeKind::kDenseResource:
      out += "dense_resource<";
      PrintName(attribute.text(), out);
      out += "> : ";
      Print(attribute.type(), out);
      return;
    case AttributeKind::kStruct:
      PrintStruct(attribute, out);
      return;
    case AttributeKind::kEnum:
      PrintEnum(attribute, out);
      return;
    case AttributeKind::kOpaque:
      out += attribute.text();
      return;
    default:
      out += "loc(";
      PrintLocation(attribute, out, aliases);
      out += ')';
  }
}

}  // namespace plimsoll
