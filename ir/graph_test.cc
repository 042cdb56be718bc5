#include "ir/graph.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using ::testing::ElementsAre;

class GraphTest : public ::testing::Test {
 protected:
  Context& context() { return *context_; }
  Type F32() { return context().TensorType({}, context().FloatType(FloatKind::kF32)); }
  Location Unknown() { return context().UnknownLocation(); }

  std::unique_ptr<Op> Make(std::string_view name, size_t results, llvm::ArrayRef<Value*> operands,
                           size_t regions = 0) {
    return Op::Create(name, Unknown(), std::vector<Type>(results, F32()), operands, {}, {},
                      regions);
  }
  Op* Append(std::string_view name, size_t results, llvm::ArrayRef<Value*> operands,
             size_t regions = 0) {
    return module_.body().Append(Make(name, results, operands, regions));
  }
  Op* AddFunction(std::string_view name, std::string_view visibility = "") {
    std::vector<NamedAttribute> properties = {{"sym_name", context().String(name)}};
    if (!visibility.empty()) {
      properties.emplace_back("sym_visibility", context().String(visibility));
    }
    return module_.body().Append(
        Op::Create("func.func", Unknown(), {}, {}, context().Dictionary(properties), {}, 1));
  }

  // The names of the ops in a block, in order.
  static std::vector<std::string_view> Names(const Block& block) {
    std::vector<std::string_view> names;
    for (const Op& op : block) names.push_back(op.name());
    return names;
  }

  std::shared_ptr<Context> context_ = std::make_shared<Context>();
  Module module_{context_};
};

TEST_F(GraphTest, OpsKnowTheirOpcode) {
  EXPECT_TRUE(Append("stablehlo.add", 0, {})->Is(Opcode::kAdd));
  EXPECT_TRUE(Append("test.op", 0, {})->Is(Opcode::kUnknown));
}

TEST_F(GraphTest, ResultsAndArgumentsKnowTheirPlace) {
  Op* op = Append("test.op", 2, {}, 1);
  EXPECT_EQ(op->result(1)->defining_op(), op);
  EXPECT_EQ(op->result(1)->index(), 1);
  EXPECT_EQ(op->result(1)->block(), &module_.body());
  EXPECT_FALSE(op->result(1)->is_argument());
  Block& block = op->region(0).AddBlock();
  block.AddArgument(F32(), Unknown());
  const Value* argument = block.AddArgument(F32(), Unknown());
  EXPECT_TRUE(argument->is_argument());
  EXPECT_EQ(argument->index(), 1);
  EXPECT_EQ(argument->block(), &block);
  EXPECT_EQ(block.parent(), op);
}

TEST_F(GraphTest, UsesAreInTheOrderInWhichTheyWereMade) {
  Op* source = Append("test.source", 1, {});
  Value* value = source->result(0);
  Op* first = Append("test.first", 0, {value, value});
  Op* second = Append("test.second", 0, {value});
  EXPECT_THAT(value->users(), ElementsAre(first, first, second));
  EXPECT_EQ(value->use_count(), 3);
  EXPECT_EQ(value->first_use()->index(), 0);
  EXPECT_EQ(value->first_use()->next_use()->index(), 1);
  EXPECT_FALSE(value->has_one_use());
}

TEST_F(GraphTest, ChangedOperandMovesToTheOtherList) {
  Op* source = Append("test.source", 2, {});
  Op* user = Append("test.user", 0, {source->result(0), source->result(0)});
  user->set_operand(0, source->result(1));
  EXPECT_TRUE(source->result(0)->has_one_use());
  EXPECT_TRUE(source->result(1)->has_one_use());
  EXPECT_EQ(user->operand(0), source->result(1));
  user->set_operands({source->result(1)});
  EXPECT_FALSE(source->result(0)->has_uses());
  EXPECT_TRUE(source->result(1)->has_one_use());
}

TEST_F(GraphTest, ReplaceAllUsesKeepsTheirOrder) {
  Op* source = Append("test.source", 2, {});
  Op* first = Append("test.first", 0, {source->result(0)});
  Op* second = Append("test.second", 0, {source->result(0)});
  Op* third = Append("test.third", 0, {source->result(1)});
  source->result(0)->ReplaceAllUsesWith(source->result(1));
  EXPECT_FALSE(source->result(0)->has_uses());
  EXPECT_THAT(source->result(1)->users(), ElementsAre(third, first, second));
}

TEST_F(GraphTest, ReplaceWithItselfChangesNothing) {
  Op* source = Append("test.source", 1, {});
  Op* user = Append("test.user", 0, {source->result(0)});
  source->result(0)->ReplaceAllUsesWith(source->result(0));
  EXPECT_THAT(source->result(0)->users(), ElementsAre(user));
}

TEST_F(GraphTest, OpsAreInOrder) {
  Op* b = Append("test.b", 0, {});
  Append("test.c", 0, {});
  module_.body().InsertBefore(b, Make("test.a", 0, {}));
  EXPECT_THAT(Names(module_.body()), ElementsAre("test.a", "test.b", "test.c"));
  EXPECT_EQ(b->previous()->name(), "test.a");
  EXPECT_EQ(b->next()->name(), "test.c");
  EXPECT_EQ(module_.body().last()->name(), "test.c");
}

TEST_F(GraphTest, EraseTakesUsesAway) {
  Op* source = Append("test.source", 1, {});
  Op* user = Append("test.user", 0, {source->result(0)});
  user->Erase();
  EXPECT_FALSE(source->result(0)->has_uses());
  EXPECT_THAT(Names(module_.body()), ElementsAre("test.source"));
}

TEST_F(GraphTest, EraseWhileWalking) {
  Append("test.a", 0, {});
  Append("test.b", 0, {});
  Append("test.c", 0, {});
  for (Op& op : llvm::make_early_inc_range(module_.body())) {
    if (op.name() != "test.b") op.Erase();
  }
  EXPECT_THAT(Names(module_.body()), ElementsAre("test.b"));
}

TEST_F(GraphTest, RemovedOpLivesOn) {
  Op* source = Append("test.source", 1, {});
  Append("test.other", 0, {});
  Op* user = Append("test.user", 0, {source->result(0)});
  std::unique_ptr<Op> removed = user->Remove();
  EXPECT_EQ(removed->block(), nullptr);
  EXPECT_TRUE(source->result(0)->has_one_use());
  module_.body().InsertBefore(source->next(), std::move(removed));
  EXPECT_THAT(Names(module_.body()), ElementsAre("test.source", "test.user", "test.other"));
}

// Readers make such graphs from broken programs.
TEST_F(GraphTest, UsesOfWhatIsDefinedLaterOrByItselfCanBeDestroyed) {
  Op* early = Append("test.early", 1, {nullptr});
  Op* late = Append("test.late", 1, {nullptr}, 1);
  early->set_operand(0, late->result(0));
  late->set_operand(0, late->result(0));
  late->region(0).AddBlock().Append(Make("test.inner", 0, {late->result(0)}));
  std::unique_ptr<Op> removed = late->Remove();
  removed.reset();
  EXPECT_EQ(early->operand(0), nullptr);
}

TEST_F(GraphTest, RemovedArgumentMovesOthersUp) {
  Block& block = Append("test.op", 0, {}, 1)->region(0).AddBlock();
  block.AddArgument(F32(), Unknown());
  Value* second = block.AddArgument(F32(), Unknown());
  block.RemoveArgument(0);
  EXPECT_EQ(block.argument_count(), 1);
  EXPECT_EQ(block.argument(0), second);
  EXPECT_EQ(second->index(), 0);
}

TEST_F(GraphTest, CloneCopiesNestedRegions) {
  Op* outside = Append("test.outside", 1, {});
  Op* op = Append("test.loop", 1, {outside->result(0)}, 1);
  Block& block = op->region(0).AddBlock();
  Value* argument = block.AddArgument(F32(), Unknown());
  Op* inner = block.Append(Make("test.inner", 1, {argument, outside->result(0)}, 1));
  inner->region(0).AddBlock().Append(Make("test.innermost", 0, {argument}));
  block.Append(Make("test.return", 0, {inner->result(0)}));

  ValueMap values;
  Op* copy = module_.body().Append(op->Clone(values));

  const Block& copied = copy->region(0).front();
  EXPECT_THAT(Names(copied), ElementsAre("test.inner", "test.return"));
  const Op* copied_inner = copied.first();
  EXPECT_NE(copied_inner, inner);
  EXPECT_EQ(copied_inner->operand(0), copied.argument(0));
  EXPECT_EQ(copied_inner->operand(1), outside->result(0));
  EXPECT_EQ(copied_inner->region(0).front().first()->operand(0), copied.argument(0));
  EXPECT_EQ(copied.last()->operand(0), copied_inner->result(0));
  EXPECT_EQ(copied_inner->parent(), copy);
  EXPECT_EQ(values.lookup(argument), copied.argument(0));
  EXPECT_EQ(values.lookup(op->result(0)), copy->result(0));
}

TEST_F(GraphTest, CloneReplacesOperandsThatTheMapKnows) {
  Op* source = Append("test.source", 2, {});
  Op* op = Append("test.op", 0, {source->result(0)});
  ValueMap values;
  values[source->result(0)] = source->result(1);
  EXPECT_EQ(op->Clone(values)->operand(0), source->result(1));
}

TEST_F(GraphTest, TakenBlocksBelongToTheNewRegion) {
  Op* from = Append("test.from", 0, {}, 1);
  Op* to = Append("test.to", 0, {}, 1);
  to->region(0).AddBlock();
  Block& block = from->region(0).AddBlock();
  to->region(0).TakeBlocks(from->region(0));
  EXPECT_TRUE(from->region(0).empty());
  EXPECT_EQ(to->region(0).block_count(), 2);
  EXPECT_EQ(&to->region(0).block(1), &block);
  EXPECT_EQ(block.parent(), to);
}

TEST_F(GraphTest, GetLooksAtInherentAttributesFirst) {
  Op* op = Append("test.op", 0, {});
  EXPECT_FALSE(op->Get("a"));
  op->set_attributes(context().Dictionary({{"a", context().I64(1)}, {"b", context().I64(2)}}));
  op->SetProperty(context(), "a", context().I64(3));
  EXPECT_EQ(op->Get("a").integer(), 3);
  EXPECT_EQ(op->Get("b").integer(), 2);
}

TEST_F(GraphTest, SetPropertyAddsOrReplaces) {
  Op* op = Append("test.op", 0, {});
  op->SetProperty(context(), "b", context().I64(1));
  op->SetProperty(context(), "a", context().I64(2));
  op->SetProperty(context(), "b", context().I64(3));
  EXPECT_EQ(op->properties(),
            context().Dictionary({{"a", context().I64(2)}, {"b", context().I64(3)}}));
}

TEST_F(GraphTest, WalkVisitsOpsBeforeWhatIsInside) {
  Op* a = Append("test.a", 0, {}, 2);
  a->region(0).AddBlock().Append(Make("test.b", 0, {}));
  a->region(1).AddBlock().Append(Make("test.c", 0, {}));
  Append("test.d", 0, {});
  std::vector<std::string_view> names;
  Walk(module_.op(), [&](Op& op) { names.push_back(op.name()); });
  EXPECT_THAT(names, ElementsAre("builtin.module", "test.a", "test.b", "test.c", "test.d"));
}

TEST_F(GraphTest, FunctionsAreFoundByName) {
  Op* f = AddFunction("f");
  Append("test.op", 0, {});
  Op* g = AddFunction("g");
  EXPECT_THAT(module_.functions(), ElementsAre(f, g));
  EXPECT_EQ(module_.FindFunction("g"), g);
  EXPECT_EQ(module_.FindFunction("h"), nullptr);
  EXPECT_EQ(SymbolName(*g), "g");
  EXPECT_EQ(SymbolName(module_.op()), "");
}

TEST_F(GraphTest, MainIsTheFunctionOfThatName) {
  AddFunction("f", "public");
  Op* main = AddFunction("main", "private");
  EXPECT_EQ(module_.main(), main);
}

TEST_F(GraphTest, MainIsTheOnlyPublicFunction) {
  EXPECT_EQ(module_.main(), nullptr);
  AddFunction("f", "private");
  Op* g = AddFunction("g", "public");
  EXPECT_EQ(module_.main(), g);
  AddFunction("h");
  EXPECT_EQ(module_.main(), nullptr);
}

TEST_F(GraphTest, MainIsTheOnlyFunction) {
  Op* f = AddFunction("f", "private");
  EXPECT_EQ(module_.main(), f);
}

}  // namespace
}  // namespace plimsoll
