#include "rewrite/inline_calls.h"

#include <string_view>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

namespace plimsoll {
namespace {

// The function that the call can be replaced by; null if it has to stay a call.
Op* InlinableCallee(const Module& module, const Op& call) {
  if (!call.Is(Opcode::kCall) || call.attributes() || call.Get("no_inline")) return nullptr;
  const Attribute callee = call.Get("callee");
  if (!callee || !callee.Is(AttributeKind::kSymbol)) return nullptr;
  Op* function = module.FindFunction(callee.text());
  if (function == nullptr || function->entry_block() == nullptr) return nullptr;
  return function->Get("no_inline") ? nullptr : function;
}

void ReplaceByBody(Context& context, Op& call, const Op& function) {
  const Block& body = *function.entry_block();
  ValueMap values;
  for (size_t i = 0; i < body.argument_count(); ++i) values[body.argument(i)] = call.operand(i);
  for (const Op& op : body) {
    if (op.Is(Opcode::kFuncReturn)) {
      for (size_t i = 0; i < op.operand_count(); ++i) {
        const auto copy = values.find(op.operand(i));
        call.result(i)->ReplaceAllUsesWith(copy == values.end() ? op.operand(i) : copy->second);
      }
      break;
    }
    Op* copy = call.block()->InsertBefore(&call, op.Clone(values));
    // JAX lowers a function that is called often once, without lines: those of the calls are left.
    Walk(*copy, [&](Op& inner) {
      if (FindFileLocation(inner.location())) return;
      inner.set_location(context.CallSiteLocation(inner.location(), call.location()));
    });
  }
  call.Erase();
}

void CollectSymbols(Attribute attribute, llvm::StringSet<>& symbols) {
  if (attribute.Is(AttributeKind::kSymbol)) symbols.insert(attribute.text());
  const bool has_items = attribute.Is(AttributeKind::kArray) ||
                         attribute.Is(AttributeKind::kDictionary) ||
                         attribute.Is(AttributeKind::kStruct);
  if (!has_items) return;
  for (const Attribute item : attribute.items()) CollectSymbols(item, symbols);
}

// Private functions whose name stands nowhere; they may have been the only ones to name others.
void RemoveUnusedFunctions(Module& module) {
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    llvm::StringSet<> symbols;
    Walk(module.op(), [&](Op& op) {
      if (op.properties()) CollectSymbols(op.properties(), symbols);
      if (op.attributes()) CollectSymbols(op.attributes(), symbols);
    });
    for (Op* function : module.functions()) {
      const Attribute visibility = function->Get("sym_visibility");
      const bool is_private = visibility && visibility.text() == "private";
      if (!is_private || function == module.main() || symbols.contains(SymbolName(*function))) {
        continue;
      }
      function->Erase();
      has_changed = true;
    }
  }
}

}  // namespace

void InlineCalls(Module& module) {
  Op* main = module.main();
  if (main == nullptr) return;
  // A body may hold calls again, so this goes on until none is left.
  for (bool has_changed = true; has_changed;) {
    std::vector<Op*> calls;
    Walk(*main, [&](Op& op) {
      if (InlinableCallee(module, op) != nullptr) calls.push_back(&op);
    });
    for (Op* call : calls) {
      ReplaceByBody(module.context(), *call, *InlinableCallee(module, *call));
    }
    has_changed = !calls.empty();
  }
  RemoveUnusedFunctions(module);
}

}  // namespace plimsoll
