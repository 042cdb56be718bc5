// The C interface of the PJRT client: load a plugin, compile a program, move arrays in and out,
// execute.
//
// The rules of compile/c_api.h hold. Engines, executables and buffers may be freed in any order.
// Element types are named as MLIR names them: "f32", "ui8", "complex<f32>"; arrays on the host are
// dense and in row-major order, and sub-byte elements take one byte each.

#ifndef PLIMSOLL_PJRT_C_API_H_
#define PLIMSOLL_PJRT_C_API_H_

#include <stddef.h>
#include <stdint.h>

#include "compile/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PlimsollEngine PlimsollEngine;
typedef struct PlimsollExecutable PlimsollExecutable;
typedef struct PlimsollBuffer PlimsollBuffer;

// All element types, as JSON: [{"name": "bf16", "numpy": "bfloat16", "host_bytes": 2}, ...].
PLIMSOLL_API PlimsollString* plimsoll_element_types(void);

// Loads the plugin in the file `plugin_path` and makes a client. `options` (may be null) is a JSON
// object of what the plugin's client takes: {"cpu_device_count": 1}. Unless `verbose`, XLA's log
// messages on standard error are turned off; the first load of a plugin in a process decides.
PLIMSOLL_API PlimsollError* plimsoll_engine_create(const char* plugin_path, const char* options,
                                                   int verbose, PlimsollEngine** engine);
PLIMSOLL_API void plimsoll_engine_free(PlimsollEngine* engine);
// Such as "cpu"; the engine's own version, in words; the version of the PJRT interface it speaks,
// such as "0.81".
PLIMSOLL_API const char* plimsoll_engine_platform(const PlimsollEngine* engine);
PLIMSOLL_API const char* plimsoll_engine_version(const PlimsollEngine* engine);
PLIMSOLL_API const char* plimsoll_engine_api_version(const PlimsollEngine* engine);

// Compiles StableHLO (text or bytecode) for one device. `xla_flags` (may be null) is a JSON object
// of XLA's flags for this compilation alone, without dashes: {"xla_cpu_enable_fast_math": true}.
PLIMSOLL_API PlimsollError* plimsoll_engine_compile(const PlimsollEngine* engine,
                                                    const char* program, size_t size,
                                                    const char* xla_flags,
                                                    PlimsollExecutable** executable);
PLIMSOLL_API void plimsoll_executable_free(PlimsollExecutable* executable);
PLIMSOLL_API const char* plimsoll_executable_name(const PlimsollExecutable* executable);
PLIMSOLL_API size_t plimsoll_executable_result_count(const PlimsollExecutable* executable);
// What the program takes, as JSON: [{"element_type": "f32", "shape": [2, 3]}, ...]; null if the
// engine does not tell.
PLIMSOLL_API PlimsollString* plimsoll_executable_argument_types(PlimsollExecutable* executable);
// What XLA says the program needs, as JSON: {"argument": bytes, "output": ..., "alias": ...,
// "temporary": ..., "generated_code": ..., "peak": ..., and the same with "host_" in front, for
// memory of the host}.
PLIMSOLL_API PlimsollError* plimsoll_executable_memory(const PlimsollExecutable* executable,
                                                       PlimsollString** json);
// Runs the program and waits for its end. `results` has room for plimsoll_executable_result_count
// buffers, which the caller frees.
PLIMSOLL_API PlimsollError* plimsoll_executable_execute(PlimsollExecutable* executable,
                                                        const PlimsollBuffer* const* arguments,
                                                        size_t argument_count,
                                                        PlimsollBuffer** results);

// Moves an array to the engine's device. If `borrow` is 0 the values are copied. Else the engine
// may use `data` itself, so it must stay alive and unchanged until the buffer is freed; XLA:CPU
// does so if the address is a multiple of 64 bytes.
PLIMSOLL_API PlimsollError* plimsoll_buffer_create(const PlimsollEngine* engine,
                                                   const char* element_type, const int64_t* shape,
                                                   size_t rank, const void* data, size_t size,
                                                   int borrow, PlimsollBuffer** buffer);
PLIMSOLL_API void plimsoll_buffer_free(PlimsollBuffer* buffer);
PLIMSOLL_API const char* plimsoll_buffer_element_type(const PlimsollBuffer* buffer);
PLIMSOLL_API size_t plimsoll_buffer_rank(const PlimsollBuffer* buffer);
PLIMSOLL_API const int64_t* plimsoll_buffer_shape(const PlimsollBuffer* buffer);
// How many bytes plimsoll_buffer_read writes.
PLIMSOLL_API size_t plimsoll_buffer_size(const PlimsollBuffer* buffer);
// 1 once an execution has taken the array's memory for a result; its values are gone then.
PLIMSOLL_API int plimsoll_buffer_is_donated(const PlimsollBuffer* buffer);
PLIMSOLL_API PlimsollError* plimsoll_buffer_read(const PlimsollBuffer* buffer, void* data,
                                                 size_t size);

#ifdef __cplusplus
}
#endif

#endif  // PLIMSOLL_PJRT_C_API_H_
