#include "ir/verify_links.h"

#include <string>
#include <vector>

#include "llvm/ADT/DenseSet.h"

namespace plimsoll {
namespace {

class LinkVerifier {
 public:
  Status VerifyOp(Op& op);
  // After all ops have been seen: values' lists of uses against ops' operands.
  Status VerifyUses();

 private:
  Status VerifyBlock(Op& parent, const Region& region, const Block& block);
  Status VerifyValue(const Op& op, std::string_view what, size_t index, const Value& value);
  Status VerifyUsesOf(const Op& op, std::string_view what, const Value& value);
  static Status VerifyDictionary(const Op& op, Attribute dictionary);
  // What is wrong with a type; "" if nothing.
  std::string WrongWith(Type type);
  std::string WrongWithTensor(Type type);

  std::vector<Op*> ops_;
  llvm::DenseSet<const Op*> known_ops_;
  llvm::DenseSet<const Operand*> uses_;
  llvm::DenseSet<const TypeData*> whole_types_;
};

Status LinkVerifier::VerifyOp(Op& op) {
  ops_.push_back(&op);
  known_ops_.insert(&op);
  RETURN_IF_ERROR(VerifyDictionary(op, op.properties()));
  RETURN_IF_ERROR(VerifyDictionary(op, op.attributes()));
  for (size_t i = 0; i < op.operand_count(); ++i) {
    if (op.operand(i) == nullptr) return ErrorAt(op, "operand ", i, " is missing");
    if (op.operand_uses()[i].owner() != &op) {
      return ErrorAt(op, "operand ", i, " belongs to another op");
    }
  }
  for (size_t i = 0; i < op.result_count(); ++i) {
    const Value& result = *op.result(i);
    if (result.defining_op() != &op) return ErrorAt(op, "result ", i, " belongs to another op");
    RETURN_IF_ERROR(VerifyValue(op, "result", i, result));
  }
  for (size_t r = 0; r < op.region_count(); ++r) {
    const Region& region = op.region(r);
    if (region.parent() != &op) return ErrorAt(op, "region ", r, " belongs to another op");
    for (size_t b = 0; b < region.block_count(); ++b) {
      RETURN_IF_ERROR(VerifyBlock(op, region, region.block(b)));
    }
  }
  return OkStatus();
}

Status LinkVerifier::VerifyBlock(Op& parent, const Region& region, const Block& block) {
  if (block.region() != &region) return ErrorAt(parent, "a block belongs to another region");
  for (size_t i = 0; i < block.argument_count(); ++i) {
    const Value& argument = *block.argument(i);
    if (!argument.is_argument() || argument.block() != &block) {
      return ErrorAt(parent, "argument ", i, " belongs to another block");
    }
    RETURN_IF_ERROR(VerifyValue(parent, "argument", i, argument));
  }
  const Op* previous = nullptr;
  for (Op& op : block) {
    if (op.block() != &block || op.previous() != previous) {
      return ErrorAt(op, "its place in its block is not what its neighbours say");
    }
    RETURN_IF_ERROR(VerifyOp(op));
    previous = &op;
  }
  if (block.last() != previous) return ErrorAt(parent, "a block's last op is not its last");
  return OkStatus();
}

Status LinkVerifier::VerifyValue(const Op& op, std::string_view what, size_t index,
                                 const Value& value) {
  if (value.index() != index) {
    return ErrorAt(op, what, " ", index, " has the number ", value.index());
  }
  const std::string problem = WrongWith(value.type());
  if (problem.empty()) return OkStatus();
  return ErrorAt(op, what, " ", index, " has type ", value.type().ToString(), ": ", problem);
}

Status LinkVerifier::VerifyDictionary(const Op& op, Attribute dictionary) {
  if (!dictionary) return OkStatus();
  if (!dictionary.Is(AttributeKind::kDictionary)) {
    return ErrorAt(op, "its attributes are not a dictionary");
  }
  for (size_t i = 0; i < dictionary.items().size(); ++i) {
    const std::string_view name = dictionary.names()[i];
    if (!dictionary.items()[i]) return ErrorAt(op, "attribute ", name, " is null");
    if (i > 0 && dictionary.names()[i - 1] == name) {
      return ErrorAt(op, "attribute ", name, " is there twice");
    }
  }
  return OkStatus();
}

std::string LinkVerifier::WrongWith(Type type) {
  if (!type) return "it is null";
  if (!whole_types_.insert(type.data()).second) return "";
  std::string problem;
  switch (type.kind()) {
    case TypeKind::kTensor:
    case TypeKind::kMemref:
      problem = WrongWithTensor(type);
      break;
    case TypeKind::kUnrankedTensor:
    case TypeKind::kComplex:
      problem = WrongWith(type.element_type());
      break;
    case TypeKind::kQuantized: {
      const QuantizedData* quantized = type.data()->quantized;
      problem = WrongWith(type.element_type());
      if (!problem.empty()) break;
      if (quantized == nullptr || quantized->scales.empty() ||
          quantized->scales.size() != quantized->zero_points.size()) {
        problem = "it has not one zero point a scale";
      } else {
        problem = WrongWith(quantized->storage);
      }
      break;
    }
    case TypeKind::kTuple:
    case TypeKind::kFuture:
    case TypeKind::kFunction:
      for (const Type member : type.data()->types) {
        if (problem.empty()) problem = WrongWith(member);
      }
      break;
    default:
      break;
  }
  // So that each value of the type is found wrong.
  if (!problem.empty()) whole_types_.erase(type.data());
  return problem;
}

std::string LinkVerifier::WrongWithTensor(Type type) {
  for (const int64_t size : type.shape()) {
    if (size < 0 && size != kDynamic) return StrCat("a size is ", size);
  }
  const Attribute encoding = type.encoding();
  if (encoding.Is(AttributeKind::kStruct) && encoding.text() == "stablehlo.bounds") {
    const Attribute bounds = encoding.Find("bounds");
    if (!bounds.Is(AttributeKind::kDenseArray) || !bounds.type().IsInteger(64) ||
        bounds.integers().size() != type.rank()) {
      return "it must have one bound for each dimension";
    }
    for (size_t d = 0; d < type.rank(); ++d) {
      const int64_t bound = bounds.integers()[d];
      if (bound == kDynamic) continue;
      if (bound < 0) return StrCat("a bound is ", bound);
      if (type.shape()[d] != kDynamic) return StrCat("dimension ", d, " has a size and a bound");
    }
  }
  return WrongWith(type.element_type());
}

Status LinkVerifier::VerifyUsesOf(const Op& op, std::string_view what, const Value& value) {
  for (const Operand* use = value.first_use(); use != nullptr; use = use->next_use()) {
    if (use->value() != &value || use->owner() == nullptr || !uses_.insert(use).second) {
      return ErrorAt(op, what, " ", value.index(), " has a broken list of uses");
    }
    if (!known_ops_.contains(use->owner())) {
      return ErrorAt(op, what, " ", value.index(), " is used by ", use->owner()->name(),
                     ", which is not in the module");
    }
  }
  return OkStatus();
}

Status LinkVerifier::VerifyUses() {
  for (Op* op : ops_) {
    for (size_t i = 0; i < op->result_count(); ++i) {
      RETURN_IF_ERROR(VerifyUsesOf(*op, "result", *op->result(i)));
    }
    for (size_t r = 0; r < op->region_count(); ++r) {
      for (size_t b = 0; b < op->region(r).block_count(); ++b) {
        const Block& block = op->region(r).block(b);
        for (size_t i = 0; i < block.argument_count(); ++i) {
          RETURN_IF_ERROR(VerifyUsesOf(*op, "argument", *block.argument(i)));
        }
      }
    }
  }
  for (Op* op : ops_) {
    for (const Operand& operand : op->operand_uses()) {
      if (uses_.contains(&operand)) continue;
      return ErrorAt(*op, "operand ", operand.index(), " is a value of another program");
    }
  }
  return OkStatus();
}

}  // namespace

Status At(const Op& op, const Status& status) {
  const Op* function = &op;
  while (function != nullptr && !function->Is(Opcode::kFunc)) function = function->parent();
  const std::string line = SourceLine(op.location());
  if (function == nullptr && line.empty()) return status;
  std::string where;
  if (function != nullptr) where = StrCat("in @", SymbolName(*function));
  if (!line.empty()) where += StrCat(where.empty() ? "at " : ", at ", line);
  return {status.code(), StrCat(status.message(), " (", where, ")")};
}

Status VerifyLinks(const Module& module) {
  LinkVerifier verifier;
  RETURN_IF_ERROR(verifier.VerifyOp(module.op()));
  return verifier.VerifyUses();
}

}  // namespace plimsoll
