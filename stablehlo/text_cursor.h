// A position in a text, with the small steps that every text reader takes.

#ifndef PLIMSOLL_STABLEHLO_TEXT_CURSOR_H_
#define PLIMSOLL_STABLEHLO_TEXT_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ir/status.h"

namespace plimsoll {

// An integer or decimal number as it stands in the text.
struct NumberToken {
  std::string_view text;  // With its sign.
  bool is_negative = false;
  bool is_hexadecimal = false;
  bool is_decimal = false;  // Has a point or an exponent.
};

class TextCursor {
 public:
  // `name` stands for the text in error messages.
  TextCursor(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  std::string_view text() const { return text_; }
  std::string_view name() const { return name_; }
  size_t position() const { return position_; }
  void set_position(size_t position) { position_ = position; }
  std::string_view rest() const { return text_.substr(position_); }

  // Skips white space and comments.
  void SkipSpace();
  bool AtEnd() {
    SkipSpace();
    return position_ >= text_.size();
  }
  // The next character after white space, '\0' at the end.
  char Peek() {
    SkipSpace();
    return PeekHere();
  }
  // The next character, white space or not.
  char PeekHere() const { return position_ < text_.size() ? text_[position_] : '\0'; }

  // Takes `token` if it comes next. Letters are not checked for a word's end: see ConsumeWord.
  bool Consume(std::string_view token);
  bool ConsumeHere(std::string_view token);
  // Takes `word` if it comes next and ends there.
  bool ConsumeWord(std::string_view word);
  Status Expect(std::string_view token);

  // [a-zA-Z_][a-zA-Z0-9_$.]*, or an empty text.
  std::string_view TakeIdentifier();
  // Letters, digits and `_$.-` right here: the part of a name behind `%`, `#`, `!`, `^` or `@`.
  std::string_view TakeSuffix();
  // A quoted string with its escapes resolved.
  StatusOr<std::string> TakeString();
  // A quoted string, as it stands between the quotes.
  StatusOr<std::string_view> TakeRawString();
  StatusOr<NumberToken> TakeNumber();
  StatusOr<uint64_t> TakeUnsigned();
  StatusOr<int64_t> TakeInteger();

  // An error at the current position: "model.mlir:3:14: expected `>`".
  Status Error(std::string_view message) const { return ErrorAt(position_, message); }
  Status ErrorAt(size_t position, std::string_view message,
                 ErrorCode code = ErrorCode::kBrokenText) const;
  // "expected <what>, found <what stands here>".
  Status Unexpected(std::string_view expected);

 private:
  template <typename Number>
  StatusOr<Number> TakeNumber();

  std::string_view text_;
  std::string_view name_;
  size_t position_ = 0;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_STABLEHLO_TEXT_CURSOR_H_
