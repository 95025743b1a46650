// Who may do what with a segment, and what becomes of connections when that changes.
#include "tests/rsm/rsm_parts.h"

namespace fairlead::port_test {
namespace {

class RsmGrants : public PerWorld {};
INSTANTIATE_PORT_TESTS(RsmGrants);

// A connection with a barrier, so that implicit accesses work.
struct Connection {
  rsm_memseg_import_handle_t handle = nullptr;
  rsmapi_barrier_t barrier = {};

  bool make(const Exporter& mine, unsigned rank, rsm_permission_t mode, unsigned which = 0) {
    return RSM_EXPECT(mine.connect(rank, mode, &handle, which), RSM_SUCCESS, mine.port) &&
           RSM_EXPECT(rsm_memseg_import_init_barrier(handle, RSM_BAR_DEFAULT, &barrier),
                      RSM_SUCCESS, mine.port);
  }
};

TEST_P(RsmGrants, follow_the_access_list) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Exporter mine(port);
    Meeting meeting(port);
    const unsigned peer = 1 - port.self();
    const rsm_node_id_t node = rsm_node_of(peer);
    rsmapi_access_entry_t reads[] = {{node, RSM_PERM_READ}};
    rsmapi_access_entry_t writes[] = {{node, RSM_PERM_WRITE}};
    bool good = mine.good && mine.publish(0, reads, 1) && meeting.meet();
    if (!good) return false;
    rsm_memseg_import_handle_t none = nullptr;
    Connection reader;
    Connection writer;
    good &= RSM_EXPECT(mine.connect(peer, RSM_PERM_WRITE, &none), RSMERR_PERM_DENIED, port);
    good &= RSM_EXPECT(mine.connect(peer, RSM_PERM_RDWR, &none), RSMERR_PERM_DENIED, port);
    good &= reader.make(mine, peer, RSM_PERM_READ);
    good &= meeting.meet();
    // Expect: the new list is for new connections; those there are go on
    good &= RSM_EXPECT(rsm_memseg_export_republish(mine.segment, writes, 1), RSM_SUCCESS, port);
    good &= meeting.meet();
    good &= RSM_EXPECT(mine.connect(peer, RSM_PERM_READ, &none), RSMERR_PERM_DENIED, port);
    good &= writer.make(mine, peer, RSM_PERM_WRITE);
    std::uint64_t value = 7000 + port.self();
    good &= RSM_EXPECT(rsm_memseg_import_put64(writer.handle, 8, &value, 1), RSM_SUCCESS, port);
    std::uint64_t back = 0;
    good &= RSM_EXPECT(rsm_memseg_import_get64(reader.handle, 8, &back, 1), RSM_SUCCESS, port);
    good &= PORT_TEST_CHECK(back == value, port, static_cast<long long>(back));
    good &=
        RSM_EXPECT(rsm_memseg_import_get64(writer.handle, 8, &back, 1), RSMERR_PERM_DENIED, port);
    good &= meeting.meet();
    // Expect: a list without this node lets nobody of it in
    rsmapi_access_entry_t nobody[] = {{node, RSM_PERM_NONE}};
    good &= RSM_EXPECT(rsm_memseg_export_republish(mine.segment, nobody, 1), RSM_SUCCESS, port);
    good &= meeting.meet();
    good &= RSM_EXPECT(mine.connect(peer, RSM_PERM_READ, &none), RSMERR_PERM_DENIED, port);
    good &= RSM_EXPECT(rsm_memseg_import_put64(writer.handle, 8, &value, 1), RSM_SUCCESS, port);
    good &= meeting.meet();
    rsm_exit();
    return good;
  });
}

// Rank 1 is no node of the list where it has a node of its own.
TEST_P(RsmGrants, are_by_node) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Exporter mine(port);
    Meeting meeting(port);
    rsmapi_access_entry_t own[] = {{rsm_node_of(port.self()), RSM_PERM_RDWR}};
    bool good = mine.good && mine.publish(0, own, 1) && meeting.meet();
    const bool together = rsm_node_of(0) == rsm_node_of(1);
    rsm_memseg_import_handle_t import = nullptr;
    good &= RSM_EXPECT(mine.connect(1 - port.self(), RSM_PERM_READ, &import),
                       together ? RSM_SUCCESS : RSMERR_SEG_NOT_PUBLISHED_TO_NODE, port);
    good &= RSM_EXPECT(mine.connect(port.self(), RSM_PERM_RDWR, &import), RSM_SUCCESS, port);
    good &= meeting.meet();
    rsm_exit();
    return good;
  });
}

TEST_P(RsmGrants, end_when_the_segment_is_unpublished) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Exporter mine(port);
    Meeting meeting(port);
    const unsigned peer = 1 - port.self();
    bool good = mine.good && mine.publish() && meeting.meet();
    Connection there;
    good &= there.make(mine, peer, RSM_PERM_RDWR);
    if (!good) return false;
    rsmapi_barrier_t open = {};
    good &= RSM_EXPECT(rsm_memseg_import_init_barrier(there.handle, RSM_BAR_DEFAULT, &open),
                       RSM_SUCCESS, port);
    good &= RSM_EXPECT(rsm_memseg_import_open_barrier(&open), RSM_SUCCESS, port);
    std::uint64_t value = 5;
    good &= RSM_EXPECT(rsm_memseg_import_put64(there.handle, 0, &value, 1), RSM_SUCCESS, port);
    good &= meeting.meet();
    good &= PORT_TEST_CHECK(*mine.memory.words() == 5, port, 0);
    good &= RSM_EXPECT(rsm_memseg_export_unpublish(mine.segment), RSM_SUCCESS, port);
    good &= RSM_EXPECT(rsm_memseg_export_unpublish(mine.segment), RSMERR_SEG_NOT_PUBLISHED, port);
    good &= PORT_TEST_CHECK(*mine.memory.words() == 5, port, 1);
    good &= meeting.meet();
    // Expect: nothing comes through any more, and every call says so
    value = 6;
    good &=
        RSM_EXPECT(rsm_memseg_import_put64(there.handle, 0, &value, 1), RSMERR_CONN_ABORTED, port);
    good &=
        RSM_EXPECT(rsm_memseg_import_get64(there.handle, 0, &value, 1), RSMERR_CONN_ABORTED, port);
    good &= RSM_EXPECT(rsm_memseg_import_close_barrier(&open), RSMERR_CONN_ABORTED, port);
    good &= RSM_EXPECT(rsm_intr_signal_post(there.handle, 0), RSMERR_CONN_ABORTED, port);
    good &= RSM_EXPECT(rsm_intr_signal_wait(there.handle, -1), RSMERR_CONN_ABORTED, port);
    void* address = nullptr;
    good &= RSM_EXPECT(
        rsm_memseg_import_map(there.handle, &address, RSM_MAP_NONE, RSM_PERM_READ, 0, page_bytes()),
        RSMERR_CONN_ABORTED, port);
    rsm_memseg_import_handle_t again = nullptr;
    good &= RSM_EXPECT(mine.connect(peer, RSM_PERM_READ, &again), RSMERR_SEG_NOT_PUBLISHED, port);
    good &= RSM_EXPECT(rsm_memseg_import_disconnect(there.handle), RSM_SUCCESS, port);
    good &= meeting.meet();
    good &= PORT_TEST_CHECK(*mine.memory.words() == 5, port, 2);
    // Expect: published again it is there for new connections
    rsm_memseg_id_t id = id_of(port.self());
    good &= RSM_EXPECT(rsm_memseg_export_publish(mine.segment, &id, nullptr, 0), RSM_SUCCESS, port);
    good &= meeting.meet();
    Connection next;
    good &= next.make(mine, peer, RSM_PERM_RDWR);
    value = 8;
    good &= RSM_EXPECT(rsm_memseg_import_put64(next.handle, 0, &value, 1), RSM_SUCCESS, port);
    good &= meeting.meet();
    good &= PORT_TEST_CHECK(*mine.memory.words() == 8, port, 3);
    rsm_exit();
    return good;
  });
}

TEST_P(RsmGrants, stay_when_the_segment_gets_other_memory) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Exporter mine(port, 2);
    Pages other(2);
    Meeting meeting(port);
    bool good = mine.good && mine.publish() && meeting.meet();
    Connection there;
    good &= there.make(mine, 1 - port.self(), RSM_PERM_RDWR);
    if (!good) return false;
    std::uint64_t value = 1;
    good &= RSM_EXPECT(rsm_memseg_import_put64(there.handle, 16, &value, 1), RSM_SUCCESS, port);
    good &= meeting.meet();
    other.words()[3] = 33;
    good &= RSM_EXPECT(rsm_memseg_export_rebind(mine.segment, other.at(), 0, page_bytes()),
                       RSMERR_BAD_LENGTH, port);
    good &= RSM_EXPECT(rsm_memseg_export_rebind(mine.segment, other.at(), 0, other.bytes()),
                       RSM_SUCCESS, port);
    good &= meeting.meet();
    value = 2;
    std::uint64_t back = 0;
    good &= RSM_EXPECT(rsm_memseg_import_put64(there.handle, 16, &value, 1), RSM_SUCCESS, port);
    good &= RSM_EXPECT(rsm_memseg_import_get64(there.handle, 24, &back, 1), RSM_SUCCESS, port);
    good &= PORT_TEST_CHECK(back == 33, port, static_cast<long long>(back));
    good &= meeting.meet();
    // Expect: the former memory is left as it was
    good &= PORT_TEST_CHECK(mine.memory.words()[2] == 1 && other.words()[2] == 2, port, 0);
    rsm_exit();
    return good;
  });
}

}  // namespace
}  // namespace fairlead::port_test
