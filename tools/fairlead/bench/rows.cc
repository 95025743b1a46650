#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "fairlead/base/check.h"
#include "tools/fairlead/bench/bench.h"

namespace fairlead::tools {

struct Rows::Memory {
  std::size_t count = 0;
  std::array<Row, kRowsMax> rows{};
  std::array<double, kFiguresMax> notes{};
};

Rows::Rows() {
  void* memory =
      mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  FAIRLEAD_CHECK(memory != MAP_FAILED, "no memory for {} bytes", sizeof(Memory));
  memory_ = std::shared_ptr<Memory>(new (memory) Memory(),
                                    [](Memory* mapped) { munmap(mapped, sizeof(Memory)); });
}

void Rows::add(std::initializer_list<double> figures) {
  FAIRLEAD_CHECK(memory_->count < kRowsMax && figures.size() <= kFiguresMax, "{} rows, {} figures",
                 memory_->count, figures.size());
  std::copy(figures.begin(), figures.end(), memory_->rows[memory_->count].figures.begin());
  ++memory_->count;
}

void Rows::add(std::initializer_list<double> figures, const Parts& parts) {
  add(figures);
  if (parts.count() < 2) return;
  Row& row = memory_->rows[memory_->count - 1];
  row.spreads = true;
  row.spread = parts.spread();
}

Spread Parts::spread() const {
  if (figures_.empty()) return {};
  std::vector<double> sorted = figures_;
  std::sort(sorted.begin(), sorted.end());
  return {sorted.front(), sorted[sorted.size() / 2], sorted[(sorted.size() * 99 - 1) / 100]};
}

std::span<const Row> Rows::all() const { return {memory_->rows.data(), memory_->count}; }

double& Rows::note(std::size_t index) { return memory_->notes.at(index); }

}  // namespace fairlead::tools
