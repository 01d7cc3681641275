#include "heap/front/sealing.hpp"

#include <cstddef>

#include "heap/base/options.hpp"
#include "heap/base/profile.hpp"
#include "heap/base/sealed_facts.hpp"
#include "heap/checks/guarded_pages.hpp"
#include "heap/space/space.hpp"
#include "os/reports/faults.hpp"

namespace heapwise::detail {

namespace {

[[maybe_unused]] bool seal(void* begin, std::size_t bytes) noexcept {
  return os::seal(begin, bytes) != os::sealing::refused;
}

} // namespace

bool seal_facts() noexcept {
  if constexpr (chosen_profile.seals_facts) {
    return seal(&the_facts, sizeof the_facts) && seal(&the_options, sizeof the_options) &&
           seal(&the_space, the_space.sealed_bytes()) &&
           seal(&the_guards, the_guards.sealed_bytes());
  }
  return true;
}

} // namespace heapwise::detail
