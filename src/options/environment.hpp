// Reads the options of a library from the environment.
//
// A replacement of malloc does this before anything else works. So nothing here allocates, depends
// on a locale or needs the C++ runtime (string_view::substr does, because it can throw).
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

#include "options/option.hpp"
#include "options/text.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

/// The variables of one library: the prefix and the name of an option are the name of a variable.
template <class Settings>
struct variables {
  std::string_view prefix;
  std::span<const option<Settings>> options;
};

/// A variable that is set. Its name is a prefix and the name of an option.
struct variable {
  std::string_view name;
  std::string_view option;
  std::string_view value;
};

/// Returns: the variable of an entry NAME=VALUE of the environment. Its name is empty if the entry
/// is not of this form or does not begin with the prefix.
inline variable variable_of(std::string_view entry, std::string_view prefix) noexcept {
  if (!entry.starts_with(prefix)) return {};
  const std::size_t equals = entry.find('=');
  if (equals == std::string_view::npos || equals < prefix.size()) return {};
  const char* const start = entry.data();
  return {.name = {start, equals},
          .option = {start + prefix.size(), equals - prefix.size()},
          .value = {start + equals + 1, entry.size() - equals - 1}};
}

/// Returns: the start of a word: the end of the line matters more than the whole of a long word.
inline std::string_view shortened(std::string_view word) noexcept {
  return {word.data(), std::min(word.size(), std::size_t{100})};
}

/// Returns: the start of a line about a variable that is ignored. What is allowed comes after it.
inline text refusal(const variable& refused, std::string_view reason) noexcept {
  text line;
  line.add("heapwise: ").add(shortened(refused.name)).add("=").add(shortened(refused.value));
  line.add(": ").add(reason).add("; it is ignored. Next: ");
  return line;
}

template <class Settings>
void refuse_name(const variable& set, const variables<Settings>& known) noexcept {
  text line = refusal(set, "no such option");
  std::string_view separator;
  for (const option<Settings>& each : known.options) {
    line.add(separator).add(each.name);
    separator = ", ";
  }
  line.add("\n").write();
}

template <class Settings>
void read_value(const variable& set, const option<Settings>& as, Settings& into) noexcept {
  if (as.read(set.value, into)) return;
  refusal(set, "no such value").add(as.allowed).add("\n").write();
}

/// Returns: the option of this name, or nullptr.
template <class Settings>
const option<Settings>* find_option(const variables<Settings>& known,
                                    std::string_view name) noexcept {
  for (const option<Settings>& each : known.options) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

/// Effects: reads the options of a library into `into`, whose values stay where the environment
/// says nothing. A variable that begins with the prefix and is unknown, or has a value that is not
/// allowed, is reported in one line and ignored. Variables with other prefixes are not looked at.
template <class Settings>
void read_environment(const variables<Settings>& known, Settings& into) noexcept {
  const char* const* entry = os::environment();
  if (entry == nullptr) return;
  for (; *entry != nullptr; ++entry) {
    const variable each = variable_of(*entry, known.prefix);
    if (each.name.empty()) continue;
    if (const option<Settings>* const as = find_option(known, each.option)) {
      read_value(each, *as, into);
    } else {
      refuse_name(each, known);
    }
  }
}

} // namespace heapwise::detail
