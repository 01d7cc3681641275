#include "heap/space/relocation.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "heap/space/huge_pages.hpp"
#include "heapwise/detail/size_classes.hpp"
#include "options/text.hpp"
#include "os/expects.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

namespace {

// A process may have 65,530 mappings. Each piece may split the mapping that it comes into in three.
constexpr std::size_t most_pieces = 4096;

/// A block in more pieces than this is copied, and is in one piece again.
constexpr std::uint32_t most_pieces_of_a_block = 16;

constinit std::atomic<std::size_t> pieces{0};

/// Returns: the longest beginning, in whole pages, that is one mapping to the system.
std::size_t first_mapping(const std::byte* begin, std::size_t bytes) noexcept {
  if (os::is_one_mapping(begin, bytes)) return bytes;
  const std::size_t page = os::page_bytes();
  std::size_t one = 0;
  std::size_t several = bytes / page;
  while (several - one > 1) {
    const std::size_t middle = (one + several) / 2;
    (os::is_one_mapping(begin, middle * page) ? one : several) = middle;
  }
  return one * page;
}

/// Effects: maps a place that the system refused to change, and may have unmapped.
mended map_again(std::byte* begin, std::size_t bytes) noexcept {
  switch (os::map_at(begin, bytes)) {
    case os::placed::here:
      choose_pages(begin, bytes);
      return mended::fresh;
    case os::placed::occupied:
      return mended::as_was;
    case os::placed::refused:
      break;
  }
  // A process that has as many mappings as it may have is refused another one, also where something
  // is mapped.
  if (os::is_mapped(begin, bytes)) return mended::as_was;
  purge_slices(begin,
               bytes); // a part may be mapped; it stays out of use, so it must not be resident
  return mended::lost;
}

struct progress {
  std::size_t bytes = 0; // moved
  std::uint32_t pieces = 0;
  bool target_lost = false;
};

/// Effects: moves one mapping after the other, until all are moved or the system refuses one.
progress move_pieces(std::byte* from, std::byte* to, std::size_t bytes) noexcept {
  progress outcome;
  while (outcome.bytes < bytes && outcome.pieces < most_pieces_of_a_block) {
    const std::size_t piece = first_mapping(from + outcome.bytes, bytes - outcome.bytes);
    if (piece == 0) break;
    if (!os::move_pages(from + outcome.bytes, to + outcome.bytes, piece)) {
      outcome.target_lost = map_again(to + outcome.bytes, piece) == mended::lost;
      break;
    }
    outcome.bytes += piece;
    ++outcome.pieces;
  }
  return outcome;
}

/// Effects: the pages are at `from` again, or the process ends: half of a block would be lost.
void move_back(std::byte* from, std::byte* to, std::size_t bytes) noexcept {
  while (bytes > 0) {
    const progress outcome = move_pieces(to, from, bytes);
    if (outcome.bytes == 0) {
      text line;
      line.add(
          "heapwise: the system refuses to move the pages of a block back. Next: raise the "
          "limits of memory and of mappings (vm.max_map_count)\n");
      line.write();
      std::abort();
    }
    from += outcome.bytes;
    to += outcome.bytes;
    bytes -= outcome.bytes;
  }
}

} // namespace

relocated relocate(span& source_span, std::byte* source, span& target_span,
                   std::byte* target) noexcept {
  // The target is longer than the source with all its room: pages move whole, none stay behind.
  const std::size_t bytes = source_span.slices * slice_bytes;
  const bool many = pieces.load(std::memory_order_relaxed) >= most_pieces;
  const progress outcome = many ? progress{} : move_pieces(source, target, bytes);
  if (outcome.target_lost) {
    move_back(source, target, outcome.bytes);
    // Room behind the contents is still mapped. It stays out of use, so it must not be resident.
    purge_slices(target + outcome.bytes, target_span.slices * slice_bytes - outcome.bytes);
    return relocated::target_lost;
  }
  target_span.pieces = outcome.pieces;
  pieces.fetch_add(outcome.pieces, std::memory_order_relaxed);
  if (outcome.bytes < source_span.large.usable_bytes) {
    std::memcpy(target + outcome.bytes, source + outcome.bytes,
                source_span.large.usable_bytes - outcome.bytes);
  }
  if (outcome.bytes == 0) return relocated::copied;
  // What was moved has left a hole. Pieces of earlier moves went with it: what comes there now is
  // one mapping with its neighbours.
  if (os::map_at(source, outcome.bytes) != os::placed::here) {
    if (outcome.bytes < bytes) purge_slices(source + outcome.bytes, bytes - outcome.bytes);
    forget_pieces(source_span);
    return relocated::source_lost;
  }
  choose_pages(source, outcome.bytes);
  if (outcome.bytes < bytes) return relocated::copied;
  forget_pieces(source_span);
  return relocated::moved;
}

mended mend(std::byte* begin, std::size_t bytes) noexcept {
  if (!os::renew(begin, bytes)) return map_again(begin, bytes);
  choose_pages(begin, bytes);
  return mended::fresh;
}

void forget_pieces(span& record) noexcept {
  expects([&] { return record.pieces <= pieces.load(std::memory_order_relaxed); },
          "the pieces of a span are counted");
  pieces.fetch_sub(record.pieces, std::memory_order_relaxed);
  record.pieces = 0;
}

std::size_t count_pieces() noexcept { return pieces.load(std::memory_order_relaxed); }

} // namespace heapwise::detail
