// Everything that is attached to blocks, and what became of it.
#pragma once

#include <atomic>
#include <cstddef>

#include "gc/base/page_list.hpp"
#include "gc/state/attachment_table.hpp"

namespace heapwise::gc {

/// A finalizer that is to be called.
struct ready_finalizer {
  void* block; // nullptr: it was freed meanwhile
  heapwise_gc_finalizer* call;
  void* argument;
};

/// Everything that is attached, and what became of it. Under the collector's lock.
struct attachments {
  attachment_table of_blocks;
  page_list<ready_finalizer> ready; // roots
  std::size_t taken = 0;            // of `ready`, from the first on
  weak_target* unused = nullptr;
  page_list<weak_target*> targets; // each the first of a page
  heapwise_gc_notice* notice = nullptr;
  void* notice_argument = nullptr;
  std::atomic<bool> notice_due{false}; // finalizers have become ready since the last one
};

} // namespace heapwise::gc
