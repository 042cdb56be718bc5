#include "rewrite/partial_read_rules.h"

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "analysis/indexed_value.h"
#include "analysis/op_class.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"
#include "rewrite/contraction_order.h"
#include "rewrite/emit_products.h"
#include "rewrite/partial_read.h"
#include "rewrite/pieces.h"
#include "rewrite/sum_of_products.h"

namespace plimsoll {
namespace {

// A longer chain of ops is not looked through.
constexpr int kMostDepth = 64;

// Computes parts of values of the operand's shape from parts of what they are made of.
class PartComputer {
 public:
  PartComputer(Builder& builder, const Op& op, const PartialRead& read)
      : builder_(builder), op_(op), read_(read) {}

  // The op whose part is wanted is always looked through; others if nobody else needs them, or if
  // XLA computes them again for each user anyway.
  Value* Get(Value& value, bool is_root = false) {
    if (value.type().rank() == 0 && op_.operand(0)->type().rank() != 0) return &value;
    if (const auto made = made_.find(&value); made != made_.end()) return made->second;
    ++depth_;
    Value* part = Make(value, is_root);
    --depth_;
    return made_[&value] = part;
  }

 private:
  llvm::ArrayRef<int64_t> Shape() const { return op_.result(0)->type().shape(); }

  Value* Make(Value& value, bool is_root) {
    Op* op = value.defining_op();
    if (op == nullptr || op->block() != op_.block() || depth_ > kMostDepth) return Read(value);
    if (IsSplatConstant(*op)) return SplatOfShape(builder_, *op, Shape());
    const bool is_through = is_root || value.has_one_use() || ClassOf(*op) == OpClass::kCheap;
    if (!MapsElements(*op) || !is_through) return Read(value);
    llvm::SmallVector<Value*> operands;
    for (Value* operand : op->operands()) operands.push_back(Get(*operand));
    return CloneElementwise(builder_, *op, operands, Shape());
  }

  Value* Read(Value& value) {
    IndexedValue element = {.value = &value,
                            .indices = {read_.indices().begin(), read_.indices().end()}};
    element = SeeThrough(std::move(element));
    if (const Op* op = element.value->defining_op(); op != nullptr && op->Is(Opcode::kIota)) {
      element = ShortIota(*op, element);
    }
    const IndexedValue part = read_.Read(builder_, element);
    if (part.value == nullptr) return nullptr;
    return Arrange(builder_, part, llvm::to_vector(llvm::seq(static_cast<int>(Shape().size()))),
                   Shape());
  }

  // An iota with only the dimension that it counts along.
  IndexedValue ShortIota(const Op& iota, const IndexedValue& element) {
    const int64_t dimension = iota.Get("iota_dimension").integer();
    const Type type = builder_.context().TensorType(element.value->type().shape()[dimension],
                                                    element.value->type().element_type());
    return {.value = builder_.Iota(type, 0), .indices = {element.indices[dimension]}};
  }

  Builder& builder_;
  const Op& op_;
  const PartialRead& read_;
  llvm::DenseMap<const Value*, Value*> made_;
  int depth_ = 0;
};

// The op that makes what is read, if it makes it for this alone.
const Op* SourceOf(const Op& read) {
  const Op* source = read.operand(0)->defining_op();
  const bool is_own =
      source != nullptr && source->block() == read.block() && read.operand(0)->has_one_use();
  return is_own ? source : nullptr;
}

Builder::Values PartOfElementwise(RuleScope& scope) {
  const Op& op = scope.op();
  const std::optional<PartialRead> read = PartialRead::Of(op);
  const Op* source = read ? SourceOf(op) : nullptr;
  if (source == nullptr) return {};
  // Slices of what is moved have a rule of their own.
  const bool is_moved = op.Is(Opcode::kGather) &&
                        (source->Is(Opcode::kBroadcastInDim) || source->Is(Opcode::kTranspose));
  if (!MapsElements(*source) && !is_moved) return {};
  Value* part = PartComputer(scope.builder(), op, *read).Get(*op.operand(0), /*is_root=*/true);
  return part == nullptr ? Builder::Values{} : Builder::Values{part};
}

Builder::Values GatherOfElementwise(RuleScope& scope) {
  return scope.op().Is(Opcode::kGather) ? PartOfElementwise(scope) : Builder::Values{};
}

Builder::Values SliceOfElementwise(RuleScope& scope) {
  return scope.op().Is(Opcode::kGather) ? Builder::Values{} : PartOfElementwise(scope);
}

// The operands of a product with these indices for the result's dimensions, and new ones for those
// that are summed over.
struct ProductOperands {
  IndexedValue left;
  IndexedValue right;
};

ProductOperands OperandsOf(const Op& product, llvm::ArrayRef<int> indices, int next_index) {
  const Attribute numbers = product.Get("dot_dimension_numbers");
  const auto dimensions = [&](std::string_view name) { return numbers.Find(name).integers(); };
  ProductOperands operands = {.left = {.value = product.operand(0), .indices = {}},
                              .right = {.value = product.operand(1), .indices = {}}};
  // No index is so small.
  constexpr int kFree = -2;
  operands.left.indices.resize(operands.left.value->type().rank(), kFree);
  operands.right.indices.resize(operands.right.value->type().rank(), kFree);
  const auto set = [&](std::string_view left, std::string_view right, auto&& index_of) {
    for (const auto [l, r] : llvm::zip_equal(dimensions(left), dimensions(right))) {
      const int index = index_of(operands.left.value->type().shape()[l]);
      operands.left.indices[l] = operands.right.indices[r] = index;
    }
  };
  const int* next = indices.begin();
  set("lhs_batching_dimensions", "rhs_batching_dimensions", [&](int64_t) { return *next++; });
  set("lhs_contracting_dimensions", "rhs_contracting_dimensions",
      [&](int64_t size) { return size == 1 ? kNoIndex : next_index++; });
  for (IndexedValue* operand : {&operands.left, &operands.right}) {
    for (int& index : operand->indices) {
      if (index == kFree) index = *next++;
    }
  }
  return operands;
}

// Dimensions of one element have no index.
ProductFactor FactorOf(Value* value, llvm::ArrayRef<int> indices, llvm::ArrayRef<int64_t> shape,
                       std::vector<int64_t>& sizes) {
  ProductFactor factor = {.value = value, .indices = {}};
  for (const auto [index, size] : llvm::zip_equal(indices, shape)) {
    auto& dimension = factor.indices.emplace_back();
    if (index == kNoIndex || size == 1) continue;
    dimension.push_back(index);
    if (sizes.size() <= static_cast<size_t>(index)) sizes.resize(index + 1, 1);
    sizes[index] = size;
  }
  return factor;
}

bool IsProduct(const Op* op) {
  if (op == nullptr || !op->Is(Opcode::kDotGeneral)) return false;
  const Type element = op->result(0)->type().element_type();
  return op->result(0)->type().has_static_shape() &&
         llvm::all_of(op->operands(), [&](const Value* operand) {
           return operand->type().has_static_shape() && operand->type().element_type() == element &&
                  operand->type().element_count().value_or(0) > 0;
         });
}

Builder::Values PartOfProduct(RuleScope& scope) {
  const Op& op = scope.op();
  const std::optional<PartialRead> read = PartialRead::Of(op);
  const Op* product = read ? SourceOf(op) : nullptr;
  if (!IsProduct(product)) return {};
  Builder& builder = scope.builder();
  const auto [left, right] = OperandsOf(*product, read->indices(), read->index_end());
  Value* result = op.result(0);
  SumOfProducts sum;
  sum.precision = product->Get("precision_config");
  for (const IndexedValue& operand : {left, right}) {
    const IndexedValue part = read->Read(builder, operand);
    if (part.value == nullptr) return {};
    sum.factors.push_back(
        FactorOf(part.value, part.indices, part.value->type().shape(), sum.sizes));
  }
  const llvm::ArrayRef<int64_t> shape = result->type().shape();
  sum.result = FactorOf(result, llvm::to_vector(llvm::seq(static_cast<int>(shape.size()))), shape,
                        sum.sizes);
  if (sum.sizes.size() > kMostIndices) return {};
  Value* value =
      EmitProducts(builder, sum, OrderContraction(ContractionOf(sum), ContractionGoal::kTime));
  return value == nullptr ? Builder::Values{} : Builder::Values{value};
}

Builder::Values GatherOfProduct(RuleScope& scope) {
  return scope.op().Is(Opcode::kGather) ? PartOfProduct(scope) : Builder::Values{};
}

Builder::Values SliceOfProduct(RuleScope& scope) {
  return scope.op().Is(Opcode::kGather) ? Builder::Values{} : PartOfProduct(scope);
}

constexpr Rule kRules[] = {
    {.name = "gather_of_product",
     .pattern = "(A·B)[i], or elements of A·B one by one",
     .result = "A[i]·B, or sums over the rows and columns that are read",
     .guard = "nobody else needs A·B",
     .numerics = Numerics::kReassociates,
     .rewrite = GatherOfProduct},
    {.name = "slice_of_product",
     .pattern = "a slice of A·B, also one whose start is computed",
     .result = "a product of slices",
     .guard = "nobody else needs A·B",
     .numerics = Numerics::kReassociates,
     .rewrite = SliceOfProduct},
    {.name = "gather_of_elementwise",
     .pattern = "f(x, y)[i], as of log_softmax(x), where f is elementwise, a broadcast or a "
                "transpose",
     .result = "f(x[i], y[i])",
     .guard = "nobody else needs f(x, y)",
     .rewrite = GatherOfElementwise},
    {.name = "slice_of_elementwise",
     .pattern = "a slice of f(x, y), also one whose start is computed",
     .result = "f of slices",
     .guard = "nobody else needs f(x, y)",
     .rewrite = SliceOfElementwise},
};

}  // namespace

llvm::ArrayRef<Rule> PartialReadRules() { return kRules; }

}  // namespace plimsoll
