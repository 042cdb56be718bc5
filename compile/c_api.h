// The C interface of Plimsoll's core: read a program, look at it, run the pipeline on it, write it.
//
// Rules: a function that can fail returns a PlimsollError*, which is null on success and which the
// caller frees. Strings that belong to the caller come as PlimsollString* and are freed; `const
// char*` results live as long as the object that they were asked of. Handles are not thread safe;
// different modules may be used in different threads.

#ifndef PLIMSOLL_COMPILE_C_API_H_
#define PLIMSOLL_COMPILE_C_API_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLIMSOLL_API __attribute__((visibility("default")))

typedef struct PlimsollError PlimsollError;
typedef struct PlimsollString PlimsollString;
typedef struct PlimsollModule PlimsollModule;
typedef struct PlimsollPlanner PlimsollPlanner;
typedef struct PlimsollRule PlimsollRule;
typedef struct PlimsollRuleAnswer PlimsollRuleAnswer;
typedef struct PlimsollOp PlimsollOp;
typedef struct PlimsollValue PlimsollValue;
typedef struct PlimsollBlock PlimsollBlock;

// The version of the library, such as "0.1.0".
PLIMSOLL_API const char* plimsoll_version(void);

// Errors: the code as docs/errors names it ("PL101"), one line of text, and whether the user can
// mend it.
PLIMSOLL_API const char* plimsoll_error_code(const PlimsollError* error);
PLIMSOLL_API const char* plimsoll_error_message(const PlimsollError* error);
PLIMSOLL_API int plimsoll_error_is_user_mistake(const PlimsollError* error);
PLIMSOLL_API void plimsoll_error_free(PlimsollError* error);

PLIMSOLL_API const char* plimsoll_string_data(const PlimsollString* string);
PLIMSOLL_API size_t plimsoll_string_size(const PlimsollString* string);
PLIMSOLL_API void plimsoll_string_free(PlimsollString* string);

// Reads a portable artifact, MLIR bytecode or generic text. Large constants are not copied: `data`
// must stay alive and unchanged until the module is freed. `name` stands for the input in error
// messages.
PLIMSOLL_API PlimsollError* plimsoll_module_parse(const char* data, size_t size, const char* name,
                                                  PlimsollModule** module);
PLIMSOLL_API void plimsoll_module_free(PlimsollModule* module);

// The module as generic text, which XLA and MLIR read; without locations if `with_locations` is 0.
PLIMSOLL_API PlimsollString* plimsoll_module_text(const PlimsollModule* module, int with_locations);

// Null if the module keeps all rules, else what is wrong and where.
PLIMSOLL_API PlimsollError* plimsoll_module_verify(const PlimsollModule* module);

// What a person wants to know of a program, as JSON: arguments, ops by kind, the `largest` biggest
// values, totals.
PLIMSOLL_API PlimsollString* plimsoll_module_summary(const PlimsollModule* module, size_t largest);

// An estimate of what XLA:CPU's temporaries for the program will be, as JSON: {"bytes": ...,
// "source": "train.py:41", "values": [{"bytes": ..., "type": "tensor<8x3xf32>", "source": ...},
// ...]}, with the line that runs when they are most and what lives then, largest first.
PLIMSOLL_API PlimsollString* plimsoll_module_peak(const PlimsollModule* module);

// The pipeline's steps in order, as JSON: [{"name": ..., "why": ...}, ...].
PLIMSOLL_API PlimsollString* plimsoll_pipeline_steps(void);

// Runs the pipeline on the module, up to and with `stop_after` (null: all of it). If
// `dump_directory` is not null, the graph is written there after each step, as
// <number>-<step>.mlir.
PLIMSOLL_API PlimsollError* plimsoll_module_compile(PlimsollModule* module, const char* stop_after,
                                                    const char* dump_directory);

// The memory that an XLA:CPU program takes and XLA's statistics do not count, from the optimized
// HLO of the compiled module, the size of XLA's thread pool, and 12 for jaxlib 0.12. As JSON:
// {"values": bytes, "constants": bytes, "code": bytes, "scratch": bytes, "instruction": "the one
// with the most scratch"}. "values" are no less than what XLA counts.
PLIMSOLL_API PlimsollString* plimsoll_hidden_memory(const char* hlo_text, size_t size,
                                                    size_t thread_count, size_t jaxlib_minor);

// The largest values that a compiled program makes, from its optimized HLO, as JSON: [{"bytes":
// ..., "type": "f32[8,3]", "op": "exp", "source": "train.py:41"}, ...], at most `count`, largest
// first.
PLIMSOLL_API PlimsollString* plimsoll_largest_values(const char* hlo_text, size_t size,
                                                     size_t count);

// The program as algebra and kernels make it, and as JSON what was done: {"is_surely_faster":
// whether that is worth it without a limit, "peak_before", "peak_after", "seconds_before",
// "seconds_after", "flops_before", "flops_after": estimates, "can_be_tried", "rules": [{"rule",
// "source", "before":
// {"seconds", "flops", "largest": bytes}, "after": ...}], "refused_rules": [{"rule", "source",
// "reason"}], and "kernels" and "refused_kernels" as from plimsoll_planner_next}.
// `options` is JSON with any of {"strict": only rules that reorder sums and products, "disabled":
// [names of rules], "kernel_threads": kernels for a processor may be used, with so many threads}.
PLIMSOLL_API PlimsollError* plimsoll_module_simplify(const PlimsollModule* module,
                                                     const char* options,
                                                     PlimsollModule** simplified,
                                                     PlimsollString** report);
// The table of rules as JSON: [{"name", "pattern", "result", "guard", "strict"}], the user's own
// last.
PLIMSOLL_API PlimsollString* plimsoll_rules(void);

// Called with the types of arguments, as JSON like that of plimsoll_value_type_json in a list, to
// say with one of the two functions below what both sides of a rule are for them. If it says
// nothing, the pattern cannot have such arguments. It may be called by several threads at once.
typedef void (*PlimsollRuleLower)(void* data, const char* types, PlimsollRuleAnswer* answer);
// Both are programs as plimsoll_module_parse reads them, and are copied.
PLIMSOLL_API void plimsoll_rule_answer(PlimsollRuleAnswer* answer, const char* pattern,
                                       size_t pattern_size, const char* result, size_t result_size);
// The rule is not to be used where this pattern is found.
PLIMSOLL_API void plimsoll_rule_refuse(PlimsollRuleAnswer* answer, const char* pattern,
                                       size_t pattern_size, const char* reason);

// A rule of the user's own, which is used from now on. `samples` are programs that show the pattern
// for arguments of some types; they are copied. `lower` and `data` must live as long as the
// process.
PLIMSOLL_API PlimsollError* plimsoll_rule_add(const char* name, const char* const* samples,
                                              const size_t* sizes, size_t count,
                                              PlimsollRuleLower lower, void* data,
                                              PlimsollRule** rule);
// The rule is not used for programs that come later, and freed.
PLIMSOLL_API void plimsoll_rule_remove(PlimsollRule* rule);

// What XLA calls for custom calls of kernels: a handler of its foreign function interface.
PLIMSOLL_API void* plimsoll_kernel_handler(void* call_frame);
// Lets estimates of time be those of this machine: measures it for about a tenth of a second, or
// takes what an earlier process has measured. Before other threads plan programs.
PLIMSOLL_API PlimsollError* plimsoll_calibrate(void);
// How long kernels took in this process, as JSON: {"calls": [{"program": text, "seconds": thought
// to take, "calls": number, "least_seconds": measured}], "made": [{"program": text, "seconds": of
// making its code, "from_disk": true if an earlier process had}]}.
PLIMSOLL_API PlimsollString* plimsoll_kernel_times(void);

// Programs that need less memory, to be tried one after the other. `options` is JSON with any of
// {"budget": bytes for temporaries, "best_chunk": bytes, "most_value": bytes, "most_chunk": bytes,
// "fresh_temporaries": 0 or 1, "wants_kernels": 1 for kernels wherever there can be one}, and what
// plimsoll_module_simplify takes.
// The module must stay alive and unchanged until the planner is freed.
PLIMSOLL_API PlimsollError* plimsoll_planner_make(const PlimsollModule* module, const char* options,
                                                  PlimsollPlanner** planner);
PLIMSOLL_API void plimsoll_planner_free(PlimsollPlanner* planner);
// The next program and, as JSON, what was done: {"peak_before": bytes, "peak_after": bytes,
// "seconds": how long it is thought to run, "can_be_tried": true if it can be run on any numbers to
// see how long it takes, "reason": why such programs are never cut or "",
// "made": [cuts], "recomputed": [values], "refused": [values], "held": [values], "kernels":
// [{"bytes": of the largest value that it does without, "source", "seconds": thought to take,
// "program": text}], "refused_kernels": [values], and "rules" and "refused_rules" as from
// plimsoll_module_simplify}. Each value has {"bytes", "value": its type,
// "source": line} and, where it was refused or holds memory, "reason". Both are null if there is no
// program.
PLIMSOLL_API PlimsollError* plimsoll_planner_next(PlimsollPlanner* planner, PlimsollModule** module,
                                                  PlimsollString** plan);
// What the temporaries of the last program need, from XLA, scratch of libraries included.
PLIMSOLL_API void plimsoll_planner_tell(PlimsollPlanner* planner, int64_t needed, int64_t scratch);

// Walking. Ops, values and blocks belong to their module.
PLIMSOLL_API const PlimsollOp* plimsoll_module_op(const PlimsollModule* module);
PLIMSOLL_API const char* plimsoll_op_name(const PlimsollOp* op);
PLIMSOLL_API size_t plimsoll_op_operand_count(const PlimsollOp* op);
PLIMSOLL_API const PlimsollValue* plimsoll_op_operand(const PlimsollOp* op, size_t index);
PLIMSOLL_API size_t plimsoll_op_result_count(const PlimsollOp* op);
PLIMSOLL_API const PlimsollValue* plimsoll_op_result(const PlimsollOp* op, size_t index);
PLIMSOLL_API size_t plimsoll_op_region_count(const PlimsollOp* op);
PLIMSOLL_API size_t plimsoll_op_block_count(const PlimsollOp* op, size_t region);
PLIMSOLL_API const PlimsollBlock* plimsoll_op_block(const PlimsollOp* op, size_t region,
                                                    size_t index);
PLIMSOLL_API const PlimsollBlock* plimsoll_op_parent(const PlimsollOp* op);
PLIMSOLL_API const PlimsollOp* plimsoll_op_next(const PlimsollOp* op);
PLIMSOLL_API const PlimsollOp* plimsoll_block_first_op(const PlimsollBlock* block);
PLIMSOLL_API const PlimsollOp* plimsoll_block_parent(const PlimsollBlock* block);
PLIMSOLL_API size_t plimsoll_block_argument_count(const PlimsollBlock* block);
PLIMSOLL_API const PlimsollValue* plimsoll_block_argument(const PlimsollBlock* block, size_t index);

// Attributes (inherent ones first) as JSON: {"name": value}. Integers, booleans, strings, lists and
// dictionaries are JSON's own, structured attributes are objects with their fields, everything else
// is its MLIR text.
PLIMSOLL_API PlimsollString* plimsoll_op_attributes(const PlimsollOp* op);
// One attribute as MLIR text, null if the op has none of that name.
PLIMSOLL_API PlimsollString* plimsoll_op_attribute_text(const PlimsollOp* op, const char* name);
// The location as MLIR text, and as a person wants it: "train.py:41", or "" if it is unknown.
PLIMSOLL_API PlimsollString* plimsoll_op_location_text(const PlimsollOp* op);
PLIMSOLL_API PlimsollString* plimsoll_op_source(const PlimsollOp* op);
// The op as generic text, on its own, with its regions.
PLIMSOLL_API PlimsollString* plimsoll_op_text(const PlimsollOp* op);

PLIMSOLL_API PlimsollString* plimsoll_value_type(const PlimsollValue* value);
// JSON: {"kind": "tensor", "shape": [2, null], "element_type": "f32", "bytes": null, ...}; null
// stands for unknown.
PLIMSOLL_API PlimsollString* plimsoll_value_type_json(const PlimsollValue* value);
// The op that defines the value, or null for a block's argument; its number among the results or
// arguments.
PLIMSOLL_API const PlimsollOp* plimsoll_value_defining_op(const PlimsollValue* value);
PLIMSOLL_API const PlimsollBlock* plimsoll_value_block(const PlimsollValue* value);
PLIMSOLL_API size_t plimsoll_value_index(const PlimsollValue* value);
PLIMSOLL_API size_t plimsoll_value_use_count(const PlimsollValue* value);
PLIMSOLL_API const PlimsollOp* plimsoll_value_user(const PlimsollValue* value, size_t index);

#ifdef __cplusplus
}
#endif

#endif  // PLIMSOLL_COMPILE_C_API_H_
