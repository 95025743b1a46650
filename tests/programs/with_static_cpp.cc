// A variable that only one function sees is shared all the same.
#include <cstdio>

namespace solver {
int next_id() {
  static int last_id = 0;
  return ++last_id;
}
}  // namespace solver

int main() { return solver::next_id() == 1 ? 0 : 1; }
