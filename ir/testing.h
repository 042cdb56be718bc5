// What this room's tests share: types from short texts, and regions and ops with given types.

#ifndef PLIMSOLL_IR_TESTING_H_
#define PLIMSOLL_IR_TESTING_H_

#include <charconv>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "ir/context.h"
#include "ir/dimensions.h"
#include "ir/graph.h"
#include "ir/infer_types.h"

namespace plimsoll::testing {

inline int64_t ParseNumber(std::string_view text) {
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// "f32", "i8", "ui4", "complex<f64>", "index"; "q8" and "q8:1" are i8 quantized from f32, with one
// scale or along dimension 1.
inline Type ParseElement(Context& context, std::string_view text) {
  if (text.starts_with("complex<")) {
    return context.ComplexType(ParseElement(context, text.substr(8, text.size() - 9)));
  }
  if (text == "index") return context.IndexType();
  if (text.starts_with("ui")) {
    return context.IntegerType(ParseNumber(text.substr(2)), Signedness::kUnsigned);
  }
  if (text.starts_with("i")) return context.IntegerType(ParseNumber(text.substr(1)));
  if (text.starts_with("q")) {
    const double scales[] = {0.5, 0.25};
    const int64_t zero_points[] = {0, 0};
    const bool per_axis = text.size() > 2;
    QuantizedData quantized = {
        .storage = context.IntegerType(8),
        .flags = 1,
        .storage_min = -128,
        .storage_max = 127,
        .axis = std::nullopt,
        .scales = llvm::ArrayRef(scales).take_front(per_axis ? 2 : 1),
        .zero_points = llvm::ArrayRef(zero_points).take_front(per_axis ? 2 : 1)};
    if (per_axis) quantized.axis = static_cast<int32_t>(ParseNumber(text.substr(3)));
    return context.QuantizedType(context.FloatType(FloatKind::kF32), quantized);
  }
  return context.FloatType(FloatKindFromName(text).value());
}

// "2x?x<=4xf32": sizes, not known, not known with a bound. "token" and "*xf32" are what they say.
inline Type ParseType(Context& context, std::string_view text) {
  if (text == "token") return context.TokenType();
  if (text.starts_with("*x")) {
    return context.UnrankedTensorType(ParseElement(context, text.substr(2)));
  }
  Dimensions dimensions;
  while (!text.empty() &&
         std::string_view("0123456789?<").find(text[0]) != std::string_view::npos) {
    const size_t end = text.find('x');
    const std::string_view size = text.substr(0, end);
    if (size == "?") {
      dimensions.push_back({});
    } else if (size.starts_with("<=")) {
      dimensions.push_back({kDynamic, ParseNumber(size.substr(2))});
    } else {
      dimensions.push_back({ParseNumber(size), kDynamic});
    }
    text = text.substr(end + 1);
  }
  return TensorOf(context, dimensions, ParseElement(context, text));
}

using TypeTexts = std::vector<std::string_view>;

inline std::vector<Type> ParseTypes(Context& context, const TypeTexts& texts) {
  std::vector<Type> types;
  for (const std::string_view text : texts) types.push_back(ParseType(context, text));
  return types;
}

// A region that takes `arguments` and returns values of the types `returned`, made by an op that
// the table does not know.
inline std::unique_ptr<Region> MakeBody(Context& context, const TypeTexts& arguments,
                                        const TypeTexts& returned,
                                        Opcode terminator = Opcode::kReturn) {
  auto region = std::make_unique<Region>();
  Block& block = region->AddBlock();
  const Location location = context.UnknownLocation();
  for (const Type type : ParseTypes(context, arguments)) block.AddArgument(type, location);
  Op* source = block.Append(Op::Create("test.source", location, ParseTypes(context, returned), {}));
  block.Append(Op::Create(GetOpInfo(terminator).name, location, {}, source->results()));
  return region;
}

// Infers and checks types from texts and answers in text.
class TypesTest : public ::testing::Test {
 protected:
  using Properties = std::vector<NamedAttribute>;

  Attribute Ints(std::initializer_list<int64_t> numbers) {
    return context_.I64Array(std::vector<int64_t>(numbers));
  }

  // A region of the op at hand, after those made before.
  void AddBody(const TypeTexts& arguments, const TypeTexts& returned) {
    regions_.push_back(MakeBody(context_, arguments, returned));
  }

  // The inferred types, or what is wrong.
  std::string Infer(Opcode opcode, const TypeTexts& operands, const Properties& properties = {}) {
    return WithView(opcode, operands, properties, [](const OpView& view) -> std::string {
      const StatusOr<std::vector<Type>> types = InferResultTypes(view);
      if (!types.ok()) return std::string(types.status().message());
      std::string text;
      for (const Type type : *types) {
        if (!text.empty()) text += ", ";
        text += type.ToString();
      }
      return text;
    });
  }

  // "" if these types can be right, else what is wrong.
  std::string Check(Opcode opcode, const TypeTexts& operands, const Properties& properties,
                    const TypeTexts& results) {
    return WithView(opcode, operands, properties, [&](const OpView& view) {
      return std::string(CheckResultTypes(view, ParseTypes(context_, results)).message());
    });
  }

  // "" if the regions fit the op, else what is wrong.
  std::string CheckBodies(Opcode opcode, const TypeTexts& operands,
                          const Properties& properties = {}, const TypeTexts& results = {}) {
    return WithView(opcode, operands, properties, [&](const OpView& view) {
      return std::string(CheckRegions(view, ParseTypes(context_, results)).message());
    });
  }

  Context context_;

 private:
  std::string WithView(Opcode opcode, const TypeTexts& operands, const Properties& properties,
                       llvm::function_ref<std::string(const OpView&)> ask) {
    const std::vector<Type> types = ParseTypes(context_, operands);
    std::vector<const Region*> regions;
    for (const std::unique_ptr<Region>& region : regions_) regions.push_back(region.get());
    const Attribute dictionary = properties.empty() ? Attribute() : context_.Dictionary(properties);
    std::string answer = ask(OpView(context_, opcode, types, dictionary, regions));
    regions_.clear();
    return answer;
  }

  std::vector<std::unique_ptr<Region>> regions_;
};

}  // namespace plimsoll::testing

#endif  // PLIMSOLL_IR_TESTING_H_
