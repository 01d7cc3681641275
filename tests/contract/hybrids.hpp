// The hybrid allocators that every contract is checked on.
#pragma once

#include <heapwise/hybrid.hpp>

/// A line for each new refill strategy goes here.
#define CONTRACT_HYBRIDS                                                                        \
  heapwise::hybrid<heapwise::refill::global_lock>, heapwise::hybrid<heapwise::refill::sharded>, \
      heapwise::hybrid<heapwise::refill::class_arena>,                                          \
      heapwise::hybrid<heapwise::refill::cached_lists>,                                         \
      heapwise::hybrid<heapwise::refill::lock_free_refill>,                                     \
      heapwise::hybrid<heapwise::refill::reserved>
