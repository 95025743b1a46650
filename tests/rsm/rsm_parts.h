// What tests of RSMAPI begin with: memory that is exported, and the same segments on all ranks.
#pragma once
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "fairlead/systems/rsm/rsmapi.h"
#include "tests/port/port_worlds.h"

// Expects a code of rsmapi.h.
#define RSM_EXPECT(call, code, port) \
  ::fairlead::port_test::expect_code(call, code, #call, (port).self())

namespace fairlead::port_test {

inline bool expect_code(int got, int wanted, const char* what, Rank rank) {
  if (got != wanted) {
    std::fprintf(stderr, "rank %u: %s returned %s, not %s\n", rank, what, rsm_error_name(got),
                 rsm_error_name(wanted));
  }
  return got == wanted;
}

inline std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

// Zeroed whole pages.
class Pages {
 public:
  explicit Pages(std::size_t count)
      : bytes_(count * page_bytes()),
        at_(static_cast<unsigned char*>(std::aligned_alloc(page_bytes(), bytes_))) {
    std::memset(at_, 0, bytes_);
  }
  ~Pages() { std::free(at_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  unsigned char* at() const { return at_; }
  std::uint64_t* words() const { return reinterpret_cast<std::uint64_t*>(at_); }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
  unsigned char* at_;
};

// A segment per rank: its id tells whose it is, also where ranks share a node.
inline rsm_memseg_id_t id_of(unsigned rank, unsigned which = 0) {
  return RSM_USER_APP_ID_BASE + 64 * which + rank;
}

// One rank's controller and exported memory.
struct Exporter {
  explicit Exporter(lci::Port& of, std::size_t pages = 4) : port(of), memory(pages) {
    char name[] = "fl0";
    good = RSM_EXPECT(rsm_get_controller(name, &controller), RSM_SUCCESS, port);
  }
  bool publish(unsigned which = 0, rsmapi_access_entry_t* list = nullptr, unsigned length = 0) {
    rsm_memseg_id_t id = id_of(port.self(), which);
    return RSM_EXPECT(
               rsm_memseg_export_create(controller, &segment, memory.at(), memory.bytes(), flags),
               RSM_SUCCESS, port) &&
           RSM_EXPECT(rsm_memseg_export_publish(segment, &id, list, length), RSM_SUCCESS, port);
  }
  // Connects to `rank`, whose segment is there.
  int connect(unsigned rank, rsm_permission_t mode, rsm_memseg_import_handle_t* import,
              unsigned which = 0) const {
    return rsm_memseg_import_connect(controller, rsm_node_of(rank), id_of(rank, which), mode,
                                     import);
  }

  lci::Port& port;
  Pages memory;
  rsmapi_controller_handle_t controller = nullptr;
  rsm_memseg_export_handle_t segment = nullptr;
  unsigned flags = RSM_ALLOW_REBIND;
  bool good = false;
};

}  // namespace fairlead::port_test
