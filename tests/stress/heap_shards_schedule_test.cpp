// The schedules of heap_schedule_test.cpp, in a heap that has up to three shards, as on a machine
// with many processors.
#include <cstdlib>

namespace {

// The heap reads its options at the first call.
const int with_shards = ::setenv("HEAPWISE_MALLOC_SHARDS", "3", 1);

} // namespace

#include "heap_schedule_test.cpp"

namespace {

TEST_CASE("there are three shards") { REQUIRE(with_shards == 0); }

} // namespace
