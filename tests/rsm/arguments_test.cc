// What RSMAPI answers to arguments that cannot be right: tables of calls and their documented
// codes, on a few worlds, as the library itself looks at them.
#include "tests/rsm/rsm_parts.h"

namespace fairlead::port_test {
namespace {

class RsmArguments : public PerWorld {};
INSTANTIATE_PORT_TESTS_IN(RsmArguments, ::testing::Values("loop", "shm", "udp", "generic-hca"));

// A made-up handle of each kind.
template <class Handle>
Handle made_up(std::uintptr_t value = 0xdeadbeef) {
  return reinterpret_cast<Handle>(value);
}

bool controllers(lci::Port& port, rsmapi_controller_handle_t held) {
  rsmapi_controller_handle_t other = nullptr;
  rsmapi_controller_attr_t attr;
  char good_name[] = "loopback";
  char bad_name[] = "sci0";
  bool good = RSM_EXPECT(rsm_get_controller(bad_name, &other), RSMERR_CTLR_NOT_PRESENT, port);
  good &= RSM_EXPECT(rsm_get_controller(nullptr, &other), RSMERR_BAD_ADDR, port);
  good &= RSM_EXPECT(rsm_get_controller(good_name, nullptr), RSMERR_BAD_ADDR, port);
  good &= RSM_EXPECT(rsm_get_controller_attr(held, nullptr), RSMERR_BAD_ADDR, port);
  good &= RSM_EXPECT(rsm_get_controller_attr(held, &attr), RSM_SUCCESS, port);
  good &= PORT_TEST_CHECK(attr.attr_page_size == page_bytes(), port, 0);
  good &= PORT_TEST_CHECK((attr.attr_atomic_sizes & RSM_DAS64) != 0, port, 0);
  // Expect: a controller is released as often as it was got
  for (int i = 0; i < 2; ++i) {
    good &= RSM_EXPECT(rsm_get_controller(good_name, &other), RSM_SUCCESS, port);
  }
  good &= RSM_EXPECT(rsm_release_controller(other), RSM_SUCCESS, port);
  good &= RSM_EXPECT(rsm_get_controller_attr(other, &attr), RSM_SUCCESS, port);
  good &= RSM_EXPECT(rsm_release_controller(other), RSM_SUCCESS, port);
  for (const auto none : {other, made_up<rsmapi_controller_handle_t>(), decltype(other){}}) {
    good &= RSM_EXPECT(rsm_release_controller(none), RSMERR_BAD_CTLR_HNDL, port);
    good &= RSM_EXPECT(rsm_get_controller_attr(none, &attr), RSMERR_BAD_CTLR_HNDL, port);
  }
  rsm_topology_t* topology = nullptr;
  good &= RSM_EXPECT(rsm_get_interconnect_topology(nullptr), RSMERR_BAD_TOPOLOGY_PTR, port);
  good &= RSM_EXPECT(rsm_get_interconnect_topology(&topology), RSM_SUCCESS, port);
  if (topology == nullptr) return false;
  // Expect: every node of the job is connected, this one included
  good &= PORT_TEST_CHECK(topology->topology_hdr.local_nodeid == rsm_node_of(port.self()), port, 0);
  const rsm_connections_t& all = *topology->connections[0];
  good &= PORT_TEST_CHECK(std::strcmp(all.hdr.cntlr_name, "fl0") == 0, port, 0);
  bool has_other = false;
  for (int i = 0; i < all.hdr.remote_cntlr_count; ++i) {
    good &= PORT_TEST_CHECK(all.remote_cntlr[i].connection_state == RSM_CONNECTION_ACTIVE, port, i);
    has_other |= all.remote_cntlr[i].remote_nodeid == rsm_node_of(1 - port.self());
  }
  good &= PORT_TEST_CHECK(has_other, port, all.hdr.remote_cntlr_count);
  rsm_free_interconnect_topology(topology);
  rsm_free_interconnect_topology(nullptr);
  return good;
}

bool creation(const Exporter& mine) {
  lci::Port& port = mine.port;
  const std::size_t page = page_bytes();
  unsigned char* const at = mine.memory.at();
  rsm_memseg_export_handle_t made = nullptr;
  struct Row {
    rsmapi_controller_handle_t controller;
    rsm_memseg_export_handle_t* handle;
    void* address;
    std::size_t length;
    int code;
  };
  const Row rows[] = {
      {made_up<rsmapi_controller_handle_t>(), &made, at, page, RSMERR_BAD_CTLR_HNDL},
      {nullptr, &made, at, page, RSMERR_BAD_CTLR_HNDL},
      {mine.controller, nullptr, at, page, RSMERR_BAD_SEG_HNDL},
      {mine.controller, &made, nullptr, page, RSMERR_BAD_ADDR},
      {mine.controller, &made, at + 8, page, RSMERR_BAD_MEM_ALIGNMENT},
      {mine.controller, &made, at, 0, RSMERR_BAD_LENGTH},
      {mine.controller, &made, at, page + 1, RSMERR_BAD_LENGTH},
      {mine.controller, &made, at, std::size_t{1} << 50, RSMERR_BAD_LENGTH},
      {mine.controller, &made, made_up<void*>(page), page, RSMERR_BAD_ADDR},
      {mine.controller, &made, at, page, RSM_SUCCESS},
  };
  bool good = true;
  for (const Row& row : rows) {
    good &=
        RSM_EXPECT(rsm_memseg_export_create(row.controller, row.handle, row.address, row.length, 0),
                   row.code, port);
  }
  // Expect: what was not created for it is not bound to other memory
  good &= RSM_EXPECT(rsm_memseg_export_rebind(made, at, 0, page), RSMERR_REBIND_NOT_ALLOWED, port);
  good &= RSM_EXPECT(rsm_memseg_export_unpublish(made), RSMERR_SEG_NOT_PUBLISHED, port);
  good &= RSM_EXPECT(rsm_memseg_export_republish(made, nullptr, 0), RSMERR_SEG_NOT_PUBLISHED, port);
  pollfd fd;
  good &= RSM_EXPECT(rsm_memseg_get_pollfd(made, &fd), RSMERR_SEG_NOT_PUBLISHED, port);
  good &= RSM_EXPECT(rsm_memseg_export_destroy(made), RSM_SUCCESS, port);
  for (const auto none : {made, made_up<rsm_memseg_export_handle_t>(), decltype(made){}}) {
    rsm_memseg_id_t id = 0;
    good &= RSM_EXPECT(rsm_memseg_export_destroy(none), RSMERR_BAD_SEG_HNDL, port);
    good &= RSM_EXPECT(rsm_memseg_export_unpublish(none), RSMERR_BAD_SEG_HNDL, port);
    good &= RSM_EXPECT(rsm_memseg_export_republish(none, nullptr, 0), RSMERR_BAD_SEG_HNDL, port);
    good &= RSM_EXPECT(rsm_memseg_export_publish(none, &id, nullptr, 0), RSMERR_BAD_SEG_HNDL, port);
    good &= RSM_EXPECT(rsm_memseg_export_rebind(none, at, 0, page), RSMERR_BAD_SEG_HNDL, port);
    good &= RSM_EXPECT(rsm_intr_signal_post(none, 0), RSMERR_BAD_SEG_HNDL, port);
    good &= RSM_EXPECT(rsm_intr_signal_wait(none, 0), RSMERR_BAD_SEG_HNDL, port);
    good &= RSM_EXPECT(rsm_memseg_get_pollfd(none, &fd), RSMERR_BAD_SEG_HNDL, port);
    good &= RSM_EXPECT(rsm_memseg_release_pollfd(none), RSMERR_BAD_SEG_HNDL, port);
  }
  return good;
}

bool publication(const Exporter& mine) {
  lci::Port& port = mine.port;
  rsm_memseg_export_handle_t made = nullptr;
  bool good = RSM_EXPECT(rsm_memseg_export_create(mine.controller, &made, mine.memory.at(),
                                                  page_bytes(), RSM_ALLOW_REBIND),
                         RSM_SUCCESS, port);
  rsmapi_access_entry_t no_node[] = {{1000, RSM_PERM_READ}};
  rsmapi_access_entry_t no_bits[] = {{0, 01000}};
  struct Row {
    rsm_memseg_id_t id;
    rsmapi_access_entry_t* list;
    unsigned length;
    int code;
  };
  const Row rows[] = {
      {1, nullptr, 0, RSMERR_RESERVED_SEGID},
      {RSM_DRIVER_PRIVATE_ID_END, nullptr, 0, RSMERR_RESERVED_SEGID},
      {id_of(port.self(), 1), no_node, 1, RSMERR_BAD_ACL},
      {id_of(port.self(), 1), no_bits, 1, RSMERR_BAD_ACL},
      {id_of(port.self(), 1), nullptr, 1, RSMERR_BAD_ACL},
      {id_of(port.self(), 1), nullptr, 0, RSM_SUCCESS},
      {id_of(port.self(), 1), nullptr, 0, RSMERR_SEG_ALREADY_PUBLISHED},
  };
  for (const Row& row : rows) {
    rsm_memseg_id_t id = row.id;
    good &= RSM_EXPECT(rsm_memseg_export_publish(made, &id, row.list, row.length), row.code, port);
  }
  // Expect: an id of the node is one segment's
  rsm_memseg_export_handle_t second = nullptr;
  rsm_memseg_id_t id = id_of(port.self(), 1);
  good &= RSM_EXPECT(
      rsm_memseg_export_create(mine.controller, &second, mine.memory.at(), page_bytes(), 0),
      RSM_SUCCESS, port);
  good &= RSM_EXPECT(rsm_memseg_export_publish(second, nullptr, nullptr, 0), RSMERR_BAD_ADDR, port);
  good &= RSM_EXPECT(rsm_memseg_export_publish(second, &id, nullptr, 0), RSMERR_SEGID_IN_USE, port);
  good &= RSM_EXPECT(rsm_memseg_export_republish(made, no_node, 1), RSMERR_BAD_ACL, port);
  good &= RSM_EXPECT(rsm_memseg_export_destroy(made), RSM_SUCCESS, port);
  good &= RSM_EXPECT(rsm_memseg_export_publish(second, &id, nullptr, 0), RSM_SUCCESS, port);
  good &= RSM_EXPECT(rsm_memseg_export_unpublish(second), RSM_SUCCESS, port);
  // Expect: 0 asks for an id that nobody has
  id = 0;
  good &= RSM_EXPECT(rsm_memseg_export_publish(second, &id, nullptr, 0), RSM_SUCCESS, port);
  good &= PORT_TEST_CHECK(id > RSM_DRIVER_PRIVATE_ID_END, port, id);
  good &= RSM_EXPECT(rsm_memseg_export_destroy(second), RSM_SUCCESS, port);
  return good;
}

TEST_P(RsmArguments, of_controllers_and_exports_are_looked_at) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    Exporter mine(rank.port());
    bool good = mine.good;
    good &= controllers(rank.port(), mine.controller);
    good &= creation(mine);
    good &= publication(mine);
    rsm_exit();
    // Expect: nothing after the end
    good &=
        RSM_EXPECT(rsm_release_controller(mine.controller), RSMERR_CTLR_NOT_PRESENT, rank.port());
    return good;
  });
}

bool connections(const Exporter& mine) {
  lci::Port& port = mine.port;
  const unsigned peer = 1 - port.self();
  rsm_memseg_import_handle_t made = nullptr;
  struct Row {
    rsmapi_controller_handle_t controller;
    rsm_node_id_t node;
    rsm_memseg_id_t id;
    rsm_permission_t perm;
    int code;
  };
  const rsm_node_id_t node = rsm_node_of(peer);
  const Row rows[] = {
      {nullptr, node, id_of(peer), RSM_PERM_READ, RSMERR_BAD_CTLR_HNDL},
      {mine.controller, 1000, id_of(peer), RSM_PERM_READ, RSMERR_REMOTE_NODE_UNREACHABLE},
      {mine.controller, node, 0, RSM_PERM_READ, RSMERR_BAD_SEGID},
      {mine.controller, node, 77, RSM_PERM_READ, RSMERR_RESERVED_SEGID},
      {mine.controller, node, id_of(peer, 9), RSM_PERM_READ, RSMERR_SEG_NOT_PUBLISHED},
      {mine.controller, node, id_of(peer), RSM_PERM_NONE, RSMERR_PERM_DENIED},
      {mine.controller, node, id_of(peer), 0777, RSMERR_PERM_DENIED},
      {mine.controller, node, id_of(peer), RSM_PERM_READ, RSM_SUCCESS},
  };
  bool good = true;
  for (const Row& row : rows) {
    good &= RSM_EXPECT(rsm_memseg_import_connect(row.controller, row.node, row.id, row.perm, &made),
                       row.code, port);
  }
  good &= RSM_EXPECT(
      rsm_memseg_import_connect(mine.controller, node, id_of(peer), RSM_PERM_READ, nullptr),
      RSMERR_BAD_ADDR, port);
  good &= RSM_EXPECT(rsm_memseg_import_disconnect(made), RSM_SUCCESS, port);
  unsigned char byte = 0;
  rsm_barrier_mode_t mode;
  rsmapi_barrier_t barrier = {};
  void* address = nullptr;
  for (const auto none : {made, made_up<rsm_memseg_import_handle_t>(), decltype(made){}}) {
    good &= RSM_EXPECT(rsm_memseg_import_disconnect(none), RSMERR_BAD_SEG_HNDL, port);
    good &= RSM_EXPECT(rsm_memseg_import_put(none, 0, &byte, 1), RSMERR_BAD_SEG_HNDL, port);
    good &= RSM_EXPECT(rsm_memseg_import_get8(none, 0, &byte, 1), RSMERR_BAD_SEG_HNDL, port);
    good &= RSM_EXPECT(rsm_memseg_import_unmap(none), RSMERR_BAD_SEG_HNDL, port);
    good &= RSM_EXPECT(
        rsm_memseg_import_map(none, &address, RSM_MAP_NONE, RSM_PERM_READ, 0, page_bytes()),
        RSMERR_BAD_SEG_HNDL, port);
    good &= RSM_EXPECT(rsm_memseg_import_get_mode(none, &mode), RSMERR_BAD_SEG_HNDL, port);
    good &= RSM_EXPECT(rsm_memseg_import_set_mode(none, RSM_BARRIER_MODE_EXPLICIT),
                       RSMERR_BAD_SEG_HNDL, port);
    good &= RSM_EXPECT(rsm_memseg_import_init_barrier(none, RSM_BAR_DEFAULT, &barrier),
                       RSMERR_BAD_SEG_HNDL, port);
  }
  return good;
}

bool accesses(const Exporter& mine) {
  lci::Port& port = mine.port;
  rsm_memseg_import_handle_t import = nullptr;
  rsm_memseg_import_handle_t reads = nullptr;
  bool good = RSM_EXPECT(mine.connect(1 - port.self(), RSM_PERM_RDWR, &import), RSM_SUCCESS, port);
  good &= RSM_EXPECT(mine.connect(1 - port.self(), RSM_PERM_READ, &reads), RSM_SUCCESS, port);
  alignas(8) unsigned char data[32] = {};
  auto* const odd = reinterpret_cast<std::uint16_t*>(data + 1);
  auto* const even = reinterpret_cast<std::uint64_t*>(data);
  // Expect: no barrier, no access in implicit mode
  good &= RSM_EXPECT(rsm_memseg_import_put(import, 0, data, 8), RSMERR_BARRIER_UNINITIALIZED, port);
  rsmapi_barrier_t barrier;
  rsmapi_barrier_t of_reads;
  good &= RSM_EXPECT(rsm_memseg_import_init_barrier(import, RSM_BAR_DEFAULT, &barrier), RSM_SUCCESS,
                     port);
  good &= RSM_EXPECT(rsm_memseg_import_init_barrier(reads, RSM_BAR_DEFAULT, &of_reads), RSM_SUCCESS,
                     port);
  const auto end = static_cast<off_t>(mine.memory.bytes());
  struct Row {
    int got;
    int code;
  };
  const Row rows[] = {
      {rsm_memseg_import_put(import, 0, nullptr, 8), RSMERR_BAD_ADDR},
      {rsm_memseg_import_get(import, 0, nullptr, 8), RSMERR_BAD_ADDR},
      {rsm_memseg_import_put(import, -1, data, 8), RSMERR_BAD_OFFSET},
      {rsm_memseg_import_put(import, end, data, 1), RSMERR_BAD_OFFSET},
      {rsm_memseg_import_get(import, end + 100, data, 1), RSMERR_BAD_OFFSET},
      {rsm_memseg_import_put(import, end - 8, data, 9), RSMERR_BAD_LENGTH},
      {rsm_memseg_import_put(import, 0, data, 0), RSMERR_BAD_LENGTH},
      {rsm_memseg_import_put64(import, 0, even, ~0ul), RSMERR_BAD_LENGTH},
      {rsm_memseg_import_put64(import, 8, even, 1ul << 61), RSMERR_BAD_LENGTH},
      {rsm_memseg_import_put16(import, 0, odd, 1), RSMERR_BAD_MEM_ALIGNMENT},
      {rsm_memseg_import_put64(import, 4, even, 1), RSMERR_MISALIGNED_OFFSET},
      {rsm_memseg_import_get64(import, 4, even, 1), RSMERR_MISALIGNED_OFFSET},
      {rsm_memseg_import_put(reads, 0, data, 8), RSMERR_PERM_DENIED},
      {rsm_memseg_import_get(reads, end - 8, data, 8), RSM_SUCCESS},
      {rsm_memseg_import_get_mode(import, nullptr), RSMERR_BAD_ADDR},
  };
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    good &= PORT_TEST_CHECK(rows[i].got == rows[i].code, port, static_cast<long long>(i));
  }
  rsm_scat_gath_t list = {};
  rsm_iovec_t entries[RSM_MAX_SGIOREQS + 1] = {};
  good &= RSM_EXPECT(rsm_memseg_import_putv(nullptr), RSMERR_BAD_SGIO, port);
  list.remote_handle = import;
  list.iovec = entries;
  for (const unsigned long count : {0ul, RSM_MAX_SGIOREQS + 1ul}) {
    list.io_request_count = count;
    good &= RSM_EXPECT(rsm_memseg_import_putv(&list), RSMERR_BAD_SGIO, port);
    good &= RSM_EXPECT(rsm_memseg_import_getv(&list), RSMERR_BAD_SGIO, port);
  }
  list.io_request_count = 1;
  good &= RSM_EXPECT(rsm_memseg_import_putv(&list), RSMERR_BAD_SGIO, port);
  entries[0].io_type = RSM_VA_TYPE;
  good &= RSM_EXPECT(rsm_memseg_import_putv(&list), RSMERR_BAD_ADDR, port);
  list.remote_handle = made_up<rsm_memseg_import_handle_t>();
  good &= RSM_EXPECT(rsm_memseg_import_putv(&list), RSMERR_BAD_SEG_HNDL, port);
  return good;
}

bool barriers(const Exporter& mine) {
  lci::Port& port = mine.port;
  rsm_memseg_import_handle_t import = nullptr;
  bool good = RSM_EXPECT(mine.connect(1 - port.self(), RSM_PERM_RDWR, &import), RSM_SUCCESS, port);
  rsmapi_barrier_t barrier = {};
  good &= RSM_EXPECT(rsm_memseg_import_open_barrier(nullptr), RSMERR_BAD_BARRIER_PTR, port);
  good &= RSM_EXPECT(rsm_memseg_import_close_barrier(nullptr), RSMERR_BAD_BARRIER_PTR, port);
  good &= RSM_EXPECT(rsm_memseg_import_open_barrier(&barrier), RSMERR_BAD_BARRIER_PTR, port);
  good &= RSM_EXPECT(rsm_memseg_import_close_barrier(&barrier), RSMERR_BARRIER_UNINITIALIZED, port);
  good &= RSM_EXPECT(rsm_memseg_import_order_barrier(&barrier), RSMERR_BARRIER_UNINITIALIZED, port);
  good &= RSM_EXPECT(rsm_memseg_import_destroy_barrier(&barrier), RSMERR_BAD_BARRIER_PTR, port);
  good &= RSM_EXPECT(
      rsm_memseg_import_init_barrier(import, static_cast<rsm_barrier_type_t>(3), &barrier),
      RSMERR_BAD_BARRIER_PTR, port);
  good &= RSM_EXPECT(rsm_memseg_import_init_barrier(import, RSM_BAR_DEFAULT, nullptr),
                     RSMERR_BAD_BARRIER_PTR, port);
  good &= RSM_EXPECT(rsm_memseg_import_init_barrier(import, RSM_BAR_DEFAULT, &barrier), RSM_SUCCESS,
                     port);
  good &= RSM_EXPECT(rsm_memseg_import_close_barrier(&barrier), RSMERR_BARRIER_NOT_OPENED, port);
  good &= RSM_EXPECT(rsm_memseg_import_order_barrier(&barrier), RSMERR_BARRIER_NOT_OPENED, port);
  good &= RSM_EXPECT(rsm_memseg_import_open_barrier(&barrier), RSM_SUCCESS, port);
  good &= RSM_EXPECT(rsm_memseg_import_order_barrier(&barrier), RSM_SUCCESS, port);
  good &= RSM_EXPECT(rsm_memseg_import_close_barrier(&barrier), RSM_SUCCESS, port);
  // Expect: closed once
  good &= RSM_EXPECT(rsm_memseg_import_close_barrier(&barrier), RSMERR_BARRIER_NOT_OPENED, port);
  // Expect: a barrier goes with its connection
  good &= RSM_EXPECT(rsm_memseg_import_open_barrier(&barrier), RSM_SUCCESS, port);
  good &= RSM_EXPECT(rsm_memseg_import_disconnect(import), RSM_SUCCESS, port);
  good &= RSM_EXPECT(rsm_memseg_import_close_barrier(&barrier), RSMERR_BAD_SEG_HNDL, port);
  good &= RSM_EXPECT(rsm_memseg_import_destroy_barrier(&barrier), RSMERR_BAD_SEG_HNDL, port);
  good &= RSM_EXPECT(rsm_memseg_import_destroy_barrier(&barrier), RSMERR_BAD_BARRIER_PTR, port);
  return good;
}

bool local_memory(const Exporter& mine) {
  lci::Port& port = mine.port;
  auto* const at = reinterpret_cast<caddr_t>(mine.memory.at());
  rsm_localmemory_handle_t made = nullptr;
  struct Row {
    rsmapi_controller_handle_t controller;
    rsm_localmemory_handle_t* handle;
    caddr_t address;
    std::size_t length;
    int code;
  };
  const Row rows[] = {
      {nullptr, &made, at, 10, RSMERR_BAD_CTLR_HNDL},
      {mine.controller, nullptr, at, 10, RSMERR_BAD_LOCALMEM_HNDL},
      {mine.controller, &made, at, 0, RSMERR_BAD_LENGTH},
      {mine.controller, &made, nullptr, 10, RSMERR_BAD_ADDR},
      {mine.controller, &made, at + 1, 10, RSMERR_BAD_ADDR},
      {mine.controller, &made, at, ~std::size_t{0}, RSMERR_BAD_ADDR},
      {mine.controller, &made, made_up<caddr_t>(page_bytes()), 10, RSMERR_BAD_ADDR},
      {mine.controller, &made, at, 10, RSM_SUCCESS},
  };
  bool good = true;
  for (const Row& row : rows) {
    good &= RSM_EXPECT(
        rsm_create_localmemory_handle(row.controller, row.handle, row.address, row.length),
        row.code, port);
  }
  good &= RSM_EXPECT(rsm_free_localmemory_handle(nullptr, made), RSMERR_BAD_CTLR_HNDL, port);
  good &= RSM_EXPECT(rsm_free_localmemory_handle(mine.controller, made), RSM_SUCCESS, port);
  good &= RSM_EXPECT(rsm_free_localmemory_handle(mine.controller, made), RSMERR_BAD_LOCALMEM_HNDL,
                     port);
  // Expect: waits on words are looked at, too
  good &= RSM_EXPECT(rsm_wait_word(nullptr, 0, 0), RSMERR_BAD_ADDR, port);
  good &= RSM_EXPECT(rsm_wait_word(reinterpret_cast<std::uint64_t*>(at + 4), 0, 0),
                     RSMERR_BAD_MEM_ALIGNMENT, port);
  return good;
}

TEST_P(RsmArguments, of_imports_are_looked_at) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    Exporter mine(rank.port());
    Meeting meeting(rank.port());
    bool good = mine.good && mine.publish() && meeting.meet();
    if (!good) return false;
    good &= connections(mine);
    good &= accesses(mine);
    good &= barriers(mine);
    good &= local_memory(mine);
    good &= meeting.meet();
    rsm_exit();
    return good;
  });
}

TEST(RsmErrorNames, are_those_of_the_header) {
  EXPECT_STREQ(rsm_error_name(RSM_SUCCESS), "RSM_SUCCESS");
  EXPECT_STREQ(rsm_error_name(42), "RSMERR_TIMEOUT");
  EXPECT_STREQ(rsm_error_name(-1), "an unknown code");
}

}  // namespace
}  // namespace fairlead::port_test
