// One line of JSON, written into a buffer that the caller owns.
//
// Never allocates and needs no C++ runtime, so that a preloaded probe, the launcher and a process
// that measures malloc can all use it. A line that does not fit is cut, and `ok()` says so.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace heapwise::bench {

/// Length of the well-formed UTF-8 sequence at the start of `bytes`, 0 if there is none.
inline std::size_t utf8_length(std::string_view bytes) noexcept {
  if (bytes.empty()) return 0;
  const auto lead = static_cast<unsigned char>(bytes[0]);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf5   ? 0
                             : lead >= 0xf0 ? 4
                             : lead >= 0xe0 ? 3
                             : lead >= 0xc2 ? 2
                                            : 0;
  if (length == 0 || bytes.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(bytes[i]) & 0xc0) != 0x80) return 0;
  }
  const auto second = static_cast<unsigned char>(bytes[1]);
  const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool beyond = (lead == 0xed && second >= 0xa0) || (lead == 0xf4 && second >= 0x90);
  return overlong || beyond ? 0 : length;
}

class json_line {
 public:
  json_line(char* buffer, std::size_t capacity) noexcept
      : begin_{buffer}, at_{buffer}, end_{buffer + capacity} {}

  json_line& open(char bracket) noexcept {
    separate();
    put(bracket);
    first_ = true;
    return *this;
  }

  json_line& close(char bracket) noexcept {
    put(bracket);
    first_ = false;
    return *this;
  }

  json_line& key(std::string_view name) noexcept {
    value(name);
    put(':');
    first_ = true;
    return *this;
  }

  json_line& value(std::string_view text) noexcept {
    separate();
    put('"');
    while (!text.empty()) text.remove_prefix(put_escaped(text));
    put('"');
    return *this;
  }
  json_line& value(const char* text) noexcept { return value(std::string_view{text}); }

  json_line& value(bool truth) noexcept {
    separate();
    put_raw(truth ? "true" : "false");
    return *this;
  }

  template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
  json_line& value(Integer number) noexcept {
    separate();
    char digits[24];
    std::size_t count = 0;
    auto rest = static_cast<std::uint64_t>(number);
    const bool negative = number < Integer{0};
    if (negative) rest = 0 - rest;
    do {
      digits[count++] = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest != 0);
    if (negative) put('-');
    while (count != 0) put(digits[--count]);
    return *this;
  }

  /// The shortest of 15 or 17 digits that reads back as the same number; null if not finite.
  json_line& value(double number) noexcept {
    if (!std::isfinite(number)) return null();
    separate();
    char text[32];
    std::snprintf(text, sizeof text, "%.15g", number);
    if (std::strtod(text, nullptr) != number) std::snprintf(text, sizeof text, "%.17g", number);
    put_raw(text);
    return *this;
  }

  json_line& null() noexcept {
    separate();
    put_raw("null");
    return *this;
  }

  template <class Value>
  json_line& field(std::string_view name, Value number) noexcept {
    return key(name).value(number);
  }

  /// Members of an object that are JSON already: "name":value, with commas between them.
  json_line& members(std::string_view text) noexcept {
    separate();
    put_raw(text);
    return *this;
  }

  json_line& end_of_line() noexcept {
    put('\n');
    return *this;
  }

  [[nodiscard]] std::string_view text() const noexcept {
    return {begin_, static_cast<std::size_t>(at_ - begin_)};
  }
  [[nodiscard]] bool ok() const noexcept { return !cut_; }

 private:
  void put(char character) noexcept {
    if (at_ == end_) {
      cut_ = true;
      return;
    }
    *at_++ = character;
  }

  void put_raw(std::string_view text) noexcept {
    for (const char character : text) put(character);
  }

  void separate() noexcept {
    if (!first_) put(',');
    first_ = false;
  }

  /// Writes the first character of `text`; returns how many bytes of it that was.
  std::size_t put_escaped(std::string_view text) noexcept {
    const auto byte = static_cast<unsigned char>(text[0]);
    const std::size_t length = utf8_length(text);
    if (length == 0) {
      put_raw("\xef\xbf\xbd"); // U+FFFD: a path may hold any bytes, a line of JSON may not
      return 1;
    }
    if (byte == '"' || byte == '\\') {
      put('\\');
      put(text[0]);
    } else if (byte < 0x20) {
      constexpr const char* hex = "0123456789abcdef";
      put_raw("\\u00");
      put(hex[byte >> 4]);
      put(hex[byte & 15]);
    } else {
      put_raw({text.data(), length});
    }
    return length;
  }

  char* begin_;
  char* at_;
  char* end_;
  bool first_ = true;
  bool cut_ = false;
};

} // namespace heapwise::bench
