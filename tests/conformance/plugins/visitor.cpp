// A library that is loaded while the program runs: which malloc does it see, and do its blocks go
// back to where they came from?
#include "functions.hpp"

#include <string>

extern "C" {

const conformance::function* visitor_functions() { return conformance::functions(); }

void* visitor_allocate(std::size_t size) { return std::malloc(size); }

void visitor_free(void* block) { std::free(block); }

std::string* visitor_string() { return new std::string(1000, 'v'); }
}
