#include "rewrite/merge_equal_ops.h"

#include <vector>

#include "analysis/effects.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace plimsoll {
namespace {

// Which values of one region stand for which of another.
using Matches = llvm::DenseMap<const Value*, const Value*>;

bool AreEqual(const Op& a, const Op& b, Matches& matches);

bool AreEqual(const Block& a, const Block& b, Matches& matches) {
  if (a.argument_count() != b.argument_count()) return false;
  for (size_t i = 0; i < a.argument_count(); ++i) {
    if (a.argument(i)->type() != b.argument(i)->type()) return false;
    matches[a.argument(i)] = b.argument(i);
  }
  auto other = b.begin();
  for (const Op& op : a) {
    if (other == b.end() || !AreEqual(op, *other, matches)) return false;
    ++other;
  }
  return other == b.end();
}

bool AreEqual(const Region& a, const Region& b, Matches& matches) {
  if (a.block_count() != b.block_count()) return false;
  for (size_t i = 0; i < a.block_count(); ++i) {
    if (!AreEqual(a.block(i), b.block(i), matches)) return false;
  }
  return true;
}

bool AreEqual(const Op& a, const Op& b, Matches& matches) {
  if (a.name() != b.name() || a.properties() != b.properties() ||
      a.attributes() != b.attributes() || a.operand_count() != b.operand_count() ||
      a.result_count() != b.result_count() || a.region_count() != b.region_count()) {
    return false;
  }
  for (size_t i = 0; i < a.operand_count(); ++i) {
    const auto match = matches.find(a.operand(i));
    if ((match == matches.end() ? a.operand(i) : match->second) != b.operand(i)) return false;
  }
  for (size_t i = 0; i < a.result_count(); ++i) {
    if (a.result(i)->type() != b.result(i)->type()) return false;
    matches[a.result(i)] = b.result(i);
  }
  for (size_t i = 0; i < a.region_count(); ++i) {
    if (!AreEqual(a.region(i), b.region(i), matches)) return false;
  }
  return true;
}

// Equal ops have equal hashes; what regions hold does not count.
llvm::hash_code Hash(const Op& op) {
  llvm::hash_code hash = llvm::hash_combine(llvm::StringRef(op.name()), op.properties().data(),
                                            op.attributes().data());
  for (size_t i = 0; i < op.operand_count(); ++i) hash = llvm::hash_combine(hash, op.operand(i));
  for (size_t i = 0; i < op.result_count(); ++i) {
    hash = llvm::hash_combine(hash, op.result(i)->type().data());
  }
  return hash;
}

void MergeIn(Block& block) {
  llvm::DenseMap<llvm::hash_code, std::vector<Op*>> seen;
  for (Op& op : llvm::make_early_inc_range(block)) {
    MergeEqualOps(op);
    if (op.result_count() == 0 || HasEffects(op)) continue;
    std::vector<Op*>& candidates = seen[Hash(op)];
    const auto first = llvm::find_if(candidates, [&](Op* candidate) {
      Matches matches;
      return AreEqual(*candidate, op, matches);
    });
    if (first == candidates.end()) {
      candidates.push_back(&op);
      continue;
    }
    for (size_t i = 0; i < op.result_count(); ++i) {
      op.result(i)->ReplaceAllUsesWith((*first)->result(i));
    }
    op.Erase();
  }
}

}  // namespace

void MergeEqualOps(Op& root) {
  for (size_t i = 0; i < root.region_count(); ++i) {
    for (size_t j = 0; j < root.region(i).block_count(); ++j) MergeIn(root.region(i).block(j));
  }
}

}  // namespace plimsoll
