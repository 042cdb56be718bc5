#include "rewrite/rule_table.h"

#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "rewrite/concatenate_rules.h"
#include "rewrite/distance_rules.h"
#include "rewrite/factor_rules.h"
#include "rewrite/integer_rules.h"
#include "rewrite/loop_state_rules.h"
#include "rewrite/monotone_rules.h"
#include "rewrite/partial_read_rules.h"
#include "rewrite/product_rules.h"
#include "rewrite/reduction_rules.h"
#include "rewrite/scatter_rules.h"
#include "rewrite/selection_rules.h"
#include "rewrite/slice_rules.h"
#include "rewrite/softmax_rules.h"
#include "rewrite/solve_rules.h"
#include "rewrite/sum_rules.h"
#include "rewrite/symmetry_rules.h"

namespace plimsoll {

llvm::ArrayRef<Rule> AllRules() {
  // Families of rules, each from its own file.
  static const std::vector<Rule> rules = [] {
    std::vector<Rule> all;
    llvm::append_range(all, ConcatenateRules());
    llvm::append_range(all, IntegerRules());
    llvm::append_range(all, LoopStateRules());
    llvm::append_range(all, SliceRules());
    llvm::append_range(all, SelectionRules());
    llvm::append_range(all, ScatterRules());
    llvm::append_range(all, ReductionRules());
    llvm::append_range(all, MonotoneRules());
    llvm::append_range(all, DistanceRules());
    llvm::append_range(all, ProductRules());
    // Diagonals are read by the rules on products.
    llvm::append_range(all, PartialReadRules());
    llvm::append_range(all, SoftmaxRules());
    llvm::append_range(all, SumRules());
    llvm::append_range(all, SymmetryRules());
    llvm::append_range(all, SolveRules());
    llvm::append_range(all, FactorRules());
    return all;
  }();
  return rules;
}

}  // namespace plimsoll
