#include "profiler/sampler.hpp"

#include <pthread.h>
#include <unistd.h>

#include <cerrno>

#include "profiler/allocation_functions.hpp"
#include "profiler/gap.hpp"
#include "recorder/calls.hpp"
#include "recorder/python_frames.hpp"

namespace heapwise::bench {

constinit sampled_blocks sampled;

__attribute__((tls_model("initial-exec"))) thread_local constinit thread_sampler sampler;

void thread_sampler::begin_in_child() noexcept {
  // The page of the process is 0 until the child has a place of its own in the recording.
  const std::uint32_t* here = recorded.in_this_process();
  if (here == nullptr || *here != 0 || !recorded.has_memory()) return;
  if (recorded.memory().follows == 0) return;
  static_cast<void>(recorded.records());
  here = recorded.in_this_process();
  if (*here == 0) return;
  // The samples of the parent are in the trace of the parent.
  sampled.forget();
  leave_operators_new();
  // With the numbers of its parent, a child would take the samples that its siblings take.
  random_ = 0;
  until_ = 0;
}

bool thread_sampler::take() noexcept {
  begin_in_child();
  const bool records = writer.records(frame_here());
  if (!recorded.has_memory()) {
    // The loader calls malloc before the C library knows its environment. Later, there is no drain.
    until_ = environ == nullptr ? 0 : INT64_MAX;
    return false;
  }
  const std::uint64_t mean = recorded.memory().sample_every;
  if (random_ == 0) {
    random_ = random_numbers{stamp_now() ^ reinterpret_cast<std::uintptr_t>(this)}.next() | 1;
    // `until_` has counted down from 0, so this is the first gap without what has passed.
    random_numbers random{random_};
    until_ += gap_of(random_ = random.next(), mean);
    if (static_cast<std::int64_t>(until_) >= 0) return false;
  }
  // The bytes after this block have no memory of those before.
  random_numbers random{random_};
  until_ = gap_of(random_ = random.next(), mean);
  return records;
}

void write_sample(event_kind kind, const void* block, std::size_t size, const void* site,
                  unsigned alignment_log) noexcept {
  const std::uint64_t stamp = stamp_now();
  const thread_writer::own_work own{writer};
  if (!sampled.insert(reinterpret_cast<std::uintptr_t>(block))) {
    recorded.process().events_missed.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const int saved_errno = errno;
  recorded.note_modules();
  stack_trace stack = stack_from(reinterpret_cast<std::uintptr_t>(site));
  if (stack.count == 0) stack.frames[stack.count++] = reinterpret_cast<std::uintptr_t>(site);
  kind = remove_operator_new(stack, kind);
  add_python_frames(stack);
  writer.write_block(kind, block, size, stack, stamp, alignment_log);
  errno = saved_errno;
}

sample_end::sample_end(void* block) noexcept : block_{block} {
  // A forked child has the bits of its parent, and perhaps the table in the middle of a change.
  if (block == nullptr || !recorded.follows_blocks()) return;
  was_sampled_ = sampled.erase(reinterpret_cast<std::uintptr_t>(block));
  if (!was_sampled_) return; // another block had its bit
  stamp_ = stamp_now();
  pages_ = resident_pages(block, session::medium_bytes);
}

void sample_end::write(event_kind kind, const void* site) const noexcept {
  if (was_sampled_ && writer.has_ring()) writer.write_end(kind, block_, pages_, stamp_, site);
}

void sample_end::take_back() const noexcept {
  // There is room: the block was here before the call.
  if (was_sampled_ && !sampled.insert(reinterpret_cast<std::uintptr_t>(block_))) {
    recorded.process().events_missed.fetch_add(1, std::memory_order_relaxed);
  }
}

namespace {

extern "C" void begin_sampling_in_child() { sampler.begin_in_child(); }

/// A child begins while it has one thread. A child that was made by a raw call of clone() begins at
/// its first sample.
__attribute__((constructor)) void watch_forks() noexcept {
  static_cast<void>(pthread_atfork(nullptr, nullptr, begin_sampling_in_child));
}

} // namespace

} // namespace heapwise::bench
