// The format of a trace file (.hwt), version 2. docs/trace-format.md describes it for other
// readers.
//
// A file is a header, then frames, then an index and a trailer. All numbers are little-endian. A
// file without index and trailer (its writer was killed) is read by looking at one frame after the
// other: each says how long it is and has a hash of its content.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwise::bench {

inline constexpr char file_magic[8] = {'H', 'W', 'T', 'R', 'A', 'C', 'E', '\n'};
inline constexpr std::uint32_t file_version = 2;
/// Before this version the size of a block that is made was in column::more.
inline constexpr std::uint32_t version_of_joint_column = 2;
inline constexpr std::uint32_t frame_magic = 0x4D52'4648;   // "HFRM"
inline constexpr std::uint32_t trailer_magic = 0x444E'4548; // "HEND"

struct file_header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t bytes; ///< of the JSON text that follows, which says what was recorded
};

enum class frame_kind : std::uint16_t {
  events = 1,
  live = 2,    ///< the blocks that live where a window begins, oldest first
  modules = 3, ///< JSON: what was mapped where, to find names for addresses
  summary = 4, ///< JSON: totals of the whole recording, kept or not
};

/// The columns of a frame, each with as many bytes for a number as its largest one needs. The bytes
/// of a column are stored by significance: first the lowest bytes of all its numbers.
enum class column : unsigned {
  kind = 0,   ///< event_kind
  thread = 1, ///< in the order of their first events, from 0
  time = 2,   ///< since the event before, in units of the header; of the first: since `first_time`
  /// Of an event that makes a block: its size as asked for. Of one that ends it: how many blocks
  /// were made since. Of a live block: how many since the one before.
  number = 3,
  /// Of an end: resident pages if they were counted. Of a live block, and of a call that was
  /// refused: its size.
  more = 4,
  site = 5,      ///< number of the address that called, in the order of first use
  alignment = 6, ///< binary logarithm; 0: the default of malloc
};
inline constexpr unsigned column_count = 7;

struct frame_header {
  std::uint32_t magic;
  std::uint16_t kind; ///< frame_kind
  std::uint16_t columns;
  std::uint32_t window; ///< frames of one window follow each other without a gap
  std::uint32_t count;  ///< events, or live blocks
  std::uint32_t raw_bytes;
  std::uint32_t stored_bytes; ///< compressed with zstd, as one zstd frame
  std::uint64_t number;       ///< of the frame; larger than that of the frame before
  std::uint64_t first_time;   ///< in units of the header since the start
  std::uint64_t first_block;  ///< number of the block that the next event that makes one makes
  std::uint64_t first_event;  ///< how many events came before, kept or not
  std::uint64_t live_blocks;  ///< before the first event
  std::uint64_t live_bytes;
  std::uint64_t hash; ///< of the fields before it, see header_hash; zstd checks the stored bytes
};
static_assert(sizeof(frame_header) == 80);

/// Stands at the end of a whole file, after the index: `count` offsets of frames.
struct file_trailer {
  std::uint64_t index_offset;
  std::uint64_t count;
  std::uint64_t hash; ///< of the index
  std::uint32_t version;
  std::uint32_t magic;
};
static_assert(sizeof(file_trailer) == 32);

/// FNV-1a with 64 bits (draft-eastlake-fnv).
[[nodiscard]] inline std::uint64_t header_hash(const void* bytes, std::size_t size) noexcept {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325;
  for (std::size_t i = 0; i < size; ++i) {
    hash = (hash ^ static_cast<const unsigned char*>(bytes)[i]) * 0x100'0000'01B3;
  }
  return hash;
}

} // namespace heapwise::bench
