// Where the figures of the seed were measured.
#pragma once

namespace caches {

inline constexpr const char* seed = "002_6e019959cd8b368d.txt";
inline constexpr const char* seed_machine = "Apple Silicon, 8 cores (seed 002)";

} // namespace caches
