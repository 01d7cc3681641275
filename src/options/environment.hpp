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

  /// The prefix that options had in the version before, unless they are new. Empty: there was no
  /// other.
  std::string_view old_prefix = {};
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

/// Returns: the first variable with this prefix that sets the option. Its name is empty if there is
/// none.
inline variable find_variable(std::string_view prefix, std::string_view option) noexcept {
  for (const char* const* entry = os::environment(); *entry != nullptr; ++entry) {
    const variable each = variable_of(*entry, prefix);
    if (!each.name.empty() && each.option == option) return each;
  }
  return {};
}

template <class Settings>
bool is_old_name(std::string_view entry, const variables<Settings>& known) noexcept {
  if (known.old_prefix.empty()) return false;
  const variable old = variable_of(entry, known.old_prefix);
  const option<Settings>* const as = old.name.empty() ? nullptr : find_option(known, old.option);
  return as != nullptr && as->has_old_name;
}

/// Effects: reads the options that are set under the old prefix alone, and names them in one line.
template <class Settings>
void read_old_names(const variables<Settings>& known, Settings& into) noexcept {
  text line;
  std::string_view separator = "heapwise: old names, which the next version will not read: ";
  for (const option<Settings>& each : known.options) {
    if (!each.has_old_name) continue;
    const variable old = find_variable(known.old_prefix, each.name);
    if (old.name.empty() || !find_variable(known.prefix, each.name).name.empty()) continue;
    read_value(old, each, into);
    line.add(separator).add(old.name);
    separator = ", ";
  }
  if (line.view().empty()) return;
  line.add(". Next: begin them with ").add(known.prefix).add("\n").write();
}

/// Effects: reads the options of a library into `into`, whose values stay where the environment
/// says nothing. A variable that begins with the prefix and is unknown, or has a value that is not
/// allowed, is reported in one line and ignored. Variables with other prefixes are not looked at.
template <class Settings>
void read_environment(const variables<Settings>& known, Settings& into) noexcept {
  const char* const* entry = os::environment();
  if (entry == nullptr) return;
  bool has_old_names = false;
  for (; *entry != nullptr; ++entry) {
    const variable each = variable_of(*entry, known.prefix);
    if (each.name.empty()) {
      has_old_names = has_old_names || is_old_name(*entry, known);
    } else if (const option<Settings>* const as = find_option(known, each.option)) {
      read_value(each, *as, into);
    } else {
      refuse_name(each, known);
    }
  }
  if (has_old_names) read_old_names(known, into);
}

} // namespace heapwise::detail
