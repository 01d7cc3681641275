// What a check says: a sentence in which each `{}` stands for an argument.
//
//     the_cell.check("work", sum == expected, "the sum is {}, expected {}", sum, expected);
//
// Never allocates: a check may stand between two timed regions. (GCC 12 has no std::format.)
#pragma once

#include <atomic>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace heapwise::bench {

/// A sentence with exactly `arguments` places for arguments; anything else does not compile.
template <std::size_t arguments>
class sentence {
 public:
  consteval sentence(const char* text) : text_{text} { // NOLINT(google-explicit-constructor)
    std::size_t places = 0;
    for (std::size_t i = 0; i + 1 < text_.size(); ++i) places += text_[i] == '{';
    if (places != arguments) throw "as many {} as arguments";
  }
  [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }

 private:
  std::string_view text_;
};

/// A text of limited length; what does not fit is cut.
class check_text {
 public:
  template <class... Arguments>
  static check_text of(std::string_view text, const Arguments&... arguments) noexcept {
    check_text result;
    (result.append_up_to_place(text, arguments), ...);
    result.append(text);
    return result;
  }

  [[nodiscard]] const char* c_str() const noexcept { return text_; }

 private:
  template <class Argument>
  void append_up_to_place(std::string_view& text, const Argument& argument) noexcept {
    const std::size_t place = text.find("{}");
    append(text.substr(0, place));
    append(argument);
    text.remove_prefix(place + 2);
  }

  void append(std::string_view text) noexcept {
    const std::size_t fits = text.size() < room() ? text.size() : room();
    std::memcpy(text_ + length_, text.data(), fits);
    length_ += fits;
  }
  void append(const char* text) noexcept { append(std::string_view{text}); }

  template <std::integral Integer>
  void append(Integer number) noexcept {
    const std::to_chars_result end =
        std::to_chars(text_ + length_, text_ + length_ + room(), number);
    if (end.ec == std::errc{}) length_ = static_cast<std::size_t>(end.ptr - text_);
  }

  template <class Value>
  void append(const std::atomic<Value>& shared) noexcept {
    append(shared.load());
  }

  [[nodiscard]] std::size_t room() const noexcept { return sizeof text_ - 1 - length_; }

  char text_[200] = {};
  std::size_t length_ = 0;
};

} // namespace heapwise::bench
