// Mapped segments: loads and stores where the path maps memory, block stores and loads everywhere.
#include <signal.h>
#include <sys/mman.h>

#include "tests/expect_words.h"
#include "tests/rsm/rsm_parts.h"

namespace fairlead::port_test {
namespace {

class RsmMapping : public PerWorld {};
INSTANTIATE_PORT_TESTS(RsmMapping);

bool maps_memory(const std::string& world) { return world == "shm"; }

TEST_P(RsmMapping, block_stores_and_loads_reach_the_exporter) {
  const bool memory = maps_memory(GetParam());
  run_ranks(GetParam(), 2, [memory](run::Context& rank) {
    lci::Port& port = rank.port();
    Exporter mine(port, 3);
    Meeting meeting(port);
    bool good = mine.good && mine.publish() && meeting.meet();
    rsm_memseg_import_handle_t import = nullptr;
    good &= RSM_EXPECT(mine.connect(1 - port.self(), RSM_PERM_RDWR, &import), RSM_SUCCESS, port);
    if (!good) return false;
    const std::size_t page = page_bytes();
    void* address = nullptr;
    good &= RSM_EXPECT(rsm_memseg_import_map(import, &address, RSM_MAP_NONE, RSM_PERM_RDWR,
                                             static_cast<off_t>(page), 2 * page),
                       RSM_SUCCESS, port);
    good &=
        RSM_EXPECT(rsm_memseg_import_map(import, &address, RSM_MAP_NONE, RSM_PERM_RDWR, 0, page),
                   RSMERR_SEG_ALREADY_MAPPED, port);
    good &= RSM_EXPECT(rsm_memseg_import_disconnect(import), RSMERR_SEG_STILL_MAPPED, port);
    auto* const at = static_cast<unsigned char*>(address);
    rsmapi_barrier_t barrier;
    good &= RSM_EXPECT(rsm_memseg_import_init_barrier(import, RSM_BAR_DEFAULT, &barrier),
                       RSM_SUCCESS, port);
    good &= RSM_EXPECT(rsm_memseg_import_open_barrier(&barrier), RSM_SUCCESS, port);
    unsigned char line[64];
    unsigned char back[64] = {};
    for (unsigned i = 0; i < 64; ++i) line[i] = static_cast<unsigned char>(i + 1);
    good &= RSM_EXPECT(rsm_block_store(at + 128, line), RSM_SUCCESS, port);
    good &= RSM_EXPECT(rsm_block_load(at + 128, back), RSM_SUCCESS, port);
    good &= RSM_EXPECT(rsm_memseg_import_close_barrier(&barrier), RSM_SUCCESS, port);
    good &= PORT_TEST_CHECK(std::memcmp(line, back, 64) == 0, port, 0);
    // Expect: lines, aligned, of what is mapped
    good &= RSM_EXPECT(rsm_block_store(at + 8, line), RSMERR_BAD_MEM_ALIGNMENT, port);
    good &= RSM_EXPECT(rsm_block_store(at + 2 * page, line), RSMERR_BAD_ADDR, port);
    good &= RSM_EXPECT(rsm_block_load(line, back), RSMERR_BAD_ADDR, port);
    good &= RSM_EXPECT(rsm_block_load(at, nullptr), RSMERR_BAD_ADDR, port);
    if (memory) at[5] = 99;
    good &= meeting.meet();
    good &= PORT_TEST_CHECK(std::memcmp(mine.memory.at() + page + 128, line, 64) == 0, port, 1);
    if (memory) good &= PORT_TEST_CHECK(mine.memory.at()[page + 5] == 99, port, 2);
    good &= RSM_EXPECT(rsm_memseg_import_unmap(import), RSM_SUCCESS, port);
    good &= RSM_EXPECT(rsm_memseg_import_unmap(import), RSMERR_SEG_NOT_MAPPED, port);
    good &= RSM_EXPECT(rsm_block_load(at, back), RSMERR_BAD_ADDR, port);
    good &= meeting.meet();
    rsm_exit();
    return good;
  });
}

TEST_P(RsmMapping, arguments_are_looked_at) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Exporter mine(port, 3);
    Meeting meeting(port);
    bool good = mine.good && mine.publish() && meeting.meet();
    rsm_memseg_import_handle_t import = nullptr;
    good &= RSM_EXPECT(mine.connect(1 - port.self(), RSM_PERM_READ, &import), RSM_SUCCESS, port);
    if (!good) return false;
    const std::size_t page = page_bytes();
    const auto offset = static_cast<off_t>(page);
    Pages place(1);
    void* null = nullptr;
    void* odd = place.at() + 64;
    void* fixed = place.at();
    struct Row {
      void** address;
      rsm_attribute_t attr;
      rsm_permission_t perm;
      off_t offset;
      std::size_t length;
      int code;
    };
    const Row rows[] = {
        {nullptr, RSM_MAP_NONE, RSM_PERM_READ, 0, page, RSMERR_BAD_ADDR},
        {&null, RSM_MAP_RESERVED, RSM_PERM_READ, 0, page, RSMERR_BAD_ARGS_ERRORS},
        {&null, RSM_MAP_NONE, RSM_PERM_NONE, 0, page, RSMERR_BAD_PERMS},
        {&null, RSM_MAP_NONE, RSM_PERM_RDWR, 0, page, RSMERR_BAD_PERMS},
        {&null, RSM_MAP_NONE, RSM_PERM_READ, 100, page, RSMERR_BAD_OFFSET},
        {&null, RSM_MAP_NONE, RSM_PERM_READ, -offset, page, RSMERR_BAD_OFFSET},
        {&null, RSM_MAP_NONE, RSM_PERM_READ, 3 * offset, page, RSMERR_BAD_OFFSET},
        {&null, RSM_MAP_NONE, RSM_PERM_READ, offset, 0, RSMERR_BAD_LENGTH},
        {&null, RSM_MAP_NONE, RSM_PERM_READ, offset, page + 1, RSMERR_BAD_LENGTH},
        {&null, RSM_MAP_NONE, RSM_PERM_READ, offset, 3 * page, RSMERR_BAD_LENGTH},
        {&null, RSM_MAP_FIXED, RSM_PERM_READ, 0, page, RSMERR_BAD_ADDR},
        {&odd, RSM_MAP_FIXED, RSM_PERM_READ, 0, page, RSMERR_BAD_MEM_ALIGNMENT},
    };
    for (std::size_t i = 0; i < std::size(rows); ++i) {
      const Row& row = rows[i];
      const int got =
          rsm_memseg_import_map(import, row.address, row.attr, row.perm, row.offset, row.length);
      good &= PORT_TEST_CHECK(got == row.code, port, static_cast<long long>(i));
    }
    // Expect: at the address that was asked for
    void* const reserved = mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    fixed = reserved;
    good &= RSM_EXPECT(
        rsm_memseg_import_map(import, &fixed, RSM_MAP_FIXED, RSM_PERM_READ, offset, page),
        RSM_SUCCESS, port);
    good &= PORT_TEST_CHECK(fixed == reserved, port, 0);
    unsigned char line[64] = {1};
    good &= RSM_EXPECT(rsm_block_store(fixed, line), RSMERR_PERM_DENIED, port);
    good &= RSM_EXPECT(rsm_block_load(fixed, line), RSM_SUCCESS, port);
    good &= PORT_TEST_CHECK(line[0] == 0, port, line[0]);
    good &= meeting.meet();
    rsm_exit();
    return good;
  });
}

// Ranks that are processes: what one does to itself ends that one only.
class RsmFaults : public PerWorld {};
INSTANTIATE_PORT_TESTS_IN(RsmFaults, ::testing::Values("shm", "udp"));

// How a job ends in which rank 1 touches its mapping of rank 0's memory, at 100 of page 1.
std::string end_of_job(const std::string& world, void (*touch)(unsigned char* at, bool unpublished),
                       bool unpublishes, rsm_permission_t mode) {
  testing::internal::CaptureStderr();
  const Result<run::RunReport> report =
      run::run_world(options_of(world, 2), [touch, unpublishes, mode](run::Context& rank) {
        lci::Port& port = rank.port();
        Exporter mine(port, 2);
        Meeting meeting(port);
        if (!mine.publish() || !meeting.meet()) return 1;
        rsm_memseg_import_handle_t import = nullptr;
        void* address = nullptr;
        if (mine.connect(0, mode, &import) != RSM_SUCCESS ||
            rsm_memseg_import_map(import, &address, RSM_MAP_NONE, mode,
                                  static_cast<off_t>(page_bytes()), page_bytes()) != RSM_SUCCESS ||
            !meeting.meet()) {
          return 1;
        }
        if (unpublishes && port.self() == 0) (void)rsm_memseg_export_unpublish(mine.segment);
        if (!meeting.meet()) return 1;
        if (port.self() == 1) touch(static_cast<unsigned char*>(address) + 100, unpublishes);
        (void)meeting.meet();
        rsm_exit();
        return 0;
      });
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(report.ok());
  if (report.ok()) {
    EXPECT_EQ(report.value().ranks[1].signal, SIGSEGV) << said;
  }
  return said;
}

TEST_P(RsmFaults, name_rank_segment_and_offset) {
  const auto store = [](unsigned char* at, bool) { *static_cast<volatile unsigned char*>(at) = 1; };
  const std::string where = std::to_string(page_bytes() + 100);
  // Expect: after the exporter has unpublished it, wherever; where no memory is mapped, at once
  expect_words(end_of_job(GetParam(), store, true, RSM_PERM_RDWR),
               {"rank 1", "offset " + where, "segment 0x80000000", "node 0", "no memory"});
  if (maps_memory(GetParam())) {
    expect_words(end_of_job(GetParam(), store, false, RSM_PERM_READ),
                 {"rank 1", "offset " + where, "segment 0x80000000", "read only"});
  } else {
    expect_words(end_of_job(GetParam(), store, false, RSM_PERM_RDWR),
                 {"rank 1", "offset " + where, "segment 0x80000000", "rsm_block_store"});
  }
}

}  // namespace
}  // namespace fairlead::port_test
