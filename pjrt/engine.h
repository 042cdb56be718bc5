// A small PJRT client: an engine compiles programs, moves arrays to its device and back, and
// executes, on one device.
//
// Objects may be freed in any order: each keeps what it needs of the engine alive.

#ifndef PLIMSOLL_PJRT_ENGINE_H_
#define PLIMSOLL_PJRT_ENGINE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/status.h"
#include "pjrt/compile_options.h"
#include "pjrt/element_types.h"
#include "pjrt/options.h"
#include "pjrt/program_shape.h"

struct PJRT_Buffer;
struct PJRT_Event;
struct PJRT_Executable;
struct PJRT_LoadedExecutable;

namespace plimsoll {

// The plugin, its client and the device; defined where PJRT's header is known.
struct PjrtClient;

// Frees one of PJRT's objects, and keeps the client alive until then.
struct PjrtDeleter {
  std::shared_ptr<const PjrtClient> client;

  void operator()(PJRT_Buffer* buffer) const;
  void operator()(PJRT_Event* event) const;  // Waits for the event first.
  void operator()(PJRT_Executable* executable) const;
  void operator()(PJRT_LoadedExecutable* executable) const;
};
template <typename Object>
using PjrtPointer = std::unique_ptr<Object, PjrtDeleter>;

// An array on the device.
class Buffer {
 public:
  Buffer(Buffer&&) = default;
  Buffer& operator=(Buffer&&) = delete;
  ~Buffer() = default;

  const ArrayType& type() const { return type_; }
  // How many bytes ToHost writes.
  size_t host_bytes() const { return host_bytes_; }
  // True once an execution has taken the memory for a result. The values are gone then.
  bool IsDonated() const;
  // Writes the values, dense and in row-major order. `destination` has exactly host_bytes() bytes.
  Status ToHost(std::span<std::byte> destination) const;

 private:
  friend class Engine;
  friend class Executable;

  static StatusOr<Buffer> Wrap(PjrtPointer<PJRT_Buffer> buffer);
  Buffer(PjrtPointer<PJRT_Buffer> buffer, ArrayType type, size_t host_bytes)
      : buffer_(std::move(buffer)), type_(std::move(type)), host_bytes_(host_bytes) {}

  const PjrtClient& client() const { return *buffer_.get_deleter().client; }
  StatusOr<std::vector<int64_t>> MinorToMajor() const;
  Status ReadInDeviceOrder(std::span<std::byte> destination) const;

  // Ends when the engine no longer reads borrowed memory. It stands before the buffer, because it
  // is freed (and thereby waited for) after the buffer.
  PjrtPointer<PJRT_Event> done_with_host_memory_;
  PjrtPointer<PJRT_Buffer> buffer_;
  ArrayType type_;
  size_t host_bytes_;
};

// What XLA says a program needs, in bytes. On a CPU `peak` is not to be relied on: it leaves out
// the temporaries.
struct MemoryStatistics {
  int64_t generated_code = 0;
  int64_t argument = 0;
  int64_t output = 0;
  int64_t alias = 0;  // How much of the arguments' memory is used again for outputs.
  int64_t temporary = 0;
  int64_t peak = 0;
  // The same of the host's memory, for programs that keep a part of their data there.
  int64_t host_generated_code = 0;
  int64_t host_argument = 0;
  int64_t host_output = 0;
  int64_t host_alias = 0;
  int64_t host_temporary = 0;
};

class Executable {
 public:
  Executable(Executable&&) = default;
  Executable& operator=(Executable&&) = delete;
  ~Executable() = default;

  const std::string& name() const { return name_; }
  size_t result_count() const { return result_count_; }
  // What the program takes; nothing if the engine does not give its HLO back. The first call asks
  // the engine, which for a program with large constants takes time and memory.
  const std::optional<std::vector<ProgramArgument>>& Arguments();
  StatusOr<MemoryStatistics> Memory() const;
  // Runs the program and waits for its end. Buffers that the program takes for its results are
  // donated afterwards.
  StatusOr<std::vector<Buffer>> Execute(std::span<const Buffer* const> arguments);

 private:
  friend class Engine;

  Executable(PjrtPointer<PJRT_LoadedExecutable> loaded, PjrtPointer<PJRT_Executable> executable)
      : loaded_(std::move(loaded)), executable_(std::move(executable)) {}

  const PjrtClient& client() const { return *loaded_.get_deleter().client; }
  Status ReadProperties();
  std::optional<std::vector<ProgramArgument>> ReadArguments() const;
  Status CheckTypes(std::span<const Buffer* const> arguments);
  Status CheckArguments(std::span<const Buffer* const> arguments);

  PjrtPointer<PJRT_LoadedExecutable> loaded_;
  PjrtPointer<PJRT_Executable> executable_;
  std::string name_;
  size_t result_count_ = 0;
  size_t device_count_ = 0;
  bool asked_for_arguments_ = false;
  std::optional<std::vector<ProgramArgument>> arguments_;
};

struct EngineOptions {
  std::string plugin_path;
  // What the plugin's client takes, such as {"cpu_device_count", 1}.
  std::vector<Option> client_options;
  // False turns off the log messages of XLA's plugins (see Plugin::Load).
  bool verbose = false;
};

// Who owns the memory that a buffer is made from.
enum class HostMemory : uint8_t {
  kCopied,  // The values are copied, and the memory is the caller's again.
  // The engine may use the memory itself, so the caller keeps it alive and unchanged until the
  // buffer is freed. XLA:CPU does so if the address is a multiple of 64 bytes, and copies
  // otherwise.
  kBorrowed,
};

class Engine {
 public:
  static StatusOr<Engine> Create(const EngineOptions& options);

  const std::string& platform_name() const { return platform_name_; }
  const std::string& platform_version() const { return platform_version_; }
  // The version of PJRT's interface that the plugin speaks, such as "0.81".
  const std::string& api_version() const { return api_version_; }

  // `program` is StableHLO: text or bytecode.
  StatusOr<Executable> Compile(std::string_view program, const CompileOptions& options) const;

  // `data` holds the values, dense and in row-major order.
  StatusOr<Buffer> ToDevice(const ArrayType& type, std::span<const std::byte> data,
                            HostMemory memory) const;

 private:
  explicit Engine(std::shared_ptr<const PjrtClient> client) : client_(std::move(client)) {}

  Status ReadProperties();

  std::shared_ptr<const PjrtClient> client_;
  std::string platform_name_;
  std::string platform_version_;
  std::string api_version_;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_PJRT_ENGINE_H_
