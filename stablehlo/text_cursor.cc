#include "stablehlo/text_cursor.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "llvm/ADT/StringExtras.h"

namespace plimsoll {
namespace {

bool IsWordCharacter(char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.'; }

}  // namespace

void TextCursor::SkipSpace() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++position_;
    } else if (c == '/' && position_ + 1 < text_.size() && text_[position_ + 1] == '/') {
      const size_t end = text_.find('\n', position_);
      position_ = end == std::string_view::npos ? text_.size() : end;
    } else {
      return;
    }
  }
}

bool TextCursor::ConsumeHere(std::string_view token) {
  if (!rest().starts_with(token)) return false;
  position_ += token.size();
  return true;
}

bool TextCursor::Consume(std::string_view token) {
  SkipSpace();
  return ConsumeHere(token);
}

bool TextCursor::ConsumeWord(std::string_view word) {
  SkipSpace();
  const size_t end = position_ + word.size();
  if (!rest().starts_with(word)) return false;
  if (end < text_.size() && IsWordCharacter(text_[end])) return false;
  position_ = end;
  return true;
}

Status TextCursor::Expect(std::string_view token) {
  return Consume(token) ? OkStatus() : Unexpected(StrCat("`", token, "`"));
}

std::string_view TextCursor::TakeIdentifier() {
  SkipSpace();
  const char first = PeekHere();
  if (!llvm::isAlpha(first) && first != '_') return {};
  const size_t start = position_;
  while (position_ < text_.size() && IsWordCharacter(text_[position_])) ++position_;
  return text_.substr(start, position_ - start);
}

std::string_view TextCursor::TakeSuffix() {
  const size_t start = position_;
  while (position_ < text_.size() &&
         (IsWordCharacter(text_[position_]) || text_[position_] == '-')) {
    ++position_;
  }
  return text_.substr(start, position_ - start);
}

StatusOr<std::string_view> TextCursor::TakeRawString() {
  if (Peek() != '"') return Unexpected("a quoted string");
  const size_t start = position_ + 1;
  for (size_t end = start; end < text_.size(); ++end) {
    // Long constants are strings without escapes: let memchr do the walking.
    const size_t quote = text_.find('"', end);
    if (quote == std::string_view::npos) break;
    const size_t escape = text_.substr(end, quote - end).find('\\');
    if (escape == std::string_view::npos) {
      position_ = quote + 1;
      return text_.substr(start, quote - start);
    }
    end += escape + 1;
  }
  return ErrorAt(start - 1, "this string has no end");
}

StatusOr<std::string> TextCursor::TakeString() {
  const size_t start = position_;
  ASSIGN_OR_RETURN(const std::string_view raw, TakeRawString());
  std::string out;
  out.reserve(raw.size());
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\') {
      out += raw[i];
      continue;
    }
    const char next = i + 1 < raw.size() ? raw[i + 1] : '\0';
    if (next == '"' || next == '\\') {
      out += next;
      i += 1;
    } else if (next == 'n' || next == 't') {
      out += next == 'n' ? '\n' : '\t';
      i += 1;
    } else if (i + 2 < raw.size() && llvm::isHexDigit(next) && llvm::isHexDigit(raw[i + 2])) {
      out += static_cast<char>(llvm::hexDigitValue(next) * 16 + llvm::hexDigitValue(raw[i + 2]));
      i += 2;
    } else {
      return ErrorAt(start, "this string has an escape that is none of \\\\ \\\" \\n \\t \\XX");
    }
  }
  return out;
}

StatusOr<NumberToken> TextCursor::TakeNumber() {
  SkipSpace();
  const size_t start = position_;
  NumberToken token;
  if (PeekHere() == '-' || PeekHere() == '+') {
    token.is_negative = PeekHere() == '-';
    ++position_;
  }
  if (!llvm::isDigit(PeekHere())) {
    position_ = start;
    return Unexpected("a number");
  }
  if (PeekHere() == '0' && position_ + 2 < text_.size() && text_[position_ + 1] == 'x' &&
      llvm::isHexDigit(text_[position_ + 2])) {
    token.is_hexadecimal = true;
    position_ += 2;
    while (llvm::isHexDigit(PeekHere())) ++position_;
  } else {
    while (llvm::isDigit(PeekHere())) ++position_;
    if (PeekHere() == '.') {
      token.is_decimal = true;
      ++position_;
      while (llvm::isDigit(PeekHere())) ++position_;
      if (PeekHere() == 'e' || PeekHere() == 'E') {
        const size_t before_exponent = position_;
        ++position_;
        if (PeekHere() == '-' || PeekHere() == '+') ++position_;
        if (!llvm::isDigit(PeekHere())) position_ = before_exponent;
        while (llvm::isDigit(PeekHere())) ++position_;
      }
    }
  }
  token.text = text_.substr(start, position_ - start);
  return token;
}

template <typename Number>
StatusOr<Number> TextCursor::TakeNumber() {
  SkipSpace();
  Number value = 0;
  const char* begin = text_.data() + position_;
  const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
  if (error == std::errc::result_out_of_range) return Error("this number does not fit in 64 bits");
  if (error != std::errc()) return Unexpected("a number");
  position_ += end - begin;
  return value;
}

StatusOr<uint64_t> TextCursor::TakeUnsigned() { return TakeNumber<uint64_t>(); }
StatusOr<int64_t> TextCursor::TakeInteger() { return TakeNumber<int64_t>(); }

Status TextCursor::ErrorAt(size_t position, std::string_view message, ErrorCode code) const {
  const std::string_view before = text_.substr(0, position);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t line_start = before.rfind('\n');
  const size_t column = position - (line_start == std::string_view::npos ? 0 : line_start + 1) + 1;
  return Status(code, StrCat(name_, ":", line, ":", column, ": ", message));
}

Status TextCursor::Unexpected(std::string_view expected) {
  SkipSpace();
  if (position_ >= text_.size()) return Error(StrCat("expected ", expected, ", found the end"));
  std::string_view found = rest().substr(0, 24);
  found = found.substr(0, found.find_first_of(" \n\t,"));
  if (found.empty()) found = rest().substr(0, 1);
  return Error(StrCat("expected ", expected, ", found `", found, "`"));
}

}  // namespace plimsoll
