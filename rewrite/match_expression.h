// Whether an op of a program computes what another program, the pattern, computes of its arguments:
// with the same ops, whichever way operands that may change places stand and however arrays are
// transposed and broadcast in between.

#ifndef PLIMSOLL_REWRITE_MATCH_EXPRESSION_H_
#define PLIMSOLL_REWRITE_MATCH_EXPRESSION_H_

#include <cstdint>
#include <vector>

#include "analysis/indexed_value.h"
#include "ir/graph.h"
#include "ir/status.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {

// What a module in normal form (normalize.h) computes, which must live as long.
struct Pattern {
  Block* body = nullptr;
  Value* result = nullptr;
  // The op that makes the result, before transposes and the like. Indices are the result's
  // dimensions.
  IndexedValue root;
};

// Whether a module can be put into another program, and whether it can be looked for as well.
StatusOr<Pattern> ResultOf(const Module& module);
StatusOr<Pattern> PatternOf(const Module& module);

// What a program has in the place of a pattern's argument.
struct BoundArgument {
  // The same elements, first as the program's op reads them and then as they lie before each
  // transpose, broadcast and reshape. Indices are the argument's dimensions; along those that the
  // last one does not have, all elements are the same.
  std::vector<IndexedValue> views;
  // Of the argument, with elements repeated along such dimensions.
  llvm::SmallVector<int64_t> sizes;

  const IndexedValue& source() const { return views.back(); }
};

struct ExpressionMatch {
  std::vector<BoundArgument> arguments;
  // Which dimension of the program's op is which of the pattern's root.
  llvm::SmallVector<int64_t> dimensions;
};

// Calls `accept` with matches that ignore sizes, element types, constants and most attributes, and
// tell where arguments may be, until it returns true.
bool FindSimilar(const Pattern& pattern, Op& op,
                 llvm::function_ref<bool(const ExpressionMatch&)> accept);

// Whether the op computes just this of these arguments. Both are of one context.
bool IsEqual(const Pattern& pattern, Op& op, const ExpressionMatch& match);

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_MATCH_EXPRESSION_H_
