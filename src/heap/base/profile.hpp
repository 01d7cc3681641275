// The profile that this library was built with.
#pragma once

#include <cstddef>

#include "heapwise/detail/heap_profile.hpp"

// Tests that look inside are linked with libheapwise, which has this one.
#ifndef HEAPWISE_PROFILE
#define HEAPWISE_PROFILE default_profile
#endif

namespace heapwise::detail {

inline constexpr const protection& chosen_profile = HEAPWISE_PROFILE;

/// The bytes of the canary behind each small block; 0: there is none.
inline constexpr std::size_t canary_bytes = chosen_profile.canary_bytes;

} // namespace heapwise::detail
