// Table of contents.
#pragma once

#include <heapwise/adapt/deleter.hpp>
#include <heapwise/adapt/memory_resource.hpp>
#include <heapwise/adapt/std_allocator.hpp>
#include <heapwise/arena.hpp>
#include <heapwise/block_source.hpp>
#include <heapwise/checking.hpp>
#include <heapwise/concepts.hpp>
#include <heapwise/heap.hpp>
#include <heapwise/hybrid.hpp>
#include <heapwise/hybrid/refill/class_arena.hpp>
#include <heapwise/hybrid/refill/global_lock.hpp>
#include <heapwise/hybrid/refill/lock_free_refill.hpp>
#include <heapwise/hybrid/refill/reserved.hpp>
#include <heapwise/hybrid/refill/sharded.hpp>
#include <heapwise/observe/instrumented.hpp>
#include <heapwise/observe/observed_blocks.hpp>
#include <heapwise/pool.hpp>
#include <heapwise/pool_options.hpp>
#include <heapwise/sanitized.hpp>
#include <heapwise/thread/lock_free.hpp>
#include <heapwise/thread/locked.hpp>
#include <heapwise/thread/thread_cached.hpp>
#include <heapwise/thread/unsynchronized.hpp>
#include <heapwise/typed_pool.hpp>
