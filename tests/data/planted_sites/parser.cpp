// Parses expressions to trees of three kinds of nodes, evaluates them and ends them.
#include <cstring>
#include <string>

#include "planted.hpp"

namespace {

struct tree {
  enum { number, name, operation } kind;
};
struct number_node : tree {
  double value;
};
struct name_node : tree {
  char* text;
};
struct operation_node : tree {
  char sign;
  tree* left;
  tree* right;
};

#ifdef PLANTED
heapwise::arena trees;
void* make_number() { return trees.allocate(sizeof(number_node)); }
void* make_name() { return trees.allocate(sizeof(name_node)); }
char* make_text(std::size_t bytes) { return static_cast<char*>(trees.allocate(bytes, 1)); }
void* make_operation() { return trees.allocate(sizeof(operation_node)); }
void end_tree(tree*) { trees.reset(); }
#else
[[gnu::noinline]] void* make_number() { return ::operator new(sizeof(number_node)); }
[[gnu::noinline]] void* make_name() { return ::operator new(sizeof(name_node)); }
[[gnu::noinline]] char* make_text(std::size_t bytes) {
  return static_cast<char*>(::operator new(bytes));
}
[[gnu::noinline]] void* make_operation() { return ::operator new(sizeof(operation_node)); }
void end_tree(tree* old) {
  if (old->kind == tree::operation) {
    end_tree(static_cast<operation_node*>(old)->left);
    end_tree(static_cast<operation_node*>(old)->right);
  } else if (old->kind == tree::name) {
    ::operator delete(static_cast<name_node*>(old)->text);
  }
  ::operator delete(old);
}
#endif

tree* parse(const char*& at) {
  if (*at == '(') {
    ++at;
    auto* made = new (make_operation()) operation_node;
    made->kind = tree::operation;
    made->left = parse(at);
    made->sign = *at++;
    made->right = parse(at);
    ++at;
    return made;
  }
  const char* end = at;
  if (*at >= '0' && *at <= '9') {
    auto* made = new (make_number()) number_node;
    made->kind = tree::number;
    made->value = 0;
    while (*end >= '0' && *end <= '9') made->value = made->value * 10 + (*end++ - '0');
    at = end;
    return made;
  }
  while (*end >= 'a' && *end <= 'z') ++end;
  auto* made = new (make_name()) name_node;
  made->kind = tree::name;
  made->text = make_text(static_cast<std::size_t>(end - at) + 1);
  std::memcpy(made->text, at, static_cast<std::size_t>(end - at));
  made->text[end - at] = 0;
  at = end;
  return made;
}

double value_of(const tree* one) {
  if (one->kind == tree::number) return static_cast<const number_node*>(one)->value;
  if (one->kind == tree::name) return static_cast<const name_node*>(one)->text[0];
  const auto* both = static_cast<const operation_node*>(one);
  const double left = value_of(both->left);
  const double right = value_of(both->right);
  return both->sign == '+' ? left + right : left - right;
}

std::string expression(planted::random& numbers, int depth) {
  if (depth == 0) {
    return numbers.below(2) == 0 ? std::to_string(numbers.below(1000))
                                 : std::string(3 + numbers.below(40), 'x');
  }
  const std::string left = expression(numbers, depth - 1);
  return "(" + left + (numbers.below(2) == 0 ? "+" : "-") + expression(numbers, depth - 1) + ")";
}

} // namespace

int main(int argc, char** argv) {
  planted::noise noise;
  planted::random numbers;
  const std::string text = expression(numbers, 9);
  double sum = 0;
  const std::uint64_t steps = planted::steps(argc, argv, 1'000'000);
  for (std::uint64_t i = 0; i < steps; i += 1280) {
    const char* at = text.c_str();
    tree* parsed = parse(at);
    sum += value_of(parsed);
    end_tree(parsed);
    for (int turn = 0; turn < 60; ++turn) noise.step();
  }
  return sum == 0.5;
}
