// How much the heap distrusts its user: a policy that its fast paths take as a parameter.
#pragma once

#include <bit>
#include <cstdint>

namespace heapwise::detail {

/// Nothing is checked that costs an instruction.
struct fast_profile {
  static constexpr const char* name = "fast";
  static constexpr bool checks_head = false;

  static std::uintptr_t seal(std::uintptr_t link, std::uintptr_t) noexcept { return link; }
  static std::uintptr_t unseal(std::uintptr_t word, std::uintptr_t) noexcept { return word; }
};

/// What is cheap is checked: a block freed twice in a row, and links that were written over.
struct default_profile {
  static constexpr const char* name = "default";
  static constexpr bool checks_head = true;

  /// A secret that differs from process to process, so that no link can be forged; and the halves
  /// change places, so that a link of which some low bytes were overwritten points far outside of
  /// the heap: following it ends the process instead of handing out half of another block.
  static std::uintptr_t seal(std::uintptr_t link, std::uintptr_t key) noexcept {
    return std::rotl(link ^ key, half);
  }
  static std::uintptr_t unseal(std::uintptr_t word, std::uintptr_t key) noexcept {
    return std::rotr(word, half) ^ key;
  }

 private:
  static constexpr int half = 4 * sizeof(std::uintptr_t);
};

} // namespace heapwise::detail
