// Every public template, instantiated as a whole: what `template class` in a program does to save
// time. test_headers.py compiles it with each compiler, with and without exceptions and RTTI.
#include <string>

#include <heapwise/gc.hpp>
#include <heapwise/heap.hpp>
#include <heapwise/heapwise.hpp>
#include <heapwise/hybrid.hpp>

namespace {

struct object {
  explicit object(int number) : text(static_cast<std::size_t>(number), 'x') {}
  std::string text;
};

struct observer {
  void on_exhausted() noexcept {}
  void on_growth(std::size_t) noexcept {}
};

} // namespace

#define INSTANTIATE(policy, checking)                                                           \
  template class heapwise::policy::core<heapwise::checking>;                                    \
  template class heapwise::pool<heapwise::policy, heapwise::checking>;                          \
  template class heapwise::typed_pool<object,                                                   \
                                      heapwise::pool<heapwise::policy, heapwise::checking>>;    \
  template class heapwise::typed_pool<const int,                                                \
                                      heapwise::pool<heapwise::policy, heapwise::checking>>;    \
  template class heapwise::typed_pool<                                                          \
      object, heapwise::instrumented<heapwise::pool<heapwise::policy, heapwise::checking>>>;    \
  template class heapwise::pool_deleter<object,                                                 \
                                        heapwise::pool<heapwise::policy, heapwise::checking>>;  \
  template class heapwise::instrumented<heapwise::pool<heapwise::policy, heapwise::checking>>;  \
  template class heapwise::instrumented<heapwise::pool<heapwise::policy, heapwise::checking>,   \
                                        observer>;                                              \
  template class heapwise::std_allocator<object,                                                \
                                         heapwise::pool<heapwise::policy, heapwise::checking>>; \
  template class heapwise::pool_resource<heapwise::pool<heapwise::policy, heapwise::checking>>; \
  template class heapwise::node_pool<heapwise::policy, heapwise::checking>;                     \
  template class heapwise::std_allocator<                                                       \
      object, heapwise::node_pool<heapwise::policy, heapwise::checking>>;

#define INSTANTIATE_ALL(policy)        \
  INSTANTIATE(policy, trusting)        \
  INSTANTIATE(policy, foreign_checked) \
  INSTANTIATE(policy, sanitized)       \
  INSTANTIATE(policy, checked)

INSTANTIATE_ALL(unsynchronized)
INSTANTIATE_ALL(locked)
INSTANTIATE_ALL(lock_free)
INSTANTIATE_ALL(thread_cached)

template class heapwise::local_pool<heapwise::pool<heapwise::thread_cached>>;
template class heapwise::pool_resource<heapwise::pool<>, heapwise::when_exhausted::throws>;
template class heapwise::std_allocator<object, heapwise::pool<>, heapwise::when_exhausted::spills>;
template class heapwise::base_deleter<object>;
template class heapwise::local_typed_pool<
    object, heapwise::local_pool<heapwise::pool<heapwise::thread_cached>>>;
template class heapwise::observed_blocks<observer>;
template class heapwise::heap_allocator<object>;

#define INSTANTIATE_HYBRID(strategy)                                              \
  template class heapwise::hybrid<heapwise::refill::strategy, heapwise::untimed>; \
  template class heapwise::hybrid<heapwise::refill::strategy, heapwise::timed>;

INSTANTIATE_HYBRID(global_lock)
INSTANTIATE_HYBRID(sharded)
INSTANTIATE_HYBRID(class_arena)
INSTANTIATE_HYBRID(cached_lists)
INSTANTIATE_HYBRID(lock_free_refill)
INSTANTIATE_HYBRID(reserved)

/// Member templates are not part of an instantiated class.
int use_of_member_templates();
int use_of_member_templates() {
  heapwise::typed_pool<object> objects{8};
  objects.destroy(objects.construct(7));
  objects.destroy(objects.try_construct(7));
  const auto owned = heapwise::make_unique_in(objects, 7);
  heapwise::arena some;
  return *some.create<int>(owned != nullptr ? 1 : 0);
}
template class heapwise::collected_allocator<object>;
template class heapwise::collected_allocator<int>;
template class heapwise::kept_allocator<object>;
template class heapwise::weak_pointer<object>;
template object* heapwise::make_collected<object, int>(int&&);
