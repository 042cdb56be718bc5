#include "ir/verify.h"

#include <algorithm>
#include <optional>
#include <string>

#include "ir/infer_types.h"
#include "ir/verify_links.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

namespace plimsoll {
namespace {

// Functions and whatever else has a name in a module.
using SymbolTable = llvm::StringMap<const Op*>;

// Regions that see no values from outside.
bool IsIsolated(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAsyncStart:
    case Opcode::kChloScan:
    case Opcode::kFunc:
    case Opcode::kModule:
    case Opcode::kSdyManualComputation:
    case Opcode::kSdyNamedComputation:
      return true;
    default:
      return false;
  }
}

bool IsTerminator(Opcode opcode) {
  return opcode == Opcode::kReturn || opcode == Opcode::kFuncReturn || opcode == Opcode::kSdyReturn;
}

// What the regions of a known op end with; nothing for a module's.
std::optional<Opcode> TerminatorOf(Opcode opcode) {
  switch (opcode) {
    case Opcode::kModule:
      return std::nullopt;
    case Opcode::kFunc:
      return Opcode::kFuncReturn;
    case Opcode::kSdyManualComputation:
    case Opcode::kSdyNamedComputation:
      return Opcode::kSdyReturn;
    default:
      return Opcode::kReturn;
  }
}

// MLIR keeps these beside an op's own attributes where it has several lists of operands.
bool IsSegmentSizes(std::string_view name) {
  return name == "operandSegmentSizes" || name == "resultSegmentSizes";
}

class Verifier {
 public:
  explicit Verifier(const Module& module) : context_(module.context()) {}

  Status VerifyOp(const Op& op);

 private:
  Status VerifyRegion(const Op& parent, const Region& region);
  Status VerifyVisible(const Op& op, size_t operand) const;
  static Status VerifyAttributes(const Op& op);
  static Status VerifyBlocks(const Op& op);
  Status VerifyTypes(const Op& op) const;
  Status CollectSymbols(const Op& module);
  // That a function of that name exists and takes and returns what `op` does.
  Status VerifyCallee(const Op& op, std::string_view attribute) const;

  void Define(const Value* value) {
    visible_[value] = defined_.size();
    defined_.push_back(value);
  }

  Context& context_;
  // Values in scope in the order of their definition, and where each stands among them.
  llvm::SmallVector<const Value*> defined_;
  llvm::DenseMap<const Value*, size_t> visible_;
  size_t first_visible_ = 0;  // Those before it are outside the innermost isolated region.
  llvm::DenseMap<const Op*, SymbolTable> symbols_;
};

Status Verifier::VerifyOp(const Op& op) {
  if (op.Is(Opcode::kModule)) RETURN_IF_ERROR(CollectSymbols(op));
  for (size_t i = 0; i < op.operand_count(); ++i) RETURN_IF_ERROR(VerifyVisible(op, i));
  if (op.Is(Opcode::kUnknown)) {
    for (size_t r = 0; r < op.region_count(); ++r) {
      RETURN_IF_ERROR(VerifyRegion(op, op.region(r)));
    }
    return OkStatus();
  }
  RETURN_IF_ERROR(VerifyAttributes(op));
  RETURN_IF_ERROR(VerifyBlocks(op));
  // Inside first: a mistake there is not to be blamed on this op.
  for (size_t r = 0; r < op.region_count(); ++r) RETURN_IF_ERROR(VerifyRegion(op, op.region(r)));
  RETURN_IF_ERROR(VerifyTypes(op));
  if (op.Is(Opcode::kCall)) return VerifyCallee(op, "callee");
  if (op.Is(Opcode::kComposite)) return VerifyCallee(op, "decomposition");
  return OkStatus();
}

Status Verifier::VerifyRegion(const Op& parent, const Region& region) {
  const size_t outer_size = defined_.size();
  const size_t outer_first = first_visible_;
  if (IsIsolated(parent.opcode())) first_visible_ = outer_size;
  // Nothing is known of the order in which an unknown op runs what is inside.
  const bool in_order = !parent.Is(Opcode::kUnknown);
  for (size_t b = 0; b < region.block_count(); ++b) {
    const Block& block = region.block(b);
    for (size_t i = 0; i < block.argument_count(); ++i) Define(block.argument(i));
    for (const Op& op : block) {
      for (size_t i = 0; !in_order && i < op.result_count(); ++i) Define(op.result(i));
    }
  }
  for (size_t b = 0; b < region.block_count(); ++b) {
    for (const Op& op : region.block(b)) {
      RETURN_IF_ERROR(VerifyOp(op));
      for (size_t i = 0; in_order && i < op.result_count(); ++i) Define(op.result(i));
    }
  }
  while (defined_.size() > outer_size) visible_.erase(defined_.pop_back_val());
  first_visible_ = outer_first;
  return OkStatus();
}

Status Verifier::VerifyVisible(const Op& op, size_t operand) const {
  const Value* value = op.operand(operand);
  const auto found = visible_.find(value);
  if (found != visible_.end() && found->second >= first_visible_) return OkStatus();
  if (found != visible_.end()) {
    return ErrorAt(op, "operand ", operand, " is defined outside of what this op can see");
  }
  if (value->block() == op.block()) {
    return ErrorAt(op, "operand ", operand, " is used before it is defined");
  }
  return ErrorAt(op, "operand ", operand, " is not defined here or in an enclosing region");
}

Status Verifier::VerifyAttributes(const Op& op) {
  const OpInfo& info = GetOpInfo(op.opcode());
  const Attribute properties = op.properties();
  for (const InherentAttribute& attribute : info.attributes) {
    if (attribute.optional || (properties && properties.Find(attribute.name))) continue;
    return ErrorAt(op, "attribute ", attribute.name, " is missing");
  }
  if (!properties) return OkStatus();
  for (const std::string_view name : properties.names()) {
    const bool is_known =
        std::any_of(info.attributes.begin(), info.attributes.end(),
                    [&](const InherentAttribute& attribute) { return attribute.name == name; });
    if (!is_known && !IsSegmentSizes(name)) {
      return ErrorAt(op, "it has no attribute of the name ", name);
    }
  }
  return OkStatus();
}

Status Verifier::VerifyBlocks(const Op& op) {
  if (IsTerminator(op.opcode()) && op.next() != nullptr) {
    return ErrorAt(op, "it must be the last op of its block");
  }
  const std::optional<Opcode> expected = TerminatorOf(op.opcode());
  for (size_t r = 0; r < op.region_count(); ++r) {
    const Region& region = op.region(r);
    const bool may_be_empty = op.Is(Opcode::kFunc);
    if (may_be_empty && region.empty()) continue;
    if (region.block_count() != 1) {
      return ErrorAt(op, "region ", r, " must have 1 block, found ", region.block_count());
    }
    const Op* last = region.front().last();
    if (!expected) {
      if (last == nullptr || !IsTerminator(last->opcode())) continue;
      return ErrorAt(*last, "it has no place in ", op.name());
    }
    // JAX's comparators for approximate top-k are functions that end with stablehlo.return.
    const bool is_comparator = op.Is(Opcode::kFunc) && last != nullptr && last->Is(Opcode::kReturn);
    if (last == nullptr || !(last->Is(*expected) || is_comparator)) {
      return ErrorAt(op, "region ", r, " must end with ", GetOpInfo(*expected).name, ", found ",
                     last == nullptr ? std::string_view("nothing") : last->name());
    }
  }
  return OkStatus();
}

Status Verifier::VerifyTypes(const Op& op) const {
  llvm::SmallVector<Type> operands;
  llvm::SmallVector<Type> results;
  llvm::SmallVector<const Region*> regions;
  for (size_t i = 0; i < op.operand_count(); ++i) operands.push_back(op.operand(i)->type());
  for (size_t i = 0; i < op.result_count(); ++i) results.push_back(op.result(i)->type());
  for (size_t r = 0; r < op.region_count(); ++r) regions.push_back(&op.region(r));
  const OpView view(context_, op.opcode(), operands, op.properties(), regions);
  if (Status status = CheckRegions(view, results); !status.ok()) return At(op, status);
  if (Status status = CheckResultTypes(view, results); !status.ok()) return At(op, status);
  return OkStatus();
}

Status Verifier::CollectSymbols(const Op& module) {
  SymbolTable& table = symbols_[&module];
  for (size_t r = 0; r < module.region_count(); ++r) {
    for (size_t b = 0; b < module.region(r).block_count(); ++b) {
      for (const Op& op : module.region(r).block(b)) {
        const std::string_view name = SymbolName(op);
        if (name.empty() || table.try_emplace(name, &op).second) continue;
        return ErrorAt(op, "the name @", name, " is taken already");
      }
    }
  }
  return OkStatus();
}

Status Verifier::VerifyCallee(const Op& op, std::string_view attribute) const {
  const Attribute callee = op.properties().Find(attribute);
  if (!callee.Is(AttributeKind::kSymbol)) {
    return ErrorAt(op, "attribute ", attribute, " must be the name of a function");
  }
  const Op* scope = op.parent();
  while (scope != nullptr && !scope->Is(Opcode::kModule) && !scope->Is(Opcode::kUnknown)) {
    scope = scope->parent();
  }
  // What names mean inside an op that is not known, or inside another module, is not known either.
  if (scope == nullptr || scope->Is(Opcode::kUnknown) || !callee.items().empty()) return OkStatus();
  const SymbolTable& table = symbols_.find(scope)->second;
  const Op* function = table.lookup(callee.text());
  if (function == nullptr || !function->Is(Opcode::kFunc)) {
    return ErrorAt(op, "there is no function @", callee.text());
  }
  const Attribute type = function->Get("function_type");
  // Said of the function itself when its turn comes.
  if (!type.Is(AttributeKind::kType) || !type.type().Is(TypeKind::kFunction)) return OkStatus();
  llvm::SmallVector<Type> operands;
  for (size_t i = 0; i < op.operand_count(); ++i) operands.push_back(op.operand(i)->type());
  const Type found = context_.FunctionType(operands, op.result_types());
  if (found == type.type()) return OkStatus();
  return ErrorAt(op, "@", callee.text(), " has type ", type.type().ToString(), ", called as ",
                 found.ToString());
}

}  // namespace

Status Verify(const Module& module) {
  RETURN_IF_ERROR(VerifyLinks(module));
  if (!module.op().Is(Opcode::kModule)) {
    return ErrorAt(module.op(), "the outermost op must be builtin.module");
  }
  return Verifier(module).VerifyOp(module.op());
}

}  // namespace plimsoll
