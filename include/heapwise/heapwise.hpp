// Table of contents. The research allocator is apart: hybrid.hpp.
#pragma once

#include <heapwise/adapt/deleter.hpp>
#include <heapwise/adapt/memory_resource.hpp>
#include <heapwise/adapt/node_pool.hpp>
#include <heapwise/adapt/std_allocator.hpp>
#include <heapwise/arena.hpp>
#include <heapwise/block_source.hpp>
#include <heapwise/checking.hpp>
#include <heapwise/concepts.hpp>
#include <heapwise/heap.hpp>
#include <heapwise/observe/instrumented.hpp>
#include <heapwise/observe/observed_blocks.hpp>
#include <heapwise/pool.hpp>
#include <heapwise/pool_options.hpp>
#include <heapwise/sanitized.hpp>
#include <heapwise/source/huge_blocks.hpp>
#include <heapwise/source/node_blocks.hpp>
#include <heapwise/source/resource_blocks.hpp>
#include <heapwise/thread/lock_free.hpp>
#include <heapwise/thread/locked.hpp>
#include <heapwise/thread/thread_cached.hpp>
#include <heapwise/thread/unsynchronized.hpp>
#include <heapwise/typed_pool.hpp>
