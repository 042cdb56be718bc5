// What tests of ops on chunks share.

#ifndef PLIMSOLL_SPLIT_TESTING_H_
#define PLIMSOLL_SPLIT_TESTING_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/testing.h"
#include "ir/builder.h"
#include "split/chunk_ops.h"

namespace plimsoll::testing {

// What a chunk of `size` blocks becomes for a factor of a program of one op. To the arguments come
// the chunk's first block, and chunks of the operands that are cut.
inline std::string ChunkOf(const std::vector<std::string_view>& arguments, std::string_view text,
                           size_t factor_number, int64_t size, int64_t blocks = 0) {
  const std::unique_ptr<Module> module = OneOp(arguments, text);
  if (module == nullptr) return "";
  Context& context = module->context();
  Block& block = *module->main()->entry_block();
  Op& op = *block.first();
  const AxisRule rule = AxisRuleOf(op);
  EXPECT_LT(factor_number, rule.factors.size());
  if (factor_number >= rule.factors.size()) return "";
  const Factor& factor = rule.factors[factor_number];
  const Type index = context.TensorType({}, context.IntegerType(32));
  const Chunk chunk = {.blocks = blocks == 0 ? factor.size : blocks,
                       .size = size,
                       .first = block.AddArgument(index, op.location())};
  Builder::Values operands = op.operands();
  for (size_t i = 0; i < operands.size(); ++i) {
    if (factor.operands[i] == kWhole) continue;
    const Type type = ChunkType(context, operands[i]->type(), factor.operands[i], chunk);
    operands[i] = block.AddArgument(type, op.location());
  }
  Builder builder(context, op);
  const StatusOr<Builder::Values> results = EmitChunk(builder, op, factor, operands, chunk);
  EXPECT_TRUE(results.ok()) << results.status().ToString();
  if (!results.ok()) return "";
  block.last()->set_operands(*results);
  op.Erase();
  return BodyText(*module);
}

}  // namespace plimsoll::testing

#endif  // PLIMSOLL_SPLIT_TESTING_H_
