// What stands behind the C interface's errors and strings, for the rooms that implement a part of
// that interface.

#ifndef PLIMSOLL_COMPILE_C_API_INTERNAL_H_
#define PLIMSOLL_COMPILE_C_API_INTERNAL_H_

#include <string>
#include <utility>

#include "compile/c_api.h"
#include "ir/status.h"

struct PlimsollError {
  plimsoll::Status status;
  // Copies that end in a zero byte, because callers in C read them as `const char*`.
  std::string code;
  std::string message;
};

struct PlimsollString {
  std::string value;
};

namespace plimsoll {

// The status as the C interface returns it: null if it is ok, else an error that the caller frees.
inline PlimsollError* MakeError(Status status) {
  if (status.ok()) return nullptr;
  std::string code(ErrorCodeName(status.code()));
  std::string message(status.message());
  return new PlimsollError{std::move(status), std::move(code), std::move(message)};
}

}  // namespace plimsoll

#endif  // PLIMSOLL_COMPILE_C_API_INTERNAL_H_
