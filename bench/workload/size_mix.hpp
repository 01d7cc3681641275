// What sizes a program asks for, how often, and how much of it lives at once: the workloads of
// AllocatorBench, as numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace heapwise::bench {

struct weighted_size {
  std::uint32_t bytes;
  double weight; ///< of all weights of a mix, which add up to 1
};

struct size_mix {
  std::string_view name;
  std::span<const weighted_size> sizes;
  double allocate;         ///< the chance that the next operation allocates
  std::uint32_t most_live; ///< blocks at once; there the next operation frees
  std::size_t alignment;   ///< that every block must have; 0: malloc's own
};

namespace sizes {

inline constexpr std::array<weighted_size, 6> rl_small{
    {{16, .25}, {32, .25}, {64, .2}, {128, .15}, {256, .1}, {512, .05}}};
inline constexpr std::array<weighted_size, 6> rl_medium{
    {{128, .2}, {256, .25}, {512, .25}, {1024, .15}, {2048, .1}, {4096, .05}}};
inline constexpr std::array<weighted_size, 9> fragmentation_mix{{{16, .1},
                                                                 {32, .1},
                                                                 {64, .1},
                                                                 {128, .12},
                                                                 {256, .12},
                                                                 {512, .12},
                                                                 {1024, .12},
                                                                 {2048, .12},
                                                                 {4096, .1}}};
inline constexpr std::array<weighted_size, 5> alignment64{
    {{64, .35}, {128, .25}, {256, .2}, {512, .15}, {1024, .05}}};
inline constexpr std::array<weighted_size, 9> small_and_medium{{{16, .125},
                                                                {32, .125},
                                                                {64, .1},
                                                                {128, .175},
                                                                {256, .175},
                                                                {512, .15},
                                                                {1024, .075},
                                                                {2048, .05},
                                                                {4096, .025}}};

} // namespace sizes

inline constexpr size_mix rl_small{"rl_small", sizes::rl_small, .65, 4096, 0};
inline constexpr size_mix rl_medium{"rl_medium", sizes::rl_medium, .6, 2048, 0};
inline constexpr size_mix fragmentation_mix{"fragmentation_mix", sizes::fragmentation_mix, .55,
                                            8192, 0};
inline constexpr size_mix alignment64{"alignment64", sizes::alignment64, .6, 2048, 64};

/// rl_small and rl_medium in equal parts; not of AllocatorBench.
inline constexpr size_mix small_and_medium{"small_and_medium", sizes::small_and_medium, .625, 6144,
                                           0};

} // namespace heapwise::bench
