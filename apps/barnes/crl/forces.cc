#include "apps/barnes/crl/forces.h"

#include <utility>

#include "fairlead/run/fairlead.h"

namespace barnes {

using fairlead::crl::read_guard;

// What is visited is in the caches, where the body before has brought it: no memory is declared.
void Forces::declare_work() {
  const std::uint64_t before = std::exchange(declared_, walk_.operations());
  if (fairlead_work != nullptr) fairlead_work(declared_ - before, 0, 0);
}

Vector Forces::on(crl_rid_t id, crl_rid_t root) {
  const Vector at = [&] {
    const read_guard<Body> own(mapped_.body(id));
    return own->position;
  }();
  walk_.begin(at, root);
  for (Walk<crl_rid_t>::Item item{}; walk_.next(&item);) {
    if (item.id == id) continue;
    if (item.is_body) {
      const read_guard<Body> other(mapped_.body(item.id));
      walk_.add_body(*other);
    } else {
      const read_guard<Cell> cell(mapped_.cell(item.id));
      walk_.visit(*cell);
    }
    if (walk_.visits() % kDeclareEvery == 0) declare_work();
  }
  declare_work();
  return walk_.force();
}

}  // namespace barnes
