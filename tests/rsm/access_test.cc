// Export, import, put, get and barriers of RSMAPI in every world.
#include <vector>

#include "tests/rsm/rsm_parts.h"

namespace fairlead::port_test {
namespace {

constexpr unsigned kRanks = 3;

class RsmAccess : public PerWorld {};
INSTANTIATE_PORT_TESTS(RsmAccess);

std::vector<unsigned char> pattern(std::size_t n, unsigned seed) {
  std::vector<unsigned char> bytes(n);
  for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<unsigned char>(i * 7 + seed * 31 + 1);
  return bytes;
}

// Each puts into its own part of everybody's memory and gets it back.
bool moves_bytes(const Exporter& mine, rsm_memseg_import_handle_t* imports, Meeting& meeting,
                 std::size_t n, bool explicit_mode) {
  lci::Port& port = mine.port;
  bool good = true;
  std::vector<unsigned char> data = pattern(n, port.self() + 1);
  const auto at = static_cast<off_t>(port.self() * n);
  for (unsigned rank = 0; rank < kRanks; ++rank) {
    rsmapi_barrier_t barrier;
    good &= RSM_EXPECT(rsm_memseg_import_init_barrier(imports[rank], RSM_BAR_DEFAULT, &barrier),
                       RSM_SUCCESS, port);
    good &= RSM_EXPECT(
        rsm_memseg_import_set_mode(
            imports[rank], explicit_mode ? RSM_BARRIER_MODE_EXPLICIT : RSM_BARRIER_MODE_IMPLICIT),
        RSM_SUCCESS, port);
    if (explicit_mode) {
      good &= RSM_EXPECT(rsm_memseg_import_open_barrier(&barrier), RSM_SUCCESS, port);
    }
    good &= RSM_EXPECT(rsm_memseg_import_put(imports[rank], at, data.data(), n), RSM_SUCCESS, port);
    if (explicit_mode) {
      good &= RSM_EXPECT(rsm_memseg_import_order_barrier(&barrier), RSM_SUCCESS, port);
    }
    std::vector<unsigned char> back(n + 1, 9);
    good &= RSM_EXPECT(rsm_memseg_import_get(imports[rank], at, back.data(), n), RSM_SUCCESS, port);
    if (explicit_mode) {
      good &= RSM_EXPECT(rsm_memseg_import_close_barrier(&barrier), RSM_SUCCESS, port);
    }
    good &= PORT_TEST_CHECK(std::equal(data.begin(), data.end(), back.begin()), port, n);
    good &= PORT_TEST_CHECK(back[n] == 9, port, n);
    good &= RSM_EXPECT(rsm_memseg_import_destroy_barrier(&barrier), RSM_SUCCESS, port);
  }
  good &= meeting.meet();
  // Expect: what all have put is there once they have met, without another call of RSMAPI
  for (unsigned rank = 0; rank < kRanks; ++rank) {
    const auto theirs = pattern(n, rank + 1);
    good &= PORT_TEST_CHECK(std::equal(theirs.begin(), theirs.end(), mine.memory.at() + rank * n),
                            port, rank);
  }
  return good & meeting.meet();
}

TEST_P(RsmAccess, puts_and_gets_of_all_sizes) {
  run_ranks(GetParam(), kRanks, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Exporter mine(port, 80);
    Meeting meeting(port);
    bool good = mine.good && mine.publish() && meeting.meet();
    rsm_memseg_import_handle_t imports[kRanks] = {};
    for (unsigned to = 0; to < kRanks; ++to) {
      good &= RSM_EXPECT(mine.connect(to, RSM_PERM_RDWR, &imports[to]), RSM_SUCCESS, port);
    }
    if (!good) return false;
    for (const std::size_t n : {1, 8, 63, 64, 321, 5000, 100'003}) {
      good &= moves_bytes(mine, imports, meeting, n, false);
      good &= moves_bytes(mine, imports, meeting, n, true);
    }
    for (const auto import : imports) {
      good &= RSM_EXPECT(rsm_memseg_import_disconnect(import), RSM_SUCCESS, port);
    }
    rsm_exit();
    return good;
  });
}

template <class T>
bool numbers(lci::Port& port, rsm_memseg_import_handle_t import,
             int (*put)(rsm_memseg_import_handle_t, off_t, T*, unsigned long),
             int (*get)(rsm_memseg_import_handle_t, off_t, T*, unsigned long)) {
  T some[5] = {1, 2, 3, 4, static_cast<T>(~T{0})};
  T back[6] = {};
  bool good = RSM_EXPECT(put(import, 64, some, 5), RSM_SUCCESS, port);
  good &= RSM_EXPECT(get(import, 64, back, 5), RSM_SUCCESS, port);
  good &= PORT_TEST_CHECK(std::equal(some, some + 5, back) && back[5] == 0, port, sizeof(T));
  // Expect: the last that fits, and none behind it
  const auto end = static_cast<off_t>(4 * page_bytes());
  good &= RSM_EXPECT(put(import, end - static_cast<off_t>(sizeof(T)), some, 1), RSM_SUCCESS, port);
  good &= RSM_EXPECT(put(import, end - static_cast<off_t>(sizeof(T)), some, 2), RSMERR_BAD_LENGTH,
                     port);
  return good;
}

bool lists(const Exporter& mine, rsm_memseg_import_handle_t import) {
  lci::Port& port = mine.port;
  Pages local(1);
  rsm_localmemory_handle_t handle = nullptr;
  bool good = RSM_EXPECT(
      rsm_create_localmemory_handle(mine.controller, &handle, reinterpret_cast<caddr_t>(local.at()),
                                    local.bytes()),
      RSM_SUCCESS, port);
  for (unsigned i = 0; i < 256; ++i) local.at()[i] = static_cast<unsigned char>(i);
  char other[32] = "by its address";
  rsm_iovec_t entries[3] = {};
  entries[0] = {RSM_HANDLE_TYPE, {}, 16, 1000, 100};
  entries[0].local.handle = handle;
  entries[1] = {RSM_VA_TYPE, {}, 3, 2000, 11};
  entries[1].local.vaddr = other;
  entries[2] = {RSM_HANDLE_TYPE, {}, 0, 3000, 8};
  entries[2].local.handle = handle;
  rsm_scat_gath_t list = {rsm_node_of(port.self()), 3, 99, 0, import, entries};
  good &= RSM_EXPECT(rsm_memseg_import_putv(&list), RSM_SUCCESS, port);
  good &= PORT_TEST_CHECK(list.io_residual_count == 0, port, list.io_residual_count);
  std::memset(local.at(), 0, local.bytes());
  std::memset(other, 0, sizeof other);
  good &= RSM_EXPECT(rsm_memseg_import_getv(&list), RSM_SUCCESS, port);
  good &= PORT_TEST_CHECK(std::strcmp(other + 3, "its address") == 0 && other[0] == 0, port, 1);
  good &= PORT_TEST_CHECK(local.at()[16] == 16 && local.at()[115] == 115, port, local.at()[16]);
  good &= PORT_TEST_CHECK(local.at()[7] == 7 && local.at()[8] == 0, port, local.at()[7]);
  // Expect: it ends at the entry that cannot be, and says how many were left
  entries[1].remote_offset = 4 * page_bytes();
  good &= RSM_EXPECT(rsm_memseg_import_putv(&list), RSMERR_BAD_OFFSET, port);
  good &= PORT_TEST_CHECK(list.io_residual_count == 2, port, list.io_residual_count);
  good &= RSM_EXPECT(rsm_free_localmemory_handle(mine.controller, handle), RSM_SUCCESS, port);
  entries[1].remote_offset = 0;
  good &= RSM_EXPECT(rsm_memseg_import_putv(&list), RSMERR_BAD_LOCALMEM_HNDL, port);
  return good;
}

TEST_P(RsmAccess, numbers_and_lists) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Exporter mine(port);
    Meeting meeting(port);
    bool good = mine.good && mine.publish() && meeting.meet();
    rsm_memseg_import_handle_t import = nullptr;
    good &= RSM_EXPECT(mine.connect(1 - port.self(), RSM_PERM_RDWR, &import), RSM_SUCCESS, port);
    rsmapi_barrier_t barrier;
    good &= RSM_EXPECT(rsm_memseg_import_init_barrier(import, RSM_BARRIER_NODE, &barrier),
                       RSM_SUCCESS, port);
    if (!good) return false;
    good &= numbers<std::uint8_t>(port, import, rsm_memseg_import_put8, rsm_memseg_import_get8);
    good &= numbers<std::uint16_t>(port, import, rsm_memseg_import_put16, rsm_memseg_import_get16);
    good &= numbers<std::uint32_t>(port, import, rsm_memseg_import_put32, rsm_memseg_import_get32);
    good &= numbers<std::uint64_t>(port, import, rsm_memseg_import_put64, rsm_memseg_import_get64);
    good &= lists(mine, import);
    good &= meeting.meet();
    // What is still there goes with rsm_exit.
    rsm_exit();
    return good;
  });
}

TEST_P(RsmAccess, a_word_that_an_importer_writes_ends_a_wait) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Exporter mine(port);
    Meeting meeting(port);
    bool good = mine.good && mine.publish() && meeting.meet();
    rsm_memseg_import_handle_t import = nullptr;
    good &= RSM_EXPECT(mine.connect(1 - port.self(), RSM_PERM_WRITE, &import), RSM_SUCCESS, port);
    good &= RSM_EXPECT(rsm_memseg_import_set_mode(import, RSM_BARRIER_MODE_EXPLICIT), RSM_SUCCESS,
                       port);
    if (!good) return false;
    // Nobody writes yet.
    good &= RSM_EXPECT(rsm_wait_word(mine.memory.words(), 0, 1), RSMERR_TIMEOUT, port);
    good &= meeting.meet();
    for (std::uint64_t lap = 1; lap <= 20; ++lap) {
      std::uint64_t mark = lap;
      if (port.self() == 0) {
        good &= RSM_EXPECT(rsm_memseg_import_put64(import, 0, &mark, 1), RSM_SUCCESS, port);
      }
      good &= RSM_EXPECT(rsm_wait_word(mine.memory.words(), lap - 1, -1), RSM_SUCCESS, port);
      good &= PORT_TEST_CHECK(*mine.memory.words() == lap, port, *mine.memory.words());
      if (port.self() == 1) {
        good &= RSM_EXPECT(rsm_memseg_import_put64(import, 0, &mark, 1), RSM_SUCCESS, port);
      }
    }
    rsm_exit();
    return good;
  });
}

// No word is known: the exporter looks at all of its memory whenever something was put there.
TEST_P(RsmAccess, whatever_an_importer_puts_ends_a_wait_for_stores) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Exporter mine(port);
    mine.flags = RSM_TELL_STORES;
    Meeting meeting(port);
    bool good = mine.good && mine.publish() && meeting.meet();
    rsm_memseg_import_handle_t import = nullptr;
    // Expect: either mode of those that may write
    const rsm_permission_t mode = port.self() == 0 ? RSM_PERM_WRITE : RSM_PERM_RDWR;
    good &= RSM_EXPECT(mine.connect(1 - port.self(), mode, &import), RSM_SUCCESS, port);
    good &= RSM_EXPECT(rsm_memseg_import_set_mode(import, RSM_BARRIER_MODE_EXPLICIT), RSM_SUCCESS,
                       port);
    if (!good) return false;
    good &= meeting.meet();
    // Nobody writes yet. That somebody connected may end a wait.
    while (rsm_wait_store(mine.segment, 1) == RSM_SUCCESS) {
    }
    good &= RSM_EXPECT(rsm_wait_store(mine.segment, 0), RSMERR_TIMEOUT, port);
    good &= meeting.meet();
    for (std::uint64_t lap = 1; lap <= 20; ++lap) {
      const std::size_t word = lap * 7;
      std::uint64_t mark = lap;
      const auto put = [&] {
        good &= RSM_EXPECT(rsm_memseg_import_put64(import, static_cast<off_t>(8 * word), &mark, 1),
                           RSM_SUCCESS, port);
      };
      if (port.self() == 0) put();
      while (mine.memory.words()[word] != lap) {
        good &= RSM_EXPECT(rsm_wait_store(mine.segment, -1), RSM_SUCCESS, port);
      }
      if (port.self() == 1) put();
    }
    good &= meeting.meet();
    // Expect: not without the flag, nor what is not there
    Exporter other(port);
    good &= other.publish(1);
    good &= RSM_EXPECT(rsm_wait_store(other.segment, 0), RSMERR_BAD_MODE, port);
    good &= RSM_EXPECT(rsm_wait_store(nullptr, 0), RSMERR_BAD_SEG_HNDL, port);
    good &= RSM_EXPECT(rsm_memseg_export_unpublish(mine.segment), RSM_SUCCESS, port);
    good &= RSM_EXPECT(rsm_wait_store(mine.segment, 0), RSMERR_SEG_NOT_PUBLISHED, port);
    rsm_exit();
    return good;
  });
}

}  // namespace
}  // namespace fairlead::port_test
