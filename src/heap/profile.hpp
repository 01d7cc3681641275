// The profile that this library was built with.
#pragma once

#include "heapwise/detail/heap_profile.hpp"

// Tests that look inside are linked with libheapwise, which has this one.
#ifndef HEAPWISE_PROFILE
#define HEAPWISE_PROFILE default_profile
#endif

namespace heapwise::detail {

// A source that is compiled once for two profiles sees only what they have in common
// (cmake/heap.cmake).
#ifdef HEAPWISE_COMMON_PROFILES
using chosen_profile = HEAPWISE_COMMON_PROFILES;
#else
using chosen_profile = HEAPWISE_PROFILE;
#endif

} // namespace heapwise::detail
