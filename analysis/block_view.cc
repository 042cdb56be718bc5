#include "analysis/block_view.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

bool IsInside(const Op* op, const Op& outer) {
  for (; op != nullptr; op = op->parent()) {
    if (op == &outer) return true;
  }
  return false;
}

std::vector<Value*> CapturedBy(const Op& op) {
  std::vector<Value*> values;
  llvm::DenseSet<Value*> seen;
  for (size_t r = 0; r < op.region_count(); ++r) {
    for (size_t b = 0; b < op.region(r).block_count(); ++b) {
      for (Op& inner : op.region(r).block(b)) {
        Walk(inner, [&](Op& user) {
          for (Value* value : user.operands()) {
            const bool is_inside = value->is_argument() ? IsInside(value->block()->parent(), op)
                                                        : IsInside(value->defining_op(), op);
            if (!is_inside && seen.insert(value).second) values.push_back(value);
          }
        });
      }
    }
  }
  return values;
}

}  // namespace

BlockView::BlockView(const Block& block) : block_(block) {
  for (const Op& op : block) {
    positions_[&op] = ops_.size();
    ops_.push_back(&op);
    if (op.region_count() == 0) continue;
    if (std::vector<Value*> values = CapturedBy(op); !values.empty()) {
      captured_[&op] = std::move(values);
    }
  }
}

const Op* BlockView::OpHere(const Op& op) const {
  const Op* here = &op;
  while (here != nullptr && here->block() != &block_) here = here->parent();
  return here;
}

llvm::ArrayRef<Value*> BlockView::Captured(const Op& op) const {
  const auto found = captured_.find(&op);
  if (found == captured_.end()) return {};
  return found->second;
}

const AxisRule& BlockView::RuleOf(const Op& op) const {
  std::unique_ptr<AxisRule>& rule = rules_[&op];
  if (rule == nullptr) rule = std::make_unique<AxisRule>(AxisRuleOf(op));
  return *rule;
}

std::vector<const Op*> BlockView::UsersOf(const Value& value) const {
  std::vector<const Op*> users;
  for (const Op* user : value.users()) {
    const Op* here = OpHere(*user);
    if (here != nullptr && !llvm::is_contained(users, here)) users.push_back(here);
  }
  llvm::sort(users, [&](const Op* a, const Op* b) { return Position(*a) < Position(*b); });
  return users;
}

int64_t BytesOf(const Value& value) { return value.type().bytes().value_or(0); }

}  // namespace plimsoll
