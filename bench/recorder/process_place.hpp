// The part of this process in the memory of the drain: its entry and its texts.
#pragma once

#include "trace/shared.hpp"

namespace heapwise::bench {

struct process_place {
  unsigned number = 0;
  process_entry* entry = nullptr;
  process_texts* texts = nullptr;
};

/// The entry that the drain has made for this process, or that the program before exec has taken.
/// An empty place if there is none.
[[nodiscard]] process_place find_process(shared_memory& memory) noexcept;

/// Takes a free entry; waits a while if there is none. An empty place if there is still none, or
/// if the drain would not know the process by its number.
[[nodiscard]] process_place take_process(shared_memory& memory, bool is_forked) noexcept;

/// Writes down which program the process is now.
void note_image(process_texts& texts) noexcept;

/// The program of a forked child is that of its parent.
void copy_last_image(const process_texts& parent, process_texts& child) noexcept;

/// What is mapped where is the same in a forked child, which need not be able to ask for it.
void copy_modules(const process_texts& parent, process_texts& child) noexcept;

} // namespace heapwise::bench
