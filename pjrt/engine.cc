#include "pjrt/engine.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "pjrt/layout.h"
#include "pjrt/plugin.h"
#include "pjrt/program_shape.h"
#include "pjrt_c_api.h"

namespace plimsoll {

struct PjrtClient {
  std::shared_ptr<const Plugin> plugin;
  PJRT_Client* client = nullptr;
  PJRT_Device* device = nullptr;

  const PJRT_Api& api() const { return plugin->api(); }
  Status Take(PJRT_Error* error, std::string_view action) const {
    return plugin->Take(error, action);
  }

  explicit PjrtClient(std::shared_ptr<const Plugin> loaded_plugin)
      : plugin(std::move(loaded_plugin)) {}
  ~PjrtClient() {
    PLIMSOLL_PJRT_ARGS(args, PJRT_Client_Destroy);
    args.client = client;
    Drop(api().PJRT_Client_Destroy(&args));
  }
  PjrtClient(const PjrtClient&) = delete;
  PjrtClient& operator=(const PjrtClient&) = delete;

  // Nobody can do anything about an error in freeing.
  void Drop(PJRT_Error* error) const { (void)Take(error, "free an object"); }
};

void PjrtDeleter::operator()(PJRT_Buffer* buffer) const {
  PLIMSOLL_PJRT_ARGS(args, PJRT_Buffer_Destroy);
  args.buffer = buffer;
  client->Drop(client->api().PJRT_Buffer_Destroy(&args));
}

void PjrtDeleter::operator()(PJRT_Event* event) const {
  // The event only says when; what it waited for has reported its errors elsewhere.
  (void)client->plugin->Await(event, "finish a transfer");
}

void PjrtDeleter::operator()(PJRT_Executable* executable) const {
  PLIMSOLL_PJRT_ARGS(args, PJRT_Executable_Destroy);
  args.executable = executable;
  client->Drop(client->api().PJRT_Executable_Destroy(&args));
}

void PjrtDeleter::operator()(PJRT_LoadedExecutable* executable) const {
  PLIMSOLL_PJRT_ARGS(args, PJRT_LoadedExecutable_Destroy);
  args.executable = executable;
  client->Drop(client->api().PJRT_LoadedExecutable_Destroy(&args));
}

// Buffers.

namespace {

// PJRT takes a null address for a question, so empty arrays need another one.
constexpr std::byte kNoBytes{};

}  // namespace

StatusOr<Buffer> Buffer::Wrap(PjrtPointer<PJRT_Buffer> buffer) {
  const PjrtClient& client = *buffer.get_deleter().client;
  PLIMSOLL_PJRT_ARGS(element_type, PJRT_Buffer_ElementType);
  element_type.buffer = buffer.get();
  RETURN_IF_ERROR(client.Take(client.api().PJRT_Buffer_ElementType(&element_type),
                              "tell the element type of an array"));
  const std::optional<ElementType> known_type = ElementTypeFromPjrtNumber(element_type.type);
  if (!known_type.has_value()) {
    return Status(ErrorCode::kNotUnderstood,
                  StrCat("the engine made a value that is no array of a known element type (PJRT's "
                         "number ",
                         static_cast<int>(element_type.type), ")"));
  }
  PLIMSOLL_PJRT_ARGS(dimensions, PJRT_Buffer_Dimensions);
  dimensions.buffer = buffer.get();
  RETURN_IF_ERROR(
      client.Take(client.api().PJRT_Buffer_Dimensions(&dimensions), "tell the shape of an array"));
  ArrayType type{*known_type, {dimensions.dims, dimensions.dims + dimensions.num_dims}};
  const std::optional<size_t> host_bytes = type.HostBytes();
  if (!host_bytes.has_value()) {
    return Status(ErrorCode::kEngineFailure,
                  StrCat("the engine made an array of impossible size: ", type.ToString()));
  }
  return Buffer(std::move(buffer), std::move(type), *host_bytes);
}

bool Buffer::IsDonated() const {
  PLIMSOLL_PJRT_ARGS(args, PJRT_Buffer_IsDeleted);
  args.buffer = buffer_.get();
  const Status status =
      client().Take(client().api().PJRT_Buffer_IsDeleted(&args), "tell whether an array lives");
  return !status.ok() || args.is_deleted;
}

Status Buffer::ToHost(std::span<std::byte> destination) const {
  if (destination.size() != host_bytes_) {
    return Status(ErrorCode::kBadArgument,
                  StrCat("to read ", type_.ToString(), ": expected memory of ", host_bytes_,
                         " bytes, found ", destination.size()));
  }
  if (IsDonated()) {
    return Status(ErrorCode::kBadArgument,
                  StrCat("to read ", type_.ToString(),
                         ": expected an array with values, found one that an execution has taken "
                         "for its results"));
  }
  if (destination.empty()) return OkStatus();

  ASSIGN_OR_RETURN(const std::vector<int64_t> minor_to_major, MinorToMajor());
  if (IsRowMajor(type_.dimensions, minor_to_major)) return ReadInDeviceOrder(destination);
  std::vector<std::byte> values(destination.size());
  RETURN_IF_ERROR(ReadInDeviceOrder(values));
  ToRowMajor(type_, minor_to_major, values, destination);
  return OkStatus();
}

// The dimensions in the order in which the device keeps them, the one that varies fastest first.
StatusOr<std::vector<int64_t>> Buffer::MinorToMajor() const {
  PLIMSOLL_PJRT_ARGS(args, PJRT_Buffer_GetMemoryLayout);
  args.buffer = buffer_.get();
  RETURN_IF_ERROR(
      client().Take(client().api().PJRT_Buffer_GetMemoryLayout(&args), "tell an array's layout"));
  const PJRT_Buffer_MemoryLayout_Tiled& tiled = args.layout.tiled;
  if (args.layout.type != PJRT_Buffer_MemoryLayout_Type_Tiled ||
      tiled.minor_to_major_size != type_.dimensions.size()) {
    return Status(ErrorCode::kNotUnderstood,
                  StrCat("to read ", type_.ToString(),
                         ": expected an order of its dimensions, found another kind of layout"));
  }
  return std::vector<int64_t>(tiled.minor_to_major,
                              tiled.minor_to_major + tiled.minor_to_major_size);
}

// PJRT can also be asked for another order than the device's, but XLA:CPU gives its own order all
// the same.
Status Buffer::ReadInDeviceOrder(std::span<std::byte> destination) const {
  const std::string action = StrCat("read ", type_.ToString(), " from the device");
  PLIMSOLL_PJRT_ARGS(args, PJRT_Buffer_ToHostBuffer);
  args.src = buffer_.get();
  RETURN_IF_ERROR(client().Take(client().api().PJRT_Buffer_ToHostBuffer(&args), action));
  // Writing past the end, or leaving bytes unwritten, must not depend on what the plugin thinks of
  // the type.
  if (args.dst_size != destination.size()) {
    return Status(ErrorCode::kEngineFailure,
                  StrCat("to read ", type_.ToString(), ": expected ", destination.size(),
                         " bytes, found that the engine writes ", args.dst_size));
  }
  args.dst = destination.data();
  RETURN_IF_ERROR(client().Take(client().api().PJRT_Buffer_ToHostBuffer(&args), action));
  return client().plugin->Await(args.event, action);
}

// Executables.

Status Executable::ReadProperties() {
  PLIMSOLL_PJRT_ARGS(name, PJRT_Executable_Name);
  name.executable = executable_.get();
  RETURN_IF_ERROR(
      client().Take(client().api().PJRT_Executable_Name(&name), "tell the program's name"));
  name_.assign(name.executable_name, name.executable_name_size);

  PLIMSOLL_PJRT_ARGS(outputs, PJRT_Executable_NumOutputs);
  outputs.executable = executable_.get();
  RETURN_IF_ERROR(client().Take(client().api().PJRT_Executable_NumOutputs(&outputs),
                                "tell the number of results"));
  result_count_ = outputs.num_outputs;

  PLIMSOLL_PJRT_ARGS(devices, PJRT_LoadedExecutable_AddressableDevices);
  devices.executable = loaded_.get();
  RETURN_IF_ERROR(client().Take(client().api().PJRT_LoadedExecutable_AddressableDevices(&devices),
                                "tell the program's devices"));
  device_count_ = devices.num_addressable_devices;
  return OkStatus();
}

const std::optional<std::vector<ProgramArgument>>& Executable::Arguments() {
  if (!asked_for_arguments_) {
    arguments_ = ReadArguments();
    asked_for_arguments_ = true;
  }
  return arguments_;
}

std::optional<std::vector<ProgramArgument>> Executable::ReadArguments() const {
  const std::string_view action = "give the program back";
  PJRT_Program program{};
  program.struct_size = PJRT_Program_STRUCT_SIZE;
  PLIMSOLL_PJRT_ARGS(args, PJRT_Executable_OptimizedProgram);
  args.executable = executable_.get();
  args.program = &program;
  // The first call tells the size. A plugin need not know its HLO: then nothing is checked before
  // the execution.
  if (!client().Take(client().api().PJRT_Executable_OptimizedProgram(&args), action).ok()) {
    return std::nullopt;
  }
  std::string code(program.code_size, '\0');
  program.code = code.data();
  if (!client().Take(client().api().PJRT_Executable_OptimizedProgram(&args), action).ok()) {
    return std::nullopt;
  }
  const std::string_view format(program.format, program.format_size);
  if (format == "hlo") return ArgumentsOfHloModule(code);
  if (format == "hlo_with_config") return ArgumentsOfHloModuleWithConfig(code);
  return std::nullopt;
}

StatusOr<MemoryStatistics> Executable::Memory() const {
  PLIMSOLL_PJRT_ARGS(args, PJRT_Executable_GetCompiledMemoryStats);
  args.executable = executable_.get();
  RETURN_IF_ERROR(client().Take(client().api().PJRT_Executable_GetCompiledMemoryStats(&args),
                                "tell the program's memory statistics"));
  return MemoryStatistics{
      .generated_code = args.generated_code_size_in_bytes,
      .argument = args.argument_size_in_bytes,
      .output = args.output_size_in_bytes,
      .alias = args.alias_size_in_bytes,
      .temporary = args.temp_size_in_bytes,
      .peak = args.peak_memory_in_bytes,
      .host_generated_code = args.host_generated_code_size_in_bytes,
      .host_argument = args.host_argument_size_in_bytes,
      .host_output = args.host_output_size_in_bytes,
      .host_alias = args.host_alias_size_in_bytes,
      .host_temporary = args.host_temp_size_in_bytes,
  };
}

// XLA itself compares no more than the sizes in bytes, and would read one type's bits as another's.
Status Executable::CheckTypes(std::span<const Buffer* const> arguments) {
  if (!Arguments().has_value()) return OkStatus();
  const std::span<const ProgramArgument> expected = *arguments_;
  const auto fits = [](const ProgramArgument& wanted, const Buffer* argument) {
    return wanted.type == argument->type();
  };
  const auto [wanted, argument] =
      std::mismatch(expected.begin(), expected.end(), arguments.begin(), arguments.end(), fits);
  const bool has_wanted = wanted != expected.end();
  const bool has_argument = argument != arguments.end();
  if (!has_wanted && !has_argument) return OkStatus();
  std::string problem = StrCat("program ", name_, ": ");
  if (expected.size() != arguments.size()) {
    problem +=
        StrCat("expected ", expected.size(), expected.size() == 1 ? " argument" : " arguments",
               ", found ", arguments.size(), "; ");
  }
  problem += StrCat("argument ", wanted - expected.begin(), ": expected ",
                    has_wanted ? wanted->type.ToString() : "nothing", ", found ",
                    has_argument ? (*argument)->type().ToString() : "nothing");
  return Status(ErrorCode::kWrongInputs, problem);
}

Status Executable::CheckArguments(std::span<const Buffer* const> arguments) {
  RETURN_IF_ERROR(CheckTypes(arguments));
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments_.has_value() && !(*arguments_)[i].is_row_major) {
      return Status(
          ErrorCode::kNotUnderstood,
          StrCat("program ", name_, ": argument ", i,
                 ": expected an argument in row-major order, found that the program wants "
                 "another order of its dimensions in memory"));
    }
    if (arguments[i]->IsDonated()) {
      return Status(ErrorCode::kWrongInputs,
                    StrCat("program ", name_, ": argument ", i,
                           ": expected an array with values, found one that an earlier execution "
                           "has taken for its results"));
    }
  }
  return OkStatus();
}

StatusOr<std::vector<Buffer>> Executable::Execute(std::span<const Buffer* const> arguments) {
  if (device_count_ != 1) {
    return Status(ErrorCode::kBadArgument,
                  StrCat("program ", name_, ": expected a program for one device, found one for ",
                         device_count_));
  }
  RETURN_IF_ERROR(CheckArguments(arguments));

  std::vector<PJRT_Buffer*> inputs;
  for (const Buffer* argument : arguments) inputs.push_back(argument->buffer_.get());
  PJRT_Buffer* const* const argument_lists[] = {inputs.data()};
  std::vector<PJRT_Buffer*> outputs(result_count_);
  PJRT_Buffer** const output_lists[] = {outputs.data()};
  PJRT_Event* completed[] = {nullptr};
  PJRT_ExecuteOptions options{};
  options.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE;

  PLIMSOLL_PJRT_ARGS(args, PJRT_LoadedExecutable_Execute);
  args.executable = loaded_.get();
  args.options = &options;
  args.argument_lists = argument_lists;
  args.num_devices = 1;
  args.num_args = inputs.size();
  args.output_lists = output_lists;
  args.device_complete_events = completed;
  const std::string action = StrCat("execute the program ", name_);
  RETURN_IF_ERROR(client().Take(client().api().PJRT_LoadedExecutable_Execute(&args), action));

  // All are owned before the first failure can return.
  std::vector<PjrtPointer<PJRT_Buffer>> owned;
  owned.reserve(outputs.size());
  for (PJRT_Buffer* output : outputs)
    owned.emplace_back(output, PjrtDeleter(loaded_.get_deleter()));
  RETURN_IF_ERROR(client().plugin->Await(completed[0], action));
  std::vector<Buffer> results;
  for (PjrtPointer<PJRT_Buffer>& output : owned) {
    ASSIGN_OR_RETURN(Buffer buffer, Buffer::Wrap(std::move(output)));
    results.push_back(std::move(buffer));
  }
  return results;
}

// Engines.

namespace {

// Options in PJRT's form, which points into `options`.
std::vector<PJRT_NamedValue> ToNamedValues(std::span<const Option> options) {
  std::vector<PJRT_NamedValue> named_values;
  for (const Option& option : options) {
    PJRT_NamedValue named_value{};
    named_value.struct_size = PJRT_NamedValue_STRUCT_SIZE;
    named_value.name = option.name.data();
    named_value.name_size = option.name.size();
    named_value.value_size = 1;
    if (const auto* text = std::get_if<std::string>(&option.value)) {
      named_value.type = PJRT_NamedValue_kString;
      named_value.string_value = text->data();
      named_value.value_size = text->size();
    } else if (const auto* flag = std::get_if<bool>(&option.value)) {
      named_value.type = PJRT_NamedValue_kBool;
      named_value.bool_value = *flag;
    } else if (const auto* integer = std::get_if<int64_t>(&option.value)) {
      named_value.type = PJRT_NamedValue_kInt64;
      named_value.int64_value = *integer;
    } else if (const auto* number = std::get_if<double>(&option.value)) {
      named_value.type = PJRT_NamedValue_kFloat;
      named_value.float_value = static_cast<float>(*number);
    } else if (const auto* list = std::get_if<std::vector<int64_t>>(&option.value)) {
      named_value.type = PJRT_NamedValue_kInt64List;
      named_value.int64_array_value = list->data();
      named_value.value_size = list->size();
    }
    named_values.push_back(named_value);
  }
  return named_values;
}

}  // namespace

StatusOr<Engine> Engine::Create(const EngineOptions& options) {
  ASSIGN_OR_RETURN(std::shared_ptr<const Plugin> plugin,
                   Plugin::Load(options.plugin_path, options.verbose));
  const std::vector<PJRT_NamedValue> named_values = ToNamedValues(options.client_options);
  PLIMSOLL_PJRT_ARGS(args, PJRT_Client_Create);
  args.create_options = named_values.data();
  args.num_options = named_values.size();
  const Status created = plugin->Take(plugin->api().PJRT_Client_Create(&args), "create a client");
  if (!created.ok()) {
    return Status(ErrorCode::kBadPlugin,
                  StrCat("PJRT plugin ", plugin->path(), ": ", created.message()));
  }
  auto client = std::make_shared<PjrtClient>(std::move(plugin));
  client->client = args.client;

  PLIMSOLL_PJRT_ARGS(devices, PJRT_Client_AddressableDevices);
  devices.client = client->client;
  RETURN_IF_ERROR(
      client->Take(client->api().PJRT_Client_AddressableDevices(&devices), "list its devices"));
  if (devices.num_addressable_devices == 0) {
    return Status(ErrorCode::kBadPlugin, StrCat("PJRT plugin ", client->plugin->path(),
                                                ": expected a device, found none"));
  }
  client->device = devices.addressable_devices[0];

  Engine engine(std::move(client));
  RETURN_IF_ERROR(engine.ReadProperties());
  return engine;
}

Status Engine::ReadProperties() {
  PLIMSOLL_PJRT_ARGS(name, PJRT_Client_PlatformName);
  name.client = client_->client;
  RETURN_IF_ERROR(
      client_->Take(client_->api().PJRT_Client_PlatformName(&name), "tell its platform"));
  platform_name_.assign(name.platform_name, name.platform_name_size);
  PLIMSOLL_PJRT_ARGS(version, PJRT_Client_PlatformVersion);
  version.client = client_->client;
  RETURN_IF_ERROR(
      client_->Take(client_->api().PJRT_Client_PlatformVersion(&version), "tell its version"));
  platform_version_.assign(version.platform_version, version.platform_version_size);
  api_version_ = client_->plugin->ApiVersion();
  return OkStatus();
}

StatusOr<Executable> Engine::Compile(std::string_view program,
                                     const CompileOptions& options) const {
  ASSIGN_OR_RETURN(const std::string serialized_options, Serialize(options));
  const std::string_view format = "mlir";
  PJRT_Program code{};
  code.struct_size = PJRT_Program_STRUCT_SIZE;
  // The field is for both directions; here it is only read.
  code.code = const_cast<char*>(program.data());
  code.code_size = program.size();
  code.format = format.data();
  code.format_size = format.size();

  PLIMSOLL_PJRT_ARGS(args, PJRT_Client_Compile);
  args.client = client_->client;
  args.program = &code;
  args.compile_options = serialized_options.data();
  args.compile_options_size = serialized_options.size();
  RETURN_IF_ERROR(client_->Take(client_->api().PJRT_Client_Compile(&args), "compile the program"));
  PjrtPointer<PJRT_LoadedExecutable> loaded(args.executable, PjrtDeleter{client_});

  PLIMSOLL_PJRT_ARGS(get, PJRT_LoadedExecutable_GetExecutable);
  get.loaded_executable = loaded.get();
  RETURN_IF_ERROR(client_->Take(client_->api().PJRT_LoadedExecutable_GetExecutable(&get),
                                "describe the program"));
  Executable executable(std::move(loaded),
                        PjrtPointer<PJRT_Executable>(get.executable, PjrtDeleter{client_}));
  RETURN_IF_ERROR(executable.ReadProperties());
  return executable;
}

StatusOr<Buffer> Engine::ToDevice(const ArrayType& type, std::span<const std::byte> data,
                                  HostMemory memory) const {
  const std::optional<size_t> host_bytes = type.HostBytes();
  if (!host_bytes.has_value()) {
    return Status(ErrorCode::kWrongInputs,
                  StrCat(type.ToString(), ": expected a shape whose size in bytes can be counted"));
  }
  if (data.size() != *host_bytes) {
    return Status(ErrorCode::kWrongInputs, StrCat(type.ToString(), ": expected ", *host_bytes,
                                                  " bytes, found ", data.size()));
  }
  const std::string action = StrCat("move ", type.ToString(), " to the device");
  PLIMSOLL_PJRT_ARGS(args, PJRT_Client_BufferFromHostBuffer);
  args.client = client_->client;
  args.data = data.empty() ? &kNoBytes : data.data();
  args.type = static_cast<PJRT_Buffer_Type>(Info(type.element_type).pjrt_number);
  args.dims = type.dimensions.data();
  args.num_dims = type.dimensions.size();
  args.host_buffer_semantics = memory == HostMemory::kBorrowed
                                   ? PJRT_HostBufferSemantics_kImmutableZeroCopy
                                   : PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes;
  args.device = client_->device;
  RETURN_IF_ERROR(client_->Take(client_->api().PJRT_Client_BufferFromHostBuffer(&args), action));
  Buffer buffer(PjrtPointer<PJRT_Buffer>(args.buffer, PjrtDeleter{client_}), type, *host_bytes);
  if (memory == HostMemory::kBorrowed) {
    buffer.done_with_host_memory_ =
        PjrtPointer<PJRT_Event>(args.done_with_host_buffer, PjrtDeleter{client_});
  } else {
    RETURN_IF_ERROR(client_->plugin->Await(args.done_with_host_buffer, action));
  }
  return buffer;
}

}  // namespace plimsoll
