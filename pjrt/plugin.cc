#include "pjrt/plugin.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include "pjrt_c_api.h"

namespace plimsoll {
namespace {

// XLA's logging reads this variable when the library is loaded; from level 3 on only fatal messages
// are printed.
constexpr char kLogLevelVariable[] = "TF_CPP_MIN_LOG_LEVEL";
constexpr char kOnlyFatalMessages[] = "3";

Status BadPlugin(const std::string& path, std::string_view problem) {
  return Status(ErrorCode::kBadPlugin, StrCat("PJRT plugin ", path, ": ", problem));
}

// Sets the log level while the plugin is being loaded, unless the user has set it.
class QuietStart {
 public:
  explicit QuietStart(bool verbose)
      : active_(!verbose && std::getenv(kLogLevelVariable) == nullptr) {
    if (active_) setenv(kLogLevelVariable, kOnlyFatalMessages, /*replace=*/1);
  }
  ~QuietStart() {
    if (active_) unsetenv(kLogLevelVariable);
  }
  QuietStart(const QuietStart&) = delete;
  QuietStart& operator=(const QuietStart&) = delete;

 private:
  const bool active_;
};

Status CheckFile(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  switch (status.type()) {
    case std::filesystem::file_type::not_found:
      return BadPlugin(path, "expected a shared library, found no such file");
    case std::filesystem::file_type::directory:
      return BadPlugin(path, "expected a shared library, found a directory");
    case std::filesystem::file_type::none:
      return BadPlugin(path, StrCat("cannot be looked at: ", error.message()));
    default:
      return OkStatus();
  }
}

StatusOr<const PJRT_Api*> Open(const std::string& path, bool verbose) {
  RETURN_IF_ERROR(CheckFile(path));
  // With a directory in front the loader does not search its own paths for the name.
  const std::string absolute_path = std::filesystem::absolute(path).string();
  void* library = nullptr;
  {
    const QuietStart quiet(verbose);
    // XLA's threads and static objects do not survive unloading, so the library is never closed.
    library = dlopen(absolute_path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  }
  if (library == nullptr) {
    std::string_view problem = dlerror();
    if (problem.starts_with(absolute_path + ": ")) problem.remove_prefix(absolute_path.size() + 2);
    return BadPlugin(path, StrCat("cannot be loaded as a shared library: ", problem));
  }
  using GetPjrtApi = const PJRT_Api*();
  auto* get_api = reinterpret_cast<GetPjrtApi*>(dlsym(library, "GetPjrtApi"));
  if (get_api == nullptr) {
    return BadPlugin(path, "is a shared library but no PJRT plugin: it has no function GetPjrtApi");
  }
  const PJRT_Api* api = get_api();
  if (api == nullptr) return BadPlugin(path, "its function GetPjrtApi returned nothing");
  return api;
}

// The functions this client calls. A plugin that is older than the header may end before some of
// them.
#define PLIMSOLL_REQUIRED_FUNCTIONS(X)        \
  X(PJRT_Error_Destroy)                       \
  X(PJRT_Error_Message)                       \
  X(PJRT_Error_GetCode)                       \
  X(PJRT_Plugin_Initialize)                   \
  X(PJRT_Event_Destroy)                       \
  X(PJRT_Event_Await)                         \
  X(PJRT_Client_Create)                       \
  X(PJRT_Client_Destroy)                      \
  X(PJRT_Client_PlatformName)                 \
  X(PJRT_Client_PlatformVersion)              \
  X(PJRT_Client_AddressableDevices)           \
  X(PJRT_Client_Compile)                      \
  X(PJRT_Client_BufferFromHostBuffer)         \
  X(PJRT_Executable_Destroy)                  \
  X(PJRT_Executable_Name)                     \
  X(PJRT_Executable_NumOutputs)               \
  X(PJRT_Executable_OptimizedProgram)         \
  X(PJRT_Executable_GetCompiledMemoryStats)   \
  X(PJRT_LoadedExecutable_Destroy)            \
  X(PJRT_LoadedExecutable_GetExecutable)      \
  X(PJRT_LoadedExecutable_AddressableDevices) \
  X(PJRT_LoadedExecutable_Execute)            \
  X(PJRT_Buffer_Destroy)                      \
  X(PJRT_Buffer_ElementType)                  \
  X(PJRT_Buffer_Dimensions)                   \
  X(PJRT_Buffer_GetMemoryLayout)              \
  X(PJRT_Buffer_IsDeleted)                    \
  X(PJRT_Buffer_ToHostBuffer)

Status CheckInterface(const std::string& path, const PJRT_Api& api) {
  // Only what every version has may be read before the version is known.
  if (api.struct_size < offsetof(PJRT_Api, pjrt_api_version) + sizeof(api.pjrt_api_version)) {
    return BadPlugin(path, "its table of functions is too small to hold a version");
  }
  const PJRT_Api_Version& version = api.pjrt_api_version;
  if (version.major_version != PJRT_API_MAJOR) {
    return BadPlugin(
        path, StrCat("expected major version ", PJRT_API_MAJOR, " of the PJRT interface, found ",
                     version.major_version, ".", version.minor_version));
  }
#define PLIMSOLL_CHECK_FUNCTION(function)                                                         \
  if (api.struct_size < offsetof(PJRT_Api, function) + sizeof(api.function) ||                    \
      api.function == nullptr) {                                                                  \
    return BadPlugin(path,                                                                        \
                     StrCat("speaks version ", version.major_version, ".", version.minor_version, \
                            " of the PJRT interface, which has "                                  \
                            "no function " #function));                                           \
  }
  PLIMSOLL_REQUIRED_FUNCTIONS(PLIMSOLL_CHECK_FUNCTION)
#undef PLIMSOLL_CHECK_FUNCTION
  return OkStatus();
}

std::string_view ErrorCodeText(PJRT_Error_Code code) {
  switch (code) {
    case PJRT_Error_Code_CANCELLED:
      return "cancelled";
    case PJRT_Error_Code_INVALID_ARGUMENT:
      return "invalid argument";
    case PJRT_Error_Code_DEADLINE_EXCEEDED:
      return "deadline exceeded";
    case PJRT_Error_Code_NOT_FOUND:
      return "not found";
    case PJRT_Error_Code_ALREADY_EXISTS:
      return "already exists";
    case PJRT_Error_Code_PERMISSION_DENIED:
      return "permission denied";
    case PJRT_Error_Code_RESOURCE_EXHAUSTED:
      return "resource exhausted";
    case PJRT_Error_Code_FAILED_PRECONDITION:
      return "failed precondition";
    case PJRT_Error_Code_ABORTED:
      return "aborted";
    case PJRT_Error_Code_OUT_OF_RANGE:
      return "out of range";
    case PJRT_Error_Code_UNIMPLEMENTED:
      return "not implemented";
    case PJRT_Error_Code_INTERNAL:
      return "internal error";
    case PJRT_Error_Code_UNAVAILABLE:
      return "unavailable";
    case PJRT_Error_Code_DATA_LOSS:
      return "data loss";
    case PJRT_Error_Code_UNAUTHENTICATED:
      return "unauthenticated";
    default:
      return "unknown error";
  }
}

// Errors are one line of text that a person can read, while MLIR's diagnostics have many lines and
// may hold the program.
std::string ToOneLine(std::string_view text) {
  constexpr size_t kMostCharacters = 2000;
  std::string line;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) line += StrCat(line.empty() ? "" : "; ", text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (line.size() <= kMostCharacters) return line;
  return StrCat(line.substr(0, kMostCharacters), "... (", line.size() - kMostCharacters,
                " more characters)");
}

}  // namespace

StatusOr<std::shared_ptr<const Plugin>> Plugin::Load(const std::string& path, bool verbose) {
  // Guards the environment and the record of what was initialized.
  static std::mutex* const mutex = new std::mutex;
  static std::set<const PJRT_Api*>* const initialized = new std::set<const PJRT_Api*>;
  const std::lock_guard lock(*mutex);

  ASSIGN_OR_RETURN(const PJRT_Api* api, Open(path, verbose));
  RETURN_IF_ERROR(CheckInterface(path, *api));
  std::shared_ptr<const Plugin> plugin(new Plugin(path, api));
  if (!initialized->contains(api)) {
    PLIMSOLL_PJRT_ARGS(args, PJRT_Plugin_Initialize);
    const Status status = plugin->Take(api->PJRT_Plugin_Initialize(&args), "initialize itself");
    if (!status.ok()) return BadPlugin(path, status.message());
    initialized->insert(api);
  }
  return plugin;
}

std::string Plugin::ApiVersion() const {
  return StrCat(api_->pjrt_api_version.major_version, '.', api_->pjrt_api_version.minor_version);
}

Status Plugin::Take(PJRT_Error* error, std::string_view action) const {
  if (error == nullptr) return OkStatus();
  PLIMSOLL_PJRT_ARGS(message, PJRT_Error_Message);
  message.error = error;
  api_->PJRT_Error_Message(&message);
  PLIMSOLL_PJRT_ARGS(code, PJRT_Error_GetCode);
  code.error = error;
  code.code = PJRT_Error_Code_UNKNOWN;
  // An error about the error's code would say nothing more.
  if (PJRT_Error* second_error = api_->PJRT_Error_GetCode(&code)) {
    PLIMSOLL_PJRT_ARGS(destroy, PJRT_Error_Destroy);
    destroy.error = second_error;
    api_->PJRT_Error_Destroy(&destroy);
  }
  Status status(ErrorCode::kEngineFailure,
                StrCat("the engine could not ", action, " (", ErrorCodeText(code.code),
                       "): ", ToOneLine(std::string_view(message.message, message.message_size))));
  PLIMSOLL_PJRT_ARGS(destroy, PJRT_Error_Destroy);
  destroy.error = error;
  api_->PJRT_Error_Destroy(&destroy);
  return status;
}

Status Plugin::Await(PJRT_Event* event, std::string_view action) const {
  if (event == nullptr) return OkStatus();
  PLIMSOLL_PJRT_ARGS(await, PJRT_Event_Await);
  await.event = event;
  Status status = Take(api_->PJRT_Event_Await(&await), action);
  PLIMSOLL_PJRT_ARGS(destroy, PJRT_Event_Destroy);
  destroy.event = event;
  Status freed = Take(api_->PJRT_Event_Destroy(&destroy), "free an event");
  return status.ok() ? freed : status;
}

}  // namespace plimsoll
