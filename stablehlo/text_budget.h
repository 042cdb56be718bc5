// Bounds how much text a program that is being read stands for.

#ifndef PLIMSOLL_STABLEHLO_TEXT_BUDGET_H_
#define PLIMSOLL_STABLEHLO_TEXT_BUDGET_H_

#include <cstdint>

#include "ir/graph.h"
#include "stablehlo/limits.h"

namespace plimsoll {

class WeightBudget {
 public:
  explicit WeightBudget(size_t input_size) : left_(TextBudget(input_size)) {}

  // False if the op, with all that was read before, is too much.
  bool Spend(const Op& op) {
    bool fits = Spend(op.location().data()->weight);
    if (op.properties()) fits = fits && Spend(op.properties().data()->weight);
    if (op.attributes()) fits = fits && Spend(op.attributes().data()->weight);
    for (size_t i = 0; i < op.operand_count(); ++i) {
      fits = fits && Spend(op.operand(i)->type().data()->weight);
    }
    for (size_t i = 0; i < op.result_count(); ++i) {
      fits = fits && Spend(op.result(i)->type().data()->weight);
    }
    return fits;
  }

 private:
  bool Spend(uint64_t weight) {
    if (weight > left_) return false;
    left_ -= weight;
    return true;
  }

  uint64_t left_;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_STABLEHLO_TEXT_BUDGET_H_
