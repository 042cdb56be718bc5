// A PJRT plugin: loads the shared library, checks that it can be used, and makes its errors into
// statuses.

#ifndef PLIMSOLL_PJRT_PLUGIN_H_
#define PLIMSOLL_PJRT_PLUGIN_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "ir/status.h"

struct PJRT_Api;
struct PJRT_Error;
struct PJRT_Event;

// Declares `args`, the argument structure of a PJRT function, with its size filled in and all else
// zero.
#define PLIMSOLL_PJRT_ARGS(args, function) \
  function##_Args args{};                  \
  args.struct_size = function##_Args_STRUCT_SIZE

namespace plimsoll {

class Plugin {
 public:
  // Loads the plugin in the file `path` and initializes it once in this process. Unless `verbose`,
  // the log messages that XLA's plugins print on standard error are turned off, except those of a
  // crash. A plugin stays loaded until the process ends, so for each plugin the first load decides
  // on this.
  static StatusOr<std::shared_ptr<const Plugin>> Load(const std::string& path, bool verbose);

  const PJRT_Api& api() const { return *api_; }
  const std::string& path() const { return path_; }
  // The version of PJRT's interface that the plugin speaks, such as "0.81".
  std::string ApiVersion() const;

  // Takes the error that a PJRT function returned, null being success. `action` says what was
  // tried: "compile the program".
  Status Take(PJRT_Error* error, std::string_view action) const;
  // Waits for the event, frees it, and returns how it ended.
  Status Await(PJRT_Event* event, std::string_view action) const;

 private:
  Plugin(std::string path, const PJRT_Api* api) : path_(std::move(path)), api_(api) {}

  std::string path_;
  const PJRT_Api* api_;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_PJRT_PLUGIN_H_
