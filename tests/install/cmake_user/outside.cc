// A program outside the tree: uses public headers and one symbol of the shared library.
#include <fmt/format.h>

#include "fairlead/base/check.h"
#include "fairlead/base/units.h"

int main() {
  fairlead::set_check_context(nullptr);
  const fairlead::Ps byte_time =
      fairlead::time_for(fairlead::Bytes{1}, fairlead::BytesPerSec{160'000'000});
  fmt::print("outside: {} ns\n", fairlead::to_us(byte_time) * 1e3);
}
