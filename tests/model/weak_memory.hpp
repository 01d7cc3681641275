// Memory as C++ promises it to threads that use atomics, for models that are explored whole.
//
// The view semantics of release, acquire and relaxed accesses (Kang et al., "A Promising Semantics
// for Relaxed-Memory Concurrency", 2017, without promises): a word is the list of all values that
// were ever written to it. A thread may read any value that is not older than the newest one that
// it knows of. An acquire load of a value takes over what the releasing thread knew; a
// read-modify-write reads the newest value, and hands on the knowledge that came with it.
// Not in the model: loads that take effect later than a store behind them, and writes to one word
// in another order than that of execution.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weak {

/// For each word, the index of the newest value that is known.
template <unsigned words>
using view = std::array<std::uint8_t, words>;

template <unsigned words>
struct value {
  std::uint8_t top; // for the head of a list; for other words the value itself
  std::uint8_t count;
  view<words> known; // what a thread learns that acquires it
  [[nodiscard]] bool is(const value& other) const {
    return top == other.top && count == other.count;
  }
};

/// What of an order of C++ has an effect here.
struct order {
  bool acquires = false;
  bool releases = false;

  static order named(const std::string& name) {
    const bool both = name == "acq_rel" || name == "seq_cst";
    return {both || name == "acquire", both || name == "release"};
  }
};

template <unsigned words>
class memory {
 public:
  using value = weak::value<words>;
  using view = weak::view<words>;

  [[nodiscard]] const std::vector<value>& history(unsigned word) const { return all_[word]; }
  [[nodiscard]] const value& newest(unsigned word) const { return all_[word].back(); }

  void start(unsigned word, std::uint8_t with) { all_[word].push_back({with, 0, {}}); }

  /// Effects: a thread that knows `known` reads value `index` of a word.
  value read(view& known, unsigned word, std::size_t index, order how) const {
    const value got = all_[word][index];
    known[word] = static_cast<std::uint8_t>(index);
    if (how.acquires) join(known, got.known);
    return {got.top, got.count, {}};
  }

  /// Effects: a thread stores into a word.
  void write(view& known, unsigned word, value written, order how) {
    append(known, word, written, how, view{});
  }

  /// Effects: a thread replaces the newest value of a word in one step, and reads it so.
  void exchange(view& known, unsigned word, value written, order how) {
    const view handed_on = newest(word).known;
    read(known, word, all_[word].size() - 1, how);
    append(known, word, written, how, handed_on);
  }

  /// Returns: whether a thread that knows `known` can only read the newest value of a word.
  [[nodiscard]] bool is_newest_known(const view& known, unsigned word) const {
    return known[word] + 1U == all_[word].size();
  }

  /// Effects: appends all that there is to `text`, so that equal memories have equal texts.
  void describe(std::string& text) const {
    for (const std::vector<value>& word : all_) {
      text.push_back(static_cast<char>(word.size()));
      text.append(reinterpret_cast<const char*>(word.data()), word.size() * sizeof(value));
    }
  }

 private:
  static void join(view& to, const view& other) {
    for (unsigned i = 0; i < words; ++i) to[i] = to[i] < other[i] ? other[i] : to[i];
  }

  void append(view& known, unsigned word, value written, order how, const view& handed_on) {
    known[word] = static_cast<std::uint8_t>(all_[word].size());
    written.known = handed_on;
    written.known[word] = known[word];
    if (how.releases) join(written.known, known);
    all_[word].push_back(written);
  }

  std::array<std::vector<value>, words> all_;
};

} // namespace weak
