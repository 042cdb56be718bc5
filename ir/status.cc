#include "ir/status.h"

namespace plimsoll {
namespace {

struct CodeInfo {
  std::string_view name;
  bool is_user_mistake;
};

constexpr CodeInfo kCodes[] = {
    {"", false},
#define PLIMSOLL_ERROR(identifier, code, is_user_mistake, summary) {code, is_user_mistake},
#include "ir/errors.def"
#undef PLIMSOLL_ERROR
};

}  // namespace

std::string_view ErrorCodeName(ErrorCode code) { return kCodes[static_cast<size_t>(code)].name; }

bool IsUserMistake(ErrorCode code) { return kCodes[static_cast<size_t>(code)].is_user_mistake; }

std::string Status::ToString() const {
  return ok() ? "ok" : StrCat(ErrorCodeName(code()), ": ", message());
}

}  // namespace plimsoll
