// A position in bytecode, with MLIR's encodings of numbers and strings. Nothing is ever read past
// the end.

#ifndef PLIMSOLL_STABLEHLO_BYTE_CURSOR_H_
#define PLIMSOLL_STABLEHLO_BYTE_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "ir/status.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

class ByteCursor {
 public:
  ByteCursor() = default;
  // `name` stands for the whole input in error messages, `start` is the offset of `bytes` in it.
  ByteCursor(llvm::ArrayRef<char> bytes, size_t start, std::string_view name)
      : bytes_(bytes), start_(start), name_(name) {}

  // The offset in the whole input.
  size_t offset() const { return start_ + position_; }
  size_t remaining() const { return bytes_.size() - position_; }
  bool AtEnd() const { return remaining() == 0; }
  std::string_view name() const { return name_; }

  StatusOr<uint8_t> TakeByte();
  // MLIR's prefix encoding: the number of low zero bits of the first byte is the number of bytes
  // that follow.
  StatusOr<uint64_t> TakeNumber();
  StatusOr<int64_t> TakeSigned();
  // A number whose lowest bit is a flag of its own.
  StatusOr<std::pair<uint64_t, bool>> TakeNumberWithFlag();
  // A number of things of which each takes at least one byte of what follows: it bounds what a list
  // can claim.
  StatusOr<size_t> TakeCount();
  StatusOr<llvm::ArrayRef<char>> TakeBytes(uint64_t count);
  // A part of what follows, as a cursor of its own.
  StatusOr<ByteCursor> TakePart(uint64_t count);
  StatusOr<std::string_view> TakeZeroTerminated();
  // Skips padding up to a multiple of `alignment`, counted from the input's start.
  Status AlignTo(uint64_t alignment);

  Status Error(std::string_view message, ErrorCode code = ErrorCode::kBrokenBytecode) const;

 private:
  llvm::ArrayRef<char> bytes_;
  size_t position_ = 0;
  size_t start_ = 0;
  std::string_view name_;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_STABLEHLO_BYTE_CURSOR_H_
