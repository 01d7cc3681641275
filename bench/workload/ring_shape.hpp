// Which thread sends to which: threads that produce and threads that consume, and a ring for each
// pair.
#pragma once

#include <cstddef>
#include <string_view>

namespace heapwise::bench {

struct ring_shape {
  std::size_t producers;
  std::size_t consumers;

  /// What one thread does: it produces or consumes, and uses the rings from `first` to `last`.
  struct part {
    bool produces;
    std::size_t first;
    std::size_t last;

    [[nodiscard]] std::size_t rings() const noexcept { return last - first; }
  };

  /// Returns: the shape that a parameter names: one_to_one, one_to_many or many_to_one.
  static ring_shape of(std::string_view name) noexcept {
    constexpr std::size_t many = 3;
    if (name == "many_to_one") return {many, 1};
    if (name == "one_to_many") return {1, many};
    return {1, 1};
  }

  [[nodiscard]] std::size_t rings() const noexcept { return producers * consumers; }
  [[nodiscard]] int threads() const noexcept { return static_cast<int>(producers + consumers); }

  /// Returns: the part of a thread; the producers are the first ones.
  [[nodiscard]] part part_of(std::size_t thread) const noexcept {
    const bool produces = thread < producers;
    const std::size_t place = produces ? thread : thread - producers;
    const std::size_t share = rings() / (produces ? producers : consumers);
    return {produces, place * share, (place + 1) * share};
  }
};

} // namespace heapwise::bench
