#include <cstdio>
#include <heapwise/heapwise.hpp>

struct point {
  double x, y;
};

int main() {
  heapwise::typed_pool<point, heapwise::pool<heapwise::thread_cached>> points{1000};
  point* const p = points.construct(3.0, 4.0);
  const double sum = p->x + p->y;
  const bool freed = points.destroy(p);
  std::printf("%.0f %s\n", sum, freed ? "freed" : "refused");
}
