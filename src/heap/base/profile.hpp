// The profile that this library was built with.
#pragma once

#include "heapwise/detail/heap_profile.hpp"

// Tests that look inside are linked with libheapwise, which has this one.
#ifndef HEAPWISE_PROFILE
#define HEAPWISE_PROFILE default_profile
#endif

namespace heapwise::detail {

using chosen_profile = HEAPWISE_PROFILE;

} // namespace heapwise::detail
