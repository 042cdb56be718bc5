#include "compile/c_api.h"

#include <memory>
#include <utility>

#include "analysis/hidden_memory.h"
#include "analysis/large_values.h"
#include "compile/c_api_internal.h"
#include "compile/compile.h"
#include "compile/json.h"
#include "compile/plan_json.h"
#include "compile/summary.h"
#include "ir/graph.h"
#include "ir/verify.h"
#include "kernels/cpu/kernel_handler.h"
#include "kernels/cpu/kernel_store.h"
#include "kernels/cpu/measure_machine.h"
#include "plan/planner.h"
#include "stablehlo/read.h"
#include "stablehlo/text_writer.h"

struct PlimsollModule {
  std::unique_ptr<plimsoll::Module> module;
};

struct PlimsollPlanner {
  plimsoll::Planner planner;
};

namespace {

using plimsoll::Block;
using plimsoll::MakeError;
using plimsoll::Op;
using plimsoll::Value;

PlimsollString* MakeString(std::string value) { return new PlimsollString{std::move(value)}; }

// The interface's ops, values and blocks are the graph's own under another name.
const Op& ToOp(const PlimsollOp* op) { return *reinterpret_cast<const Op*>(op); }
const Value& ToValue(const PlimsollValue* value) { return *reinterpret_cast<const Value*>(value); }
const Block& ToBlock(const PlimsollBlock* block) { return *reinterpret_cast<const Block*>(block); }
const PlimsollOp* FromOp(const Op* op) { return reinterpret_cast<const PlimsollOp*>(op); }
const PlimsollValue* FromValue(const Value* value) {
  return reinterpret_cast<const PlimsollValue*>(value);
}
const PlimsollBlock* FromBlock(const Block* block) {
  return reinterpret_cast<const PlimsollBlock*>(block);
}

}  // namespace

const char* plimsoll_version(void) { return PLIMSOLL_VERSION; }

const char* plimsoll_error_code(const PlimsollError* error) { return error->code.c_str(); }

const char* plimsoll_error_message(const PlimsollError* error) { return error->message.c_str(); }

int plimsoll_error_is_user_mistake(const PlimsollError* error) {
  return plimsoll::IsUserMistake(error->status.code()) ? 1 : 0;
}

void plimsoll_error_free(PlimsollError* error) { delete error; }

const char* plimsoll_string_data(const PlimsollString* string) { return string->value.data(); }

size_t plimsoll_string_size(const PlimsollString* string) { return string->value.size(); }

void plimsoll_string_free(PlimsollString* string) { delete string; }

PlimsollError* plimsoll_module_parse(const char* data, size_t size, const char* name,
                                     PlimsollModule** module) {
  plimsoll::StatusOr<std::unique_ptr<plimsoll::Module>> read =
      plimsoll::ReadModule({data, size}, name);
  if (!read.ok()) return MakeError(read.status());
  *module = new PlimsollModule{*std::move(read)};
  return nullptr;
}

void plimsoll_module_free(PlimsollModule* module) { delete module; }

PlimsollString* plimsoll_module_text(const PlimsollModule* module, int with_locations) {
  return MakeString(plimsoll::WriteText(*module->module, with_locations != 0
                                                             ? plimsoll::Locations::kWrite
                                                             : plimsoll::Locations::kOmit));
}

PlimsollError* plimsoll_module_verify(const PlimsollModule* module) {
  return MakeError(plimsoll::Verify(*module->module));
}

PlimsollString* plimsoll_module_summary(const PlimsollModule* module, size_t largest) {
  return MakeString(plimsoll::SummarizeAsJson(*module->module, largest));
}

PlimsollString* plimsoll_module_peak(const PlimsollModule* module) {
  return MakeString(plimsoll::DescribePeakAsJson(*module->module));
}

PlimsollString* plimsoll_pipeline_steps(void) {
  plimsoll::Json steps = plimsoll::Json::array();
  for (const plimsoll::Step& step : plimsoll::PipelineSteps()) {
    steps.push_back({{"name", step.name}, {"why", step.why}});
  }
  return MakeString(steps.dump());
}

PlimsollError* plimsoll_module_compile(PlimsollModule* module, const char* stop_after,
                                       const char* dump_directory) {
  plimsoll::CompileOptions options;
  if (stop_after != nullptr) options.stop_after = stop_after;
  if (dump_directory != nullptr) options.dump_directory = dump_directory;
  return MakeError(plimsoll::Compile(*module->module, options));
}

PlimsollError* plimsoll_module_simplify(const PlimsollModule* module, const char* options,
                                        PlimsollModule** simplified, PlimsollString** report) {
  plimsoll::StatusOr<plimsoll::SpeedOptions> read = plimsoll::ReadSpeedOptions(options);
  if (!read.ok()) return MakeError(read.status());
  plimsoll::StatusOr<plimsoll::SimplifiedModule> made = plimsoll::SpeedUp(*module->module, *read);
  if (!made.ok()) return MakeError(made.status());
  *report = MakeString(plimsoll::SimplificationAsJson(*made));
  *simplified = new PlimsollModule{std::move(made->module)};
  return nullptr;
}

void* plimsoll_kernel_handler(void* call_frame) {
  return plimsoll::RunKernelCall(static_cast<plimsoll::ffi::CallFrame*>(call_frame));
}

PlimsollError* plimsoll_calibrate(void) {
  const plimsoll::StatusOr<plimsoll::MachineSpeed> speed =
      plimsoll::FindMachineSpeed(plimsoll::StoreOfProcess());
  if (!speed.ok()) return MakeError(speed.status());
  plimsoll::SetSpeedOfMachine(*speed);
  return nullptr;
}

PlimsollString* plimsoll_kernel_times(void) { return MakeString(plimsoll::KernelTimesAsJson()); }

PlimsollString* plimsoll_rules(void) { return MakeString(plimsoll::RulesAsJson()); }

PlimsollError* plimsoll_planner_make(const PlimsollModule* module, const char* options,
                                     PlimsollPlanner** planner) {
  plimsoll::StatusOr<plimsoll::PlannerOptions> read = plimsoll::ReadPlannerOptions(options);
  if (!read.ok()) return MakeError(read.status());
  *planner = new PlimsollPlanner{plimsoll::Planner(*module->module, *read)};
  return nullptr;
}

void plimsoll_planner_free(PlimsollPlanner* planner) { delete planner; }

PlimsollError* plimsoll_planner_next(PlimsollPlanner* planner, PlimsollModule** module,
                                     PlimsollString** plan) {
  *module = nullptr;
  *plan = nullptr;
  plimsoll::StatusOr<plimsoll::PlannedModule> planned = planner->planner.Next();
  if (!planned.ok()) return MakeError(planned.status());
  if (planned->module == nullptr) return nullptr;
  *plan = MakeString(plimsoll::PlanAsJson(*planned));
  *module = new PlimsollModule{std::move(planned->module)};
  return nullptr;
}

void plimsoll_planner_tell(PlimsollPlanner* planner, int64_t needed, int64_t scratch) {
  planner->planner.Tell(needed, scratch);
}

PlimsollString* plimsoll_hidden_memory(const char* hlo_text, size_t size, size_t thread_count,
                                       size_t jaxlib_minor) {
  const plimsoll::HiddenMemory hidden = plimsoll::EstimateHiddenMemory(
      {hlo_text, size}, static_cast<int64_t>(thread_count), static_cast<int64_t>(jaxlib_minor));
  const plimsoll::Json json = {{"values", hidden.value_bytes},
                               {"constants", hidden.constant_bytes},
                               {"code", hidden.code_bytes},
                               {"scratch", hidden.scratch_bytes},
                               {"instruction", plimsoll::ToUtf8(hidden.instruction)}};
  return MakeString(json.dump());
}

PlimsollString* plimsoll_largest_values(const char* hlo_text, size_t size, size_t count) {
  plimsoll::Json json = plimsoll::Json::array();
  for (const plimsoll::LargeValue& value : plimsoll::FindLargestValues({hlo_text, size}, count)) {
    json.push_back({{"bytes", value.bytes},
                    {"type", plimsoll::ToUtf8(value.type)},
                    {"op", plimsoll::ToUtf8(value.operation)},
                    {"source", plimsoll::ToUtf8(value.source)}});
  }
  return MakeString(json.dump());
}

const PlimsollOp* plimsoll_module_op(const PlimsollModule* module) {
  return FromOp(&module->module->op());
}

const char* plimsoll_op_name(const PlimsollOp* op) {
  // Names come from the table or the context, both of which end them with a zero byte.
  return ToOp(op).name().data();
}

size_t plimsoll_op_operand_count(const PlimsollOp* op) { return ToOp(op).operand_count(); }

const PlimsollValue* plimsoll_op_operand(const PlimsollOp* op, size_t index) {
  return FromValue(ToOp(op).operand(index));
}

size_t plimsoll_op_result_count(const PlimsollOp* op) { return ToOp(op).result_count(); }

const PlimsollValue* plimsoll_op_result(const PlimsollOp* op, size_t index) {
  return FromValue(ToOp(op).result(index));
}

size_t plimsoll_op_region_count(const PlimsollOp* op) { return ToOp(op).region_count(); }

size_t plimsoll_op_block_count(const PlimsollOp* op, size_t region) {
  return ToOp(op).region(region).block_count();
}

const PlimsollBlock* plimsoll_op_block(const PlimsollOp* op, size_t region, size_t index) {
  return FromBlock(&ToOp(op).region(region).block(index));
}

const PlimsollBlock* plimsoll_op_parent(const PlimsollOp* op) {
  return FromBlock(ToOp(op).block());
}

const PlimsollOp* plimsoll_op_next(const PlimsollOp* op) { return FromOp(ToOp(op).next()); }

const PlimsollOp* plimsoll_block_first_op(const PlimsollBlock* block) {
  return FromOp(ToBlock(block).first());
}

const PlimsollOp* plimsoll_block_parent(const PlimsollBlock* block) {
  return FromOp(ToBlock(block).parent());
}

size_t plimsoll_block_argument_count(const PlimsollBlock* block) {
  return ToBlock(block).argument_count();
}

const PlimsollValue* plimsoll_block_argument(const PlimsollBlock* block, size_t index) {
  return FromValue(ToBlock(block).argument(index));
}

PlimsollString* plimsoll_op_attributes(const PlimsollOp* op) {
  return MakeString(plimsoll::AttributesToJson(ToOp(op)).dump());
}

PlimsollString* plimsoll_op_attribute_text(const PlimsollOp* op, const char* name) {
  const plimsoll::Attribute attribute = ToOp(op).Get(name);
  return attribute ? MakeString(attribute.ToString()) : nullptr;
}

PlimsollString* plimsoll_op_location_text(const PlimsollOp* op) {
  return MakeString(ToOp(op).location().ToString());
}

PlimsollString* plimsoll_op_source(const PlimsollOp* op) {
  return MakeString(plimsoll::SourceLine(ToOp(op).location()));
}

PlimsollString* plimsoll_op_text(const PlimsollOp* op) {
  return MakeString(plimsoll::WriteText(ToOp(op)));
}

PlimsollString* plimsoll_value_type(const PlimsollValue* value) {
  return MakeString(ToValue(value).type().ToString());
}

PlimsollString* plimsoll_value_type_json(const PlimsollValue* value) {
  return MakeString(plimsoll::ToJson(ToValue(value).type()).dump());
}

const PlimsollOp* plimsoll_value_defining_op(const PlimsollValue* value) {
  return FromOp(ToValue(value).defining_op());
}

const PlimsollBlock* plimsoll_value_block(const PlimsollValue* value) {
  return FromBlock(ToValue(value).block());
}

size_t plimsoll_value_index(const PlimsollValue* value) { return ToValue(value).index(); }

size_t plimsoll_value_use_count(const PlimsollValue* value) { return ToValue(value).use_count(); }

const PlimsollOp* plimsoll_value_user(const PlimsollValue* value, size_t index) {
  const plimsoll::Operand* use = ToValue(value).first_use();
  for (size_t i = 0; i < index && use != nullptr; ++i) use = use->next_use();
  return use != nullptr ? FromOp(use->owner()) : nullptr;
}
