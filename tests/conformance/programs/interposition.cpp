// B1-18: every function is the preloaded one, for everybody in the process.
#include "functions.hpp"
#include "observe.hpp"

#include <string>
#include <vector>

#include <dirent.h>
#include <netdb.h>
#include <regex.h>

namespace {

using namespace conformance;

const char* file_of(void* address) {
  Dl_info info{};
  return address != nullptr && dladdr(address, &info) != 0 ? info.dli_fname : "";
}

const char* whose(const function& each) {
  if (each.address == nullptr) return "absent";
  const char* const file = file_of(each.address);
  return std::strcmp(file, provider("malloc")) == 0 ? "malloc's library" : "another library";
}

/// The kinds of functions that a C library has at all, by a word of their names.
bool is_operator(const function& each) {
  return std::strstr(each.name, "new") != nullptr || std::strstr(each.name, "delete") != nullptr;
}

void same_library(const char* who, const function* all) {
  consensus plain;
  consensus sized;
  consensus operators;
  for (const function* each = all; each->name != nullptr; ++each) {
    consensus& kind = is_operator(*each)                             ? operators
                      : std::strstr(each->name, "_sized") != nullptr ? sized
                                                                     : plain;
    kind.add(whose(*each), "%s", each->name);
  }
  char what[96];
  const char* const ours = "malloc's library";
  std::snprintf(what, sizeof what, "library of malloc and related functions, for %s", who);
  expect("B1-18", what, plain.text(), ours);
  std::snprintf(what, sizeof what, "library of free_sized and free_aligned_sized, for %s", who);
  stricter("B1-18", what, sized.text(), ours, "added in C23; older C libraries lack it");
  std::snprintf(what, sizeof what, "library of operators new and delete, for %s", who);
  stricter("B1-18", what, operators.text(), ours, "C and C++ get their memory from one library");
}

template <class Signature>
Signature* found(void* library, const char* name) {
  return reinterpret_cast<Signature*>(dlsym(library, name));
}

void visitor(const char* folder) {
  char path[512];
  std::snprintf(path, sizeof path, "%s/visitor.so", folder);
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    expect("B1-18", "a library is loaded", dlerror(), "yes");
    return;
  }
  same_library("a loaded library", found<const function*()>(library, "visitor_functions")());
  const auto give = found<void*(std::size_t)>(library, "visitor_allocate");
  const auto take = found<void(void*)>(library, "visitor_free");
  for (std::size_t size = 1; size < 1'000'000; size *= 3) {
    std::free(hidden(give(size)));
    take(hidden(std::malloc(size)));
  }
  delete found<std::string*()>(library, "visitor_string")();
  expect("B1-18", "blocks cross between program and library", "yes", "yes");
  dlclose(library);
}

/// Returns: the block holds that many bytes and can be freed.
bool is_whole(void* block, std::size_t bytes) {
  const bool whole = block != nullptr && malloc_usable_size(hidden(block)) >= bytes;
  std::free(block);
  return whole;
}

bool texts() {
  bool right = is_whole(strdup(hidden("a text of some length")), 22);
  char* text = nullptr;
  right = asprintf(&text, "%0*d", hidden(5000), 1) == 5000 && is_whole(text, 5001) && right;
  right = is_whole(realpath(".", nullptr), 2) && is_whole(getcwd(nullptr, 0), 2) && right;
  char* line = nullptr;
  std::size_t room = 0;
  std::FILE* const file = std::fopen("/proc/self/maps", "r");
  while (getline(&line, &room, file) > 0) {
  }
  std::fclose(file);
  right = is_whole(line, room) && right;
  char* all = nullptr;
  std::size_t length = 0;
  std::FILE* const stream = open_memstream(&all, &length);
  for (int i = 0; i < 20'000; ++i) std::fputs("word ", stream);
  std::fclose(stream);
  return is_whole(all, 100'001) && right;
}

int by_value(const void* left, const void* right) {
  const auto a = *static_cast<const unsigned*>(left);
  const auto b = *static_cast<const unsigned*>(right);
  return a < b ? -1 : a > b;
}

bool tools() {
  std::vector<unsigned> numbers(200'000);
  unsigned next = 1;
  for (unsigned& number : numbers) number = next = next * 1664525 + 1013904223;
  std::qsort(numbers.data(), numbers.size(), sizeof(unsigned), by_value);
  bool right = numbers.front() < numbers.back();
  DIR* const folder = opendir("/proc/self");
  while (readdir(folder) != nullptr) {
  }
  closedir(folder);
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* addresses = nullptr;
  right = getaddrinfo("127.0.0.1", "80", &hints, &addresses) == 0 && right;
  if (addresses != nullptr) freeaddrinfo(addresses);
  regex_t expression;
  right = regcomp(&expression, "(a|b)*c[0-9]+", REG_EXTENDED) == 0 && right;
  regfree(&expression);
  std::string* const text = hidden(new std::string(100'000, 'x'));
  right = text->append(*text).size() == 200'000 && right;
  delete text;
  return right;
}

/// The C library still has its own malloc, and can say whether anybody got memory from it.
void own_heap_of_the_c_library() {
  void* const library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  const auto information = found<struct mallinfo2()>(library, "mallinfo2");
  const struct mallinfo2 now = information();
  const bool used = now.arena + now.hblkhd > 0;
  const bool is_malloc = std::strcmp(provider("malloc"), file_of(dlsym(library, "malloc"))) == 0;
  expect("B1-18", "memory of libc and libstdc++ is of",
         used == is_malloc ? "malloc's library" : "another library", "malloc's library");
}

} // namespace

int main(int, char** arguments) {
  introduce();
  same_library("the program", functions());
  char folder[400];
  std::snprintf(folder, sizeof folder, "%s", arguments[0]);
  if (char* const slash = std::strrchr(folder, '/')) *slash = '\0';
  visitor(folder);
  expect("B1-18", "strdup, asprintf, realpath, getline, open_memstream", yes_or_no(texts()), "yes");
  expect("B1-18", "qsort, opendir, getaddrinfo, regcomp, std::string", yes_or_no(tools()), "yes");
  own_heap_of_the_c_library();
  done("B1-18");
}
