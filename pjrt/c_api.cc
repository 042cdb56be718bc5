#include "pjrt/c_api.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compile/c_api_internal.h"
#include "pjrt/element_types.h"
#include "pjrt/engine.h"
#include "pjrt/options.h"

struct PlimsollEngine {
  plimsoll::Engine engine;
};

struct PlimsollExecutable {
  plimsoll::Executable executable;
};

struct PlimsollBuffer {
  plimsoll::Buffer buffer;
};

namespace plimsoll {
namespace {

// Keys in the order in which they are written here.
using Json = nlohmann::ordered_json;

PlimsollString* ToString(const Json& json) { return new PlimsollString{json.dump()}; }

std::string_view TextOrNothing(const char* text) { return text == nullptr ? "" : text; }

// What the functions below do, with a status as the result, so that errors are passed on in one
// line.

Status CreateEngine(const char* plugin_path, const char* options, int verbose,
                    PlimsollEngine** engine) {
  ASSIGN_OR_RETURN(std::vector<Option> client_options, OptionsFromJson(TextOrNothing(options)));
  ASSIGN_OR_RETURN(Engine created,
                   Engine::Create({plugin_path, std::move(client_options), verbose != 0}));
  *engine = new PlimsollEngine{std::move(created)};
  return OkStatus();
}

Status Compile(const PlimsollEngine* engine, std::string_view program, const char* xla_flags,
               PlimsollExecutable** executable) {
  CompileOptions options;
  ASSIGN_OR_RETURN(options.xla_flags, OptionsFromJson(TextOrNothing(xla_flags)));
  ASSIGN_OR_RETURN(Executable compiled, engine->engine.Compile(program, options));
  *executable = new PlimsollExecutable{std::move(compiled)};
  return OkStatus();
}

Status ReadMemory(const PlimsollExecutable* executable, PlimsollString** json) {
  ASSIGN_OR_RETURN(const MemoryStatistics memory, executable->executable.Memory());
  *json = ToString({
      {"argument", memory.argument},
      {"output", memory.output},
      {"alias", memory.alias},
      {"temporary", memory.temporary},
      {"generated_code", memory.generated_code},
      {"peak", memory.peak},
      {"host_argument", memory.host_argument},
      {"host_output", memory.host_output},
      {"host_alias", memory.host_alias},
      {"host_temporary", memory.host_temporary},
      {"host_generated_code", memory.host_generated_code},
  });
  return OkStatus();
}

Status Execute(PlimsollExecutable* executable, std::span<const PlimsollBuffer* const> arguments,
               PlimsollBuffer** results) {
  std::vector<const Buffer*> buffers;
  for (const PlimsollBuffer* argument : arguments) buffers.push_back(&argument->buffer);
  ASSIGN_OR_RETURN(std::vector<Buffer> made, executable->executable.Execute(buffers));
  for (size_t i = 0; i < made.size(); ++i) results[i] = new PlimsollBuffer{std::move(made[i])};
  return OkStatus();
}

Status CreateBuffer(const PlimsollEngine* engine, std::string_view element_type,
                    std::span<const int64_t> shape, std::span<const std::byte> data, int borrow,
                    PlimsollBuffer** buffer) {
  const std::optional<ElementType> known_type = ElementTypeFromMlirName(element_type);
  if (!known_type.has_value()) {
    return Status(ErrorCode::kWrongInputs,
                  StrCat("element type ", element_type,
                         ": expected one that PJRT can move to a device, such as f32 or i64"));
  }
  const ArrayType type{*known_type, {shape.begin(), shape.end()}};
  ASSIGN_OR_RETURN(Buffer made,
                   engine->engine.ToDevice(
                       type, data, borrow != 0 ? HostMemory::kBorrowed : HostMemory::kCopied));
  *buffer = new PlimsollBuffer{std::move(made)};
  return OkStatus();
}

}  // namespace
}  // namespace plimsoll

PlimsollString* plimsoll_element_types(void) {
  plimsoll::Json types = plimsoll::Json::array();
  for (const plimsoll::ElementTypeInfo& info : plimsoll::ElementTypes()) {
    types.push_back(
        {{"name", info.mlir_name}, {"numpy", info.numpy_name}, {"host_bytes", info.host_bytes}});
  }
  return plimsoll::ToString(types);
}

PlimsollError* plimsoll_engine_create(const char* plugin_path, const char* options, int verbose,
                                      PlimsollEngine** engine) {
  return plimsoll::MakeError(plimsoll::CreateEngine(plugin_path, options, verbose, engine));
}

void plimsoll_engine_free(PlimsollEngine* engine) { delete engine; }

const char* plimsoll_engine_platform(const PlimsollEngine* engine) {
  return engine->engine.platform_name().c_str();
}

const char* plimsoll_engine_version(const PlimsollEngine* engine) {
  return engine->engine.platform_version().c_str();
}

const char* plimsoll_engine_api_version(const PlimsollEngine* engine) {
  return engine->engine.api_version().c_str();
}

PlimsollError* plimsoll_engine_compile(const PlimsollEngine* engine, const char* program,
                                       size_t size, const char* xla_flags,
                                       PlimsollExecutable** executable) {
  return plimsoll::MakeError(
      plimsoll::Compile(engine, std::string_view(program, size), xla_flags, executable));
}

void plimsoll_executable_free(PlimsollExecutable* executable) { delete executable; }

const char* plimsoll_executable_name(const PlimsollExecutable* executable) {
  return executable->executable.name().c_str();
}

size_t plimsoll_executable_result_count(const PlimsollExecutable* executable) {
  return executable->executable.result_count();
}

PlimsollString* plimsoll_executable_argument_types(PlimsollExecutable* executable) {
  const std::optional<std::vector<plimsoll::ProgramArgument>>& arguments =
      executable->executable.Arguments();
  if (!arguments.has_value()) return nullptr;
  plimsoll::Json list = plimsoll::Json::array();
  for (const plimsoll::ProgramArgument& argument : *arguments) {
    list.push_back({{"element_type", plimsoll::Info(argument.type.element_type).mlir_name},
                    {"shape", argument.type.dimensions}});
  }
  return plimsoll::ToString(list);
}

PlimsollError* plimsoll_executable_memory(const PlimsollExecutable* executable,
                                          PlimsollString** json) {
  return plimsoll::MakeError(plimsoll::ReadMemory(executable, json));
}

PlimsollError* plimsoll_executable_execute(PlimsollExecutable* executable,
                                           const PlimsollBuffer* const* arguments,
                                           size_t argument_count, PlimsollBuffer** results) {
  return plimsoll::MakeError(plimsoll::Execute(executable, {arguments, argument_count}, results));
}

PlimsollError* plimsoll_buffer_create(const PlimsollEngine* engine, const char* element_type,
                                      const int64_t* shape, size_t rank, const void* data,
                                      size_t size, int borrow, PlimsollBuffer** buffer) {
  return plimsoll::MakeError(plimsoll::CreateBuffer(engine, element_type, {shape, rank},
                                                    {static_cast<const std::byte*>(data), size},
                                                    borrow, buffer));
}

void plimsoll_buffer_free(PlimsollBuffer* buffer) { delete buffer; }

const char* plimsoll_buffer_element_type(const PlimsollBuffer* buffer) {
  // The table's names are literals, so a zero byte follows them.
  return plimsoll::Info(buffer->buffer.type().element_type).mlir_name.data();
}

size_t plimsoll_buffer_rank(const PlimsollBuffer* buffer) {
  return buffer->buffer.type().dimensions.size();
}

const int64_t* plimsoll_buffer_shape(const PlimsollBuffer* buffer) {
  return buffer->buffer.type().dimensions.data();
}

size_t plimsoll_buffer_size(const PlimsollBuffer* buffer) { return buffer->buffer.host_bytes(); }

int plimsoll_buffer_is_donated(const PlimsollBuffer* buffer) {
  return buffer->buffer.IsDonated() ? 1 : 0;
}

PlimsollError* plimsoll_buffer_read(const PlimsollBuffer* buffer, void* data, size_t size) {
  return plimsoll::MakeError(buffer->buffer.ToHost({static_cast<std::byte*>(data), size}));
}
