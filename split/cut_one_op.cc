// Writes a program again for every factor of one of its ops, each time with that op computed chunk
// by chunk, so that a test can run them all:
//
//   cut_one_op FILE NAME
//
// FILE is generic text. The op is the first one of main with that name; for custom
// calls the name is the target's. Each program follows a line that says what was done.

#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/axis_rules.h"
#include "ir/builder.h"
#include "ir/verify.h"
#include "rewrite/inline_calls.h"
#include "split/chunk_ops.h"
#include "stablehlo/text_reader.h"
#include "stablehlo/text_writer.h"

namespace plimsoll {
namespace {

using Values = Builder::Values;

struct Division {
  size_t factor = 0;
  int64_t blocks = 0;
  int64_t chunk = 0;  // Blocks in each, but for the last.
};

Op* FindOp(const Module& module, std::string_view name) {
  for (Op& op : *module.main()->entry_block()) {
    const Attribute target = op.Get("call_target_name");
    if ((target ? target.text() : op.name()) == name) return &op;
  }
  return nullptr;
}

// The results after one more chunk.
StatusOr<Values> Step(Builder& builder, const Op& op, const Factor& factor, const Chunk& chunk,
                      llvm::ArrayRef<Value*> so_far) {
  Values operands = op.operands();
  for (size_t i = 0; i < operands.size(); ++i) {
    const bool goes_on = factor.combination == Combination::kFold && i < so_far.size();
    if (goes_on) operands[i] = so_far[i];
    if (factor.operands[i] >= 0) {
      operands[i] = SliceChunk(builder, operands[i], factor.operands[i], chunk);
    }
  }
  ASSIGN_OR_RETURN(const Values parts, EmitChunk(builder, op, factor, operands, chunk));
  if (factor.combination != Combination::kNone) {
    return Combine(builder, op, factor, so_far, parts);
  }
  Values results;
  for (size_t i = 0; i < parts.size(); ++i) {
    results.push_back(UpdateChunk(builder, so_far[i], parts[i], factor.results[i], chunk));
  }
  return results;
}

Status Cut(Op& op, const Factor& factor, const Division& division, Context& context) {
  Builder builder(context, op);
  const Type index = context.TensorType({}, context.IntegerType(32));
  Values state = {builder.IntegerConstant(index, 0)};
  for (size_t i = 0; i < op.result_count(); ++i) {
    state.push_back(factor.combination == Combination::kNone
                        ? builder.IntegerConstant(op.result(i)->type(), 0)
                        : InitialAccumulator(builder, op, factor, i, op.operands()));
  }
  const int64_t rest = division.blocks % division.chunk;
  Status failure;
  const auto step = [&](Builder& inside, llvm::ArrayRef<Value*> values, int64_t size) {
    const Chunk chunk = {.blocks = division.blocks, .size = size, .first = values[0]};
    StatusOr<Values> results = Step(inside, op, factor, chunk, values.drop_front());
    if (!results.ok()) {
      failure = results.status();
      return Values(values.size(), nullptr);
    }
    Values next = {inside.Add(values[0], inside.IntegerConstant(index, size))};
    next.insert(next.end(), results->begin(), results->end());
    return next;
  };
  state = builder.While(
      state,
      [&](Builder& inside, llvm::ArrayRef<Value*> values) {
        return inside.Compare(Comparison::kLess, values[0],
                              inside.IntegerConstant(index, division.blocks - rest));
      },
      [&](Builder& inside, llvm::ArrayRef<Value*> values) {
        return step(inside, values, division.chunk);
      });
  RETURN_IF_ERROR(failure);
  RETURN_IF_ERROR(builder.status());
  if (rest != 0) state = step(builder, state, rest);
  RETURN_IF_ERROR(failure);
  for (size_t i = 0; i < op.result_count(); ++i) {
    Value* result = builder.Convert(state[i + 1], op.result(i)->type().element_type());
    op.result(i)->ReplaceAllUsesWith(result);
  }
  RETURN_IF_ERROR(builder.status());
  op.Erase();
  return OkStatus();
}

// A chunk that leaves a rest where it can, and coarser blocks where there are some.
std::vector<Division> DivisionsOf(const AxisRule& rule) {
  std::vector<Division> divisions;
  for (size_t i = 0; i < rule.factors.size(); ++i) {
    const int64_t size = rule.factors[i].size;
    divisions.push_back({i, size, size < 5 ? size - 1 : (size - 1) / 2});
    int64_t divisor = 2;
    while (size % divisor != 0) ++divisor;
    divisions.push_back({i, divisor, 1});
  }
  return divisions;
}

Status Run(const std::string& path, std::string_view name) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  const auto read = [&]() -> StatusOr<std::unique_ptr<Module>> {
    ASSIGN_OR_RETURN(std::unique_ptr<Module> module, ReadText(text.str(), path));
    InlineCalls(*module);
    if (FindOp(*module, name) == nullptr) {
      return Status(ErrorCode::kInvalidProgram, StrCat("there is no ", name));
    }
    return module;
  };
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> original, read());
  for (const Division& division : DivisionsOf(AxisRuleOf(*FindOp(*original, name)))) {
    ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, read());
    Op& op = *FindOp(*module, name);
    const AxisRule rule = AxisRuleOf(op);
    const Factor& factor = rule.factors[division.factor];
    RETURN_IF_ERROR(Cut(op, factor, division, module->context()));
    RETURN_IF_ERROR(Verify(*module));
    const AxisRule one = {.factors = {factor}, .otherwise = ""};
    std::cout << "// chunks of " << division.chunk << " of " << division.blocks << ": "
              << ToString(one) << WriteText(*module, Locations::kOmit);
  }
  return OkStatus();
}

}  // namespace
}  // namespace plimsoll

int main(int argument_count, char** arguments) {
  if (argument_count != 3) {
    std::cerr << "usage: cut_one_op FILE NAME\n";
    return 2;
  }
  const plimsoll::Status status = plimsoll::Run(arguments[1], arguments[2]);
  if (!status.ok()) std::cerr << status.ToString() << "\n";
  return status.ok() ? 0 : 1;
}
