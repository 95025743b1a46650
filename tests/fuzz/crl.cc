// Messages of CRL's from ranks that send anything: kinds, versions and senders, in any order, to a
// region's home and to a rank that has a copy of it, while their programs use the region.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "fairlead/systems/crl/cache.h"
#include "fairlead/systems/crl/directory.h"

using namespace fairlead::crl;  // NOLINT: the functions below

namespace {

constexpr fairlead::Rank kRanks = 6;

void expect(bool condition) {
  if (!condition) std::abort();
}

struct Input {
  std::span<const std::uint8_t> left;

  std::uint8_t byte() {
    if (left.empty()) return 0;
    const std::uint8_t first = left.front();
    left = left.subspan(1);
    return first;
  }
};

// What a program at one end does, as node.cc drives it: one operation at a time, for which it
// waits.
struct Program {
  bool waits = false;
  bool works = false;

  template <class End>
  void step(End& end, bool writes, Actions& out) {
    if (waits) return;
    if (works) {
      end.end(out);
      works = false;
    } else {
      works = writes ? end.start_write(out) : end.start_read(out);
      waits = !works;
    }
  }
  // Expect: nobody is let go on who does not wait, and messages go to ranks that there are.
  void look(Actions& out, bool at_home) {
    for (const Action& action : out) {
      if (action.type == Action::Type::granted) {
        expect(waits);
        waits = false;
        works = true;
        continue;
      }
      expect(action.to < kRanks && is_for_home(action.kind) != at_home);
    }
    // To each rank at most its answer and an invalidation.
    expect(out.size() <= 2 * kRanks + 1);
    out.clear();
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Directory directory(0);
  Cache cache(0);
  Program home;
  Program remote;
  Actions out;
  for (Input input{{data, size}}; !input.left.empty();) {
    const std::uint8_t how = input.byte();
    const bool at_home = (how & 1) != 0;
    Program& program = at_home ? home : remote;
    if ((how & 2) != 0) {
      at_home ? home.step(directory, (how & 4) != 0, out) : remote.step(cache, (how & 4) != 0, out);
    } else if (!at_home && (how & 12) == 12 && !remote.waits && !remote.works) {
      cache.flush(out);
    } else {
      const auto kind = static_cast<Kind>(input.byte() % 20);  // three that there are not
      const Version version = input.byte() % 8;
      const fairlead::Rank from = 1 + input.byte() % (kRanks - 1);
      if (at_home && is_for_home(kind) && kind != Kind::map_request) {
        if (!carries_data(kind) || directory.takes_data(from, version)) {
          (void)directory.receive(from, kind, version, out);
        }
      } else if (!at_home && !is_for_home(kind) && kind != Kind::map_ack && kind != Kind::refuse) {
        if (!carries_data(kind) || cache.takes_data(version)) {
          (void)cache.receive(kind, version, out);
        }
      }
    }
    program.look(out, at_home);
  }
  return 0;
}
