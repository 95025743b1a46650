// Exceptions, virtual functions, containers and format: none of it is writable shared state.
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {
struct Shape {
  virtual ~Shape() = default;
  virtual int corners() const = 0;
};
struct Square : Shape {
  int corners() const override { return 4; }
};
const std::string& fail() { throw std::runtime_error("caught"); }
}  // namespace

int main() {
  std::vector<std::unique_ptr<Shape>> shapes;
  shapes.push_back(std::make_unique<Square>());
  try {
    fail();
  } catch (const std::exception& failure) {
    std::printf("%s with %d corners\n", failure.what(), shapes[0]->corners());
  }
  return shapes[0]->corners();
}
