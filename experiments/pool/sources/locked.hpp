// Any source behind one std::mutex: what a user of a library without threads writes himself.
#pragma once

#include <mutex>

#include "sources/demand.hpp"

namespace pools {

template <class Source>
class locked {
 public:
  explicit locked(const demand& wanted) : source_{wanted} {}

  [[gnu::always_inline]] void* allocate() {
    const std::scoped_lock hold{mutex_};
    return source_.allocate();
  }
  [[gnu::always_inline]] void deallocate(void* block) {
    const std::scoped_lock hold{mutex_};
    source_.deallocate(block);
  }

 private:
  std::mutex mutex_;
  Source source_;
};

} // namespace pools
