// One option of a library, and the usual ways to read its value.
#pragma once

#include <charconv>
#include <cstddef>
#include <limits>
#include <string_view>
#include <system_error>

namespace heapwise::detail {

/// An option that is read into a member of Settings.
template <class Settings>
struct option {
  std::string_view name; ///< Without the prefix of the library.

  /// Returns: whether the value is allowed. If not, nothing has changed.
  bool (*read)(std::string_view value, Settings& into) noexcept;

  std::string_view allowed; ///< The allowed values, for people.
};

/// Effects: reads a decimal number without a space, a plus sign or a unit.
/// Returns: whether the whole value is such a number from `least` to `most`. If not, nothing has
/// changed.
template <class Number>
bool parse_number(std::string_view value, Number least, Number most, Number& into) noexcept {
  Number number{};
  const char* const end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc{} || stop != end || number < least || number > most) return false;
  into = number;
  return true;
}

/// The functions below are for option::read. They read into `member`, a pointer to a member.
template <auto member, class Settings>
bool read_switch(std::string_view value, Settings& into) noexcept {
  if (value != "0" && value != "1") return false;
  into.*member = value == "1";
  return true;
}

template <auto member, auto least, auto most, class Settings>
bool read_number(std::string_view value, Settings& into) noexcept {
  return parse_number<decltype(most)>(value, least, most, into.*member);
}

/// A size: MiB in the environment, bytes in the settings.
template <auto member, class Settings>
bool read_mib(std::string_view value, Settings& into) noexcept {
  constexpr std::size_t mib = std::size_t{1} << 20;
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / mib;
  std::size_t in_mib = 0;
  if (!parse_number<std::size_t>(value, 1, most, in_mib)) return false;
  into.*member = in_mib * mib;
  return true;
}

} // namespace heapwise::detail
