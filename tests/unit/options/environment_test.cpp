#include "options/environment.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <unistd.h>

#include "contract/child.hpp"

namespace {

using contract::ending;
using contract::in_child;
using namespace heapwise::detail;

struct settings {
  bool loud = false;
  std::uint8_t helpers = 3;
  std::size_t limit = 0;
  friend bool operator==(const settings&, const settings&) = default;
};

constexpr option<settings> known[] = {
    {"LOUD", read_switch<&settings::loud>, "0 or 1"},
    {"HELPERS", read_number<&settings::helpers, std::uint8_t{2}, std::uint8_t{200}>, "2 to 200"},
    {"LIMIT_MIB", read_mib<&settings::limit>, "a number of MiB above 0"},
};

constexpr variables<settings> of_a_library{.prefix = "TOY_MALLOC_", .options = known};

using entries = std::initializer_list<const char*>;

/// Returns: how a process ends that reads an environment of these entries and wants these settings:
/// with 0 if it gets them.
ending reads(entries variables_set, const settings& wanted) {
  return in_child([&] {
    const char* list[8] = {};
    std::size_t count = 0;
    for (const char* each : variables_set) list[count++] = each;
    ::environ = const_cast<char**>(list);
    settings now;
    read_environment(of_a_library, now);
    ::_exit(now == wanted ? 0 : 1);
  });
}

/// Whether the settings are these after the entries were read, and standard error is `said`.
bool gives(entries variables_set, const settings& wanted, const std::string& said = "") {
  const ending how = reads(variables_set, wanted);
  if (how.error != said) MESSAGE(how.error);
  return how.exit_code == 0 && how.error == said;
}

std::string refused(const std::string& entry, const std::string& allowed) {
  return "heapwise: " + entry + ": no such value; it is ignored. Next: " + allowed + "\n";
}

std::string unknown(const std::string& entry) {
  return "heapwise: " + entry + ": no such option; it is ignored. Next: LOUD, HELPERS, LIMIT_MIB\n";
}

TEST_CASE("each option is read into its member, and the others keep their values") {
  CHECK(gives({}, {}));
  CHECK(gives({"TOY_MALLOC_LOUD=1"}, {.loud = true}));
  CHECK(gives({"TOY_MALLOC_HELPERS=7"}, {.helpers = 7}));
  CHECK(gives({"TOY_MALLOC_LIMIT_MIB=5", "TOY_MALLOC_LOUD=1"},
              {.loud = true, .limit = std::size_t{5} << 20}));
}

TEST_CASE("numbers are read up to their limits, and not beyond") {
  CHECK(gives({"TOY_MALLOC_HELPERS=2"}, {.helpers = 2}));
  CHECK(gives({"TOY_MALLOC_HELPERS=200"}, {.helpers = 200}));
  CHECK(gives({"TOY_MALLOC_HELPERS=0002"}, {.helpers = 2}));
  for (const char* value : {"1", "201", "256", "258", "-2", "+2", " 2", "2 ", "2.0", "0x2",
                            "18446744073709551618", "1e2"}) {
    CAPTURE(value);
    const std::string entry = std::string{"TOY_MALLOC_HELPERS="} + value;
    CHECK(gives({entry.c_str()}, {}, refused(entry, "2 to 200")));
  }
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max() >> 20;
  const std::string fits = "TOY_MALLOC_LIMIT_MIB=" + std::to_string(most);
  CHECK(gives({fits.c_str()}, {.limit = most << 20}));
  const std::string beyond = "TOY_MALLOC_LIMIT_MIB=" + std::to_string(most + 1);
  CHECK(gives({beyond.c_str()}, {}, refused(beyond, "a number of MiB above 0")));
  CHECK(gives({"TOY_MALLOC_LIMIT_MIB=0"}, {},
              refused("TOY_MALLOC_LIMIT_MIB=0", "a number of MiB above 0")));
}

TEST_CASE("an empty value is refused") {
  CHECK(gives({"TOY_MALLOC_LOUD="}, {}, refused("TOY_MALLOC_LOUD=", "0 or 1")));
  CHECK(gives({"TOY_MALLOC_HELPERS="}, {}, refused("TOY_MALLOC_HELPERS=", "2 to 200")));
  CHECK(gives({"TOY_MALLOC_LIMIT_MIB="}, {},
              refused("TOY_MALLOC_LIMIT_MIB=", "a number of MiB above 0")));
}

TEST_CASE("an unknown name with the library's prefix is refused with the names that there are") {
  for (const char* entry : {"TOY_MALLOC_LOUDER=1", "TOY_MALLOC_LOU=1", "TOY_MALLOC_loud=1",
                            "TOY_MALLOC_=1", "TOY_MALLOC_TOY_MALLOC_LOUD=1"}) {
    CAPTURE(entry);
    CHECK(gives({entry}, {}, unknown(entry)));
  }
}

TEST_CASE("variables with other prefixes, and entries that are not variables, are passed over") {
  CHECK(gives({"TOY_GC_LOUD=1", "TOY_STORE=/s", "TOY_=1", "TOY_MALLOC=1", "OTHER=TOY_MALLOC_X=1",
               "XTOY_MALLOC_LOUD=1"},
              {}, ""));
  CHECK(gives({"TOY_MALLOC_LOUD", "", "=", "=TOY_MALLOC_LOUD=1", "TOY_LOUD"}, {}, ""));
  CHECK(gives({"TOY_LOUD=1"}, {}));
}

TEST_CASE("the line about a long name and a long value is whole") {
  const std::string entry = "TOY_MALLOC_" + std::string(5000, 'n') + "=" + std::string(5000, 'v');
  CHECK(gives({entry.c_str()}, {},
              unknown("TOY_MALLOC_" + std::string(89, 'n') + "=" + std::string(100, 'v'))));
}

TEST_CASE("a process without an environment has the defaults") {
  const ending how = in_child([] {
    ::environ = nullptr;
    settings now;
    read_environment(of_a_library, now);
    ::_exit(now == settings{} ? 0 : 1);
  });
  CHECK(how.exit_code == 0);
  CHECK(how.error.empty());
}

} // namespace
