// Objects that need the braces of older compilers, and containers of nodes. Compiled with all
// headers in front.
#include <functional>
#include <list>
#include <map>
#include <utility>

namespace {

struct point {
  double x, y;
};

} // namespace

void use_aggregates() {
  heapwise::typed_pool<point> points{{.block_count = 10}};
  points.destroy(points.construct(1.0, 2.0));
  static_cast<void>(heapwise::make_collected<point>(1.0, 2.0));
  using nodes = heapwise::node_pool<>;
  nodes list_nodes{{.block_count = 10}};
  std::list<point, heapwise::std_allocator<point, nodes>> list{list_nodes};
  list.push_back({1.0, 2.0});
  nodes map_nodes{{.block_count = 10}};
  using entry = heapwise::std_allocator<std::pair<const int, int>, nodes>;
  std::map<int, int, std::less<>, entry> map{entry{map_nodes}};
  map[1] = 2;
}
