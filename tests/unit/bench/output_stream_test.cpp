#include "launcher/start/stream.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

using heapwise::bench::output_stream;

TEST_CASE("one call takes a part of what fast writers have, and goes on there") {
  constexpr std::size_t all = 5 * output_stream::drained_bytes / 2;
  const int file = memfd_create("output", MFD_CLOEXEC);
  REQUIRE(ftruncate(file, static_cast<off_t>(all)) == 0);
  static output_stream stream;
  CHECK(stream.drain(file));
  CHECK(stream.bytes() == output_stream::drained_bytes);
  CHECK(stream.drain(file));
  CHECK_FALSE(stream.drain(file)); // the end
  CHECK(stream.bytes() == all);
  close(file);
}
