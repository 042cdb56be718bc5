#include "stablehlo/byte_cursor.h"

#include <cstring>

#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

namespace plimsoll {
namespace {

// MLIR fills gaps with this byte.
constexpr char kPadding = static_cast<char>(0xCB);

}  // namespace

Status ByteCursor::Error(std::string_view message, ErrorCode code) const {
  return Status(code, StrCat(name_, ": at byte ", offset(), ": ", message));
}

StatusOr<uint8_t> ByteCursor::TakeByte() {
  if (AtEnd()) return Error("the input ends here, expected one more byte");
  return static_cast<uint8_t>(bytes_[position_++]);
}

StatusOr<uint64_t> ByteCursor::TakeNumber() {
  if (AtEnd()) return Error("the input ends here, expected a number");
  const auto first = static_cast<uint8_t>(bytes_[position_]);
  if ((first & 1) != 0) {
    ++position_;
    return first >> 1;
  }
  const size_t extra = first == 0 ? 8 : llvm::countr_zero(first);
  if (remaining() < extra + 1) return Error("the input ends inside a number");
  uint64_t value = 0;
  if (first == 0) {
    std::memcpy(&value, bytes_.data() + position_ + 1, 8);
  } else {
    std::memcpy(&value, bytes_.data() + position_, extra + 1);
    value >>= extra + 1;
  }
  position_ += extra + 1;
  return value;
}

StatusOr<int64_t> ByteCursor::TakeSigned() {
  ASSIGN_OR_RETURN(const uint64_t value, TakeNumber());
  return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

StatusOr<std::pair<uint64_t, bool>> ByteCursor::TakeNumberWithFlag() {
  ASSIGN_OR_RETURN(const uint64_t value, TakeNumber());
  return std::pair<uint64_t, bool>(value >> 1, (value & 1) != 0);
}

StatusOr<size_t> ByteCursor::TakeCount() {
  ASSIGN_OR_RETURN(const uint64_t count, TakeNumber());
  if (count > remaining()) {
    return Error(
        StrCat("a list claims ", count, " entries, but only ", remaining(), " bytes are left"));
  }
  return count;
}

StatusOr<llvm::ArrayRef<char>> ByteCursor::TakeBytes(uint64_t count) {
  if (count > remaining()) {
    return Error(StrCat("expected ", count, " more bytes, but only ", remaining(), " are left"));
  }
  const llvm::ArrayRef<char> taken = bytes_.slice(position_, count);
  position_ += count;
  return taken;
}

StatusOr<ByteCursor> ByteCursor::TakePart(uint64_t count) {
  const size_t start = offset();
  ASSIGN_OR_RETURN(const llvm::ArrayRef<char> bytes, TakeBytes(count));
  return ByteCursor(bytes, start, name_);
}

StatusOr<std::string_view> ByteCursor::TakeZeroTerminated() {
  const std::string_view rest(bytes_.data() + position_, remaining());
  const size_t end = rest.find('\0');
  if (end == std::string_view::npos) return Error("a string has no end");
  position_ += end + 1;
  return rest.substr(0, end);
}

Status ByteCursor::AlignTo(uint64_t alignment) {
  if (!llvm::isPowerOf2_64(alignment)) return Error("an alignment is not a power of two");
  while (offset() % alignment != 0) {
    ASSIGN_OR_RETURN(const uint8_t padding, TakeByte());
    if (static_cast<char>(padding) != kPadding) return Error("padding has an unexpected value");
  }
  return OkStatus();
}

}  // namespace plimsoll
