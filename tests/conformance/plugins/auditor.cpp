// A library for LD_AUDIT: the loader gives it a copy of the C library of its own and calls it
// before anything else runs, and between.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <link.h>

namespace {

void* last = nullptr;

void churn(std::size_t size) {
  std::free(last);
  last = std::malloc(size);
  if (last != nullptr) std::memset(last, 1, size);
}

} // namespace

extern "C" {

unsigned la_version(unsigned version) {
  churn(5000);
  return version < LAV_CURRENT ? version : LAV_CURRENT;
}

unsigned la_objopen(link_map*, Lmid_t, std::uintptr_t*) {
  churn(100);
  return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

void la_activity(std::uintptr_t*, unsigned) { churn(200'000); }
}
