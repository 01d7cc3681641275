#include "harness/options.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <vector>

using namespace heapwise::bench;

namespace {

const experiment question{
    .id = "family/name",
    .question = "?",
    .isolates = "",
    .not_shown = "",
    .parameters = {{"count", "how many", {100, 200}, {5}},
                   {"size", "bytes", {64}, {}, "bytes", 8},
                   {"rate", "per second", {0.5}, {0.25}, "", 0},
                   {"order", "of blocks", {"address"}, {"address", "random"}}},
    .quantities = {{"q", "ns/op"}},
    .subjects = {{"one", "One", [](cell&) {}}, {"two", "Two", nullptr, "not here"}},
    .baseline = "one",
    .repeats = 7,
};

options read(std::initializer_list<const char*> arguments) {
  std::vector<char*> argv{const_cast<char*>("program")};
  for (const char* argument : arguments) argv.push_back(const_cast<char*>(argument));
  return read_options(question, static_cast<int>(argv.size()), argv.data());
}

} // namespace

TEST_CASE("without settings a cell takes the first default of each parameter") {
  const options chosen = read({"--subject", "one"});
  CHECK(chosen.subject->name == "one");
  CHECK(chosen.repeats == 7);
  REQUIRE(chosen.settings.size() == 4);
  CHECK(chosen.settings[0] == value{100});
  CHECK(chosen.settings[2] == value{0.5});
  CHECK(chosen.settings[3] == value{"address"});
}

TEST_CASE("smoke takes the smoke values where there are any, and fewer repeats") {
  const options chosen = read({"--subject", "one", "--smoke"});
  CHECK(chosen.settings[0] == value{5});
  CHECK(chosen.settings[1] == value{64});
  CHECK(chosen.repeats == 2);
}

TEST_CASE("settings keep the type of their parameter, in any order of the options") {
  const options chosen =
      read({"--set", "count=9", "--set", "rate=2", "--set", "order=random", "--repeats", "3",
            "--seed", "18446744073709551615", "--smoke", "--subject", "two"});
  CHECK(chosen.settings[0] == value{9});
  CHECK(chosen.settings[2] == value{2.0});
  CHECK(chosen.settings[3] == value{"random"});
  CHECK(chosen.repeats == 3);
  CHECK(chosen.seed == UINT64_MAX);
  CHECK(chosen.subject->name == "two");
}

TEST_CASE("a text may be what is listed, or what its parameter has as defaults and smoke values") {
  using words = std::vector<std::string_view>;
  CHECK(choices_of(question.parameters.back()) == words{"address", "random"});
  CHECK(choices_of({"order", "", {"address"}, {}, "", 1, {"address", "random"}}) ==
        words{"address", "random"});
}

TEST_CASE("questions about the experiment need no subject") {
  CHECK(read({"--describe"}).verb == options::verb::describe);
  CHECK(read({"--list-subjects"}).verb == options::verb::list_subjects);
}

TEST_CASE("an option that cannot be understood is refused") {
  const std::initializer_list<std::initializer_list<const char*>> wrong{
      {},
      {"--subject"},
      {"--subject", "three"},
      {"--subject", "one", "--set", "count"},
      {"--subject", "one", "--set", "count="},
      {"--subject", "one", "--set", "count=0"},
      {"--subject", "one", "--set", "count=1.5"},
      {"--subject", "one", "--set", "count=9x"},
      {"--subject", "one", "--set", "count=99999999999999999999"},
      {"--subject", "one", "--set", "size=7"},
      {"--subject", "one", "--set", "rate=-1"},
      {"--subject", "one", "--set", "rate=nan"},
      {"--subject", "one", "--set", "rate=inf"},
      {"--subject", "one", "--set", "order=sideways"},
      {"--subject", "one", "--set", "colour=red"},
      {"--subject", "one", "--repeats", "0"},
      {"--subject", "one", "--seed", "-1"},
      {"--subject", "one", "--quiet-ns", "soon"},
      {"--subject", "one", "--patience-ms", "-1"},
      {"--subject", "one", "--patience-ms", "4294967296"},
      {"--subject", "one", "--loud", "yes"},
      {"--subject", "one", "extra"},
  };
  for (const auto& arguments : wrong) CHECK_THROWS_AS(read(arguments), usage_error);
}

TEST_CASE("nobody waits for a core of their own unless told how long") {
  CHECK(read({"--subject", "one"}).quiet_ns == 0);
  CHECK(read({"--subject", "one"}).patience_ms == 0);
  const options chosen = read({"--subject", "one", "--quiet-ns", "41000", "--patience-ms", "250"});
  CHECK(chosen.quiet_ns == 41'000);
  CHECK(chosen.patience_ms == 250);
}

TEST_CASE("a planted cost needs the flag that says what it is for") {
  CHECK_THROWS_AS(read({"--subject", "one", "--plant-ns", "3"}), usage_error);
  CHECK_THROWS_AS(read({"--subject", "one", "--self-test", "--plant-ns", "0"}), usage_error);
  CHECK(read({"--subject", "one", "--self-test", "--plant-ns", "0.5"}).plant_ns == 0.5);
  CHECK(read({"--subject", "one", "--self-test"}).plant_ns == 0.0);
}
