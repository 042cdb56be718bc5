#include "rewrite/drop_assumptions.h"

#include <vector>

#include "analysis/properties.h"

namespace plimsoll {

void DropAssumptions(Op& root) {
  std::vector<Op*> statements;
  Walk(root, [&](Op& op) {
    if (StatedProperty(op)) statements.push_back(&op);
  });
  for (Op* statement : statements) {
    statement->result(0)->ReplaceAllUsesWith(statement->operand(0));
    statement->Erase();
  }
}

}  // namespace plimsoll
