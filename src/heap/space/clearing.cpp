#include "heap/space/clearing.hpp"

#include <algorithm>
#include <cstring>

#include "heap/base/zeros.hpp"
#include "heap/space/huge_pages.hpp"
#include "os/expects.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

namespace {

constexpr std::size_t one_mib = std::size_t{1} << 20;

/// Less is overwritten without a look.
constexpr std::size_t worth_a_look_bytes = one_mib;

/// More goes back without a look. (glibc maps and unmaps blocks from this size on.)
constexpr std::size_t most_bytes = 32 * one_mib;

/// For each piece of this size it is found out whether it was used.
constexpr std::size_t looked_at_bytes = one_mib / 4;

/// Returns: whether half of the pages that are looked at hold something. A page that is not there
/// costs a fault, and no memory: the system shows its page of zeros.
bool seems_used(const std::byte* begin, std::size_t bytes) noexcept {
  constexpr std::size_t looks = 2;
  const std::size_t page = os::page_bytes();
  const std::size_t step = std::max(bytes / looks / page * page, page);
  std::size_t used = 0;
  std::size_t seen = 0;
  for (std::size_t at = step / 2 / page * page; at + page <= bytes; at += step) {
    ++seen;
    used += zeros::is_zero(begin + at, page) ? 0 : 1;
  }
  return 2 * used >= seen;
}

void give_back_or_write(std::byte* begin, std::size_t bytes) noexcept {
  if (bytes > 0 && !purge_slices(begin, bytes)) std::memset(begin, 0, bytes);
}

} // namespace

void clear_pages(std::byte* begin, std::size_t bytes) noexcept {
  expects(bytes % slice_bytes == 0, "whole slices are cleared");
  if (bytes < worth_a_look_bytes) {
    std::memset(begin, 0, bytes);
    return;
  }
  if (bytes > most_bytes) return give_back_or_write(begin, bytes);
  std::byte* const end = begin + bytes;
  std::byte* unused = begin; // from here up to the next piece that was used
  for (std::byte* piece = begin; piece < end;) {
    const std::size_t length = std::min(looked_at_bytes, static_cast<std::size_t>(end - piece));
    if (seems_used(piece, length)) {
      give_back_or_write(unused, static_cast<std::size_t>(piece - unused));
      std::memset(piece, 0, length);
      unused = piece + length;
    }
    piece += length;
  }
  give_back_or_write(unused, static_cast<std::size_t>(end - unused));
}

} // namespace heapwise::detail
