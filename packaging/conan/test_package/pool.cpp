#include <cstdio>
#include <heapwise/heapwise.hpp>

struct point {
  double x, y;
};

int main() {
  heapwise::typed_pool<point, heapwise::pool<heapwise::thread_cached>> points{1000};
  point* const made = points.construct(3.0, 4.0);
  const double sum = made->x + made->y;
  std::printf("pool: %.0f, %s\n", sum, points.destroy(made) ? "freed" : "refused");
}
