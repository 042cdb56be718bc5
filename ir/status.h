// Errors as values: a Status says that something worked or which error (with code and text) it met.
//
// Shaped like Abseil's Status, which cannot be used here: Debian's static Abseil is not position
// independent, so it cannot be linked into a library that hides its symbols (docs/decisions.md).

#ifndef PLIMSOLL_IR_STATUS_H_
#define PLIMSOLL_IR_STATUS_H_

#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace plimsoll {

enum class ErrorCode : uint8_t {
  kOk = 0,
#define PLIMSOLL_ERROR(identifier, code, is_user_mistake, summary) k##identifier,
#include "ir/errors.def"
#undef PLIMSOLL_ERROR
};

// The code as users see it, such as "PL101"; "" for kOk.
std::string_view ErrorCodeName(ErrorCode code);

// True if the user can mend it (exit status 2), false if it is a failure of ours or of the engine
// (exit status 1).
bool IsUserMistake(ErrorCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(ErrorCode code, std::string message)
      : error_(std::make_unique<Error>(Error{code, std::move(message)})) {}
  Status(const Status& other)
      : error_(other.error_ ? std::make_unique<Error>(*other.error_) : nullptr) {}
  Status(Status&&) = default;
  Status& operator=(const Status& other) {
    error_ = other.error_ ? std::make_unique<Error>(*other.error_) : nullptr;
    return *this;
  }
  Status& operator=(Status&&) = default;
  ~Status() = default;

  bool ok() const { return error_ == nullptr; }
  ErrorCode code() const { return error_ ? error_->code : ErrorCode::kOk; }
  std::string_view message() const {
    return error_ ? std::string_view(error_->message) : std::string_view();
  }
  // "PL101: broken bytecode at byte 17: ..."; "ok" if there is no error.
  std::string ToString() const;

 private:
  struct Error {
    ErrorCode code;
    std::string message;
  };
  std::unique_ptr<Error> error_;  // Null when ok, so that success costs one pointer.
};

inline Status OkStatus() { return {}; }

template <typename T>
class [[nodiscard]] StatusOr {
 public:
  StatusOr(Status status) : status_(std::move(status)) { assert(!status_.ok()); }
  StatusOr(T value) : value_(std::move(value)) {}

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return *std::move(value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

// Appends all arguments (strings, characters, numbers) to one string.
template <typename... Parts>
std::string StrCat(const Parts&... parts) {
  std::string out;
  const auto append = [&out](const auto& part) {
    if constexpr (std::is_same_v<std::decay_t<decltype(part)>, char>) {
      out.push_back(part);
    } else if constexpr (std::is_arithmetic_v<std::decay_t<decltype(part)>>) {
      out += std::to_string(part);
    } else {
      out += std::string_view(part);
    }
  };
  (append(parts), ...);
  return out;
}

}  // namespace plimsoll

#define PLIMSOLL_CONCAT_INNER(a, b) a##b
#define PLIMSOLL_CONCAT(a, b) PLIMSOLL_CONCAT_INNER(a, b)

// Returns the status from the current function if it is an error.
#define RETURN_IF_ERROR(expression)                                 \
  do {                                                              \
    if (::plimsoll::Status status_ = (expression); !status_.ok()) { \
      return status_;                                               \
    }                                                               \
  } while (false)

// Assigns the value of a StatusOr, or returns its status from the current function.
#define ASSIGN_OR_RETURN(target, expression) \
  ASSIGN_OR_RETURN_IMPL(PLIMSOLL_CONCAT(status_or_, __LINE__), target, expression)
#define ASSIGN_OR_RETURN_IMPL(status_or, target, expression) \
  auto status_or = (expression);                             \
  if (!status_or.ok()) return status_or.status();            \
  target = *std::move(status_or)

#endif  // PLIMSOLL_IR_STATUS_H_
