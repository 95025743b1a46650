// What windows tell of themselves, and what is told of wrong calls on them.
#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/mpi/windows.h"

namespace fairlead::mpi_test {
namespace {

struct WindowProperties : PerWorld {};
INSTANTIATE_MPI_TESTS(WindowProperties);

int handled = 0;
void count_error(MPI_Win*, int* code, ...) { handled += *code == MPI_ERR_RMA_RANGE ? 1 : 100; }

// Accesses and epochs that are wrong; a window's error handler hears of each.
bool tells_errors(const Made& made, int rank) {
  MPI_Win win = made.win;
  int data[4] = {};
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  const auto put = [&](MPI_Aint disp, int count) {
    return MPI_Put(data, count, MPI_INT, 0, disp, count, MPI_INT, win);
  };
  bool good = MPI_TEST_CHECK(put(0, 1) == MPI_ERR_RMA_SYNC, rank, 0);
  good &= MPI_TEST_CHECK(MPI_Win_unlock(0, win) == MPI_ERR_RMA_SYNC, rank, 0);
  good &= MPI_TEST_CHECK(MPI_Win_complete(win) == MPI_ERR_RMA_SYNC, rank, 0);
  good &= MPI_TEST_CHECK(MPI_Win_wait(win) == MPI_ERR_RMA_SYNC, rank, 0);
  good &= MPI_TEST_CHECK(MPI_Win_flush(0, win) == MPI_ERR_RMA_SYNC, rank, 0);
  good &= MPI_TEST_CHECK(MPI_Win_unlock_all(win) == MPI_ERR_RMA_SYNC, rank, 0);
  good &= MPI_TEST_CHECK(MPI_Win_lock(17, 0, 0, win) == MPI_ERR_LOCKTYPE, rank, 0);
  good &= MPI_TEST_CHECK(MPI_Win_fence(1, win) == MPI_ERR_ASSERT, rank, 0);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  good &= MPI_TEST_CHECK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win) == MPI_ERR_RMA_SYNC, rank, 0);
  good &= MPI_TEST_CHECK(MPI_Win_lock_all(0, win) == MPI_ERR_RMA_SYNC, rank, 0);
  good &= MPI_TEST_CHECK(MPI_Win_fence(0, win) == MPI_ERR_RMA_SYNC, rank, 0);
  MPI_Win again = win;
  good &= MPI_TEST_CHECK(MPI_Win_free(&again) == MPI_ERR_RMA_SYNC && again == win, rank, 0);
  good &= MPI_TEST_CHECK(put(-1, 1) == MPI_ERR_DISP, rank, 0);
  good &= MPI_TEST_CHECK(put(3, 2) == MPI_ERR_RMA_RANGE, rank, 0);
  good &= MPI_TEST_CHECK(put(MPI_Aint{1} << 61, 1) == MPI_ERR_RMA_RANGE, rank, 0);
  good &= MPI_TEST_CHECK(MPI_Put(data, 1, MPI_INT, 0, 0, 2, MPI_INT, win) == MPI_ERR_ARG, rank, 0);
  good &= MPI_TEST_CHECK(MPI_Put(nullptr, 1, MPI_INT, 0, 0, 1, MPI_INT, win) == MPI_ERR_BUFFER,
                         rank, 0);
  good &= MPI_TEST_CHECK(
      MPI_Accumulate(data, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_MINLOC, win) == MPI_ERR_OP, rank, 0);
  // Other libraries let an operation pass that is not the type's where there are no elements.
  good &= MPI_TEST_CHECK(
      MPI_Accumulate(data, 1, MPI_BYTE, 0, 0, 1, MPI_BYTE, MPI_SUM, win) == MPI_ERR_OP &&
          MPI_Accumulate(data, 0, MPI_BYTE, 0, 0, 0, MPI_BYTE, MPI_SUM, win) == MPI_SUCCESS,
      rank, 0);
  good &= MPI_TEST_CHECK(MPI_Win_attach(win, data, 4) == MPI_ERR_RMA_FLAVOR, rank, 0);
  // Numbers with a fraction, and pairs, are not compared and swapped.
  for (const MPI_Datatype type : {MPI_FLOAT, MPI_DOUBLE, MPI_C_FLOAT_COMPLEX, MPI_2INT}) {
    const int error = MPI_Compare_and_swap(data, data, data, type, 0, 0, win);
    good &= MPI_TEST_CHECK(error == MPI_ERR_TYPE, rank, error);
  }
  good &= MPI_TEST_CHECK(put(3, 1) == MPI_SUCCESS && put(4, 0) == MPI_SUCCESS, rank, 0);
  // A handler of the program's.
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Win_create_errhandler(&count_error, &handler);
  MPI_Win_set_errhandler(win, handler);
  good &= MPI_TEST_CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler) == MPI_ERR_ERRHANDLER,
                         rank, 0);
  const int before = handled;
  good &= MPI_TEST_CHECK(put(4, 1) == MPI_ERR_RMA_RANGE && handled == before + 1, rank, handled);
  MPI_Win_call_errhandler(win, MPI_ERR_RMA_RANGE);
  good &= MPI_TEST_CHECK(handled == before + 2, rank, handled);
  MPI_Errhandler got = MPI_ERRHANDLER_NULL;
  MPI_Win_get_errhandler(win, &got);
  good &= MPI_TEST_CHECK(got == handler, rank, 0);
  MPI_Errhandler_free(&got);
  MPI_Errhandler_free(&handler);
  MPI_Win_unlock(0, win);
  return good;
}

bool describes(const Made& made, int rank, int size) {
  bool good = true;
  int flag = 0;
  void* base = nullptr;
  MPI_Aint* bytes = nullptr;
  int* number = nullptr;
  MPI_Win_get_attr(made.win, MPI_WIN_BASE, static_cast<void*>(&base), &flag);
  good &= MPI_TEST_CHECK(flag != 0 && base == made.base, rank, 0);
  MPI_Win_get_attr(made.win, MPI_WIN_SIZE, static_cast<void*>(&bytes), &flag);
  good &= MPI_TEST_CHECK(flag != 0 && *bytes == 16, rank, 0);
  MPI_Win_get_attr(made.win, MPI_WIN_DISP_UNIT, static_cast<void*>(&number), &flag);
  good &= MPI_TEST_CHECK(flag != 0 && *number == 4, rank, 0);
  MPI_Win_get_attr(made.win, MPI_WIN_CREATE_FLAVOR, static_cast<void*>(&number), &flag);
  good &= MPI_TEST_CHECK(
      *number == (made.own.empty() ? MPI_WIN_FLAVOR_ALLOCATE : MPI_WIN_FLAVOR_CREATE), rank,
      *number);
  MPI_Win_get_attr(made.win, MPI_WIN_MODEL, static_cast<void*>(&number), &flag);
  good &= MPI_TEST_CHECK(*number == MPI_WIN_UNIFIED, rank, *number);
  char name[MPI_MAX_OBJECT_NAME];
  int length = -1;
  MPI_Win_get_name(made.win, name, &length);
  good &= MPI_TEST_CHECK(length == 0 && name[0] == 0, rank, length);
  char none[MPI_MAX_OBJECT_NAME] = "";
  MPI_Win_get_name(MPI_WIN_NULL, none, &length);
  good &= MPI_TEST_CHECK(std::strcmp(none, "MPI_WIN_NULL") == 0, rank, length);
  MPI_Win_set_name(made.win, "halo");
  MPI_Win_get_name(made.win, name, &length);
  good &= MPI_TEST_CHECK(std::strcmp(name, "halo") == 0 && length == 4, rank, length);
  MPI_Group group = MPI_GROUP_NULL;
  int members = 0;
  MPI_Win_get_group(made.win, &group);
  MPI_Group_size(group, &members);
  good &= MPI_TEST_CHECK(members == size, rank, members);
  MPI_Group_free(&group);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "no_locks", "false");
  MPI_Win_set_info(made.win, info);
  MPI_Info_free(&info);
  MPI_Win_get_info(made.win, &info);
  char value[8];
  MPI_Info_get(info, "no_locks", 7, value, &flag);
  good &= MPI_TEST_CHECK(flag != 0 && std::strcmp(value, "false") == 0, rank, flag);
  MPI_Info_free(&info);
  return good && MPI_TEST_CHECK(MPI_Win_fromint(MPI_Win_toint(made.win)) == made.win, rank, 0);
}

int note_deletion(MPI_Win, int, void* value, void* log) {
  static_cast<std::vector<void*>*>(log)->push_back(value);
  return MPI_SUCCESS;
}

bool carries_attributes(const Made& made, std::vector<void*>* log, int rank) {
  int key = 0;
  int values[2] = {};
  void* got = nullptr;
  int flag = -1;
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, &note_deletion, &key, log);
  MPI_Win_get_attr(made.win, key, static_cast<void*>(&got), &flag);
  bool good = MPI_TEST_CHECK(flag == 0, rank, flag);
  MPI_Win_set_attr(made.win, key, &values[0]);
  MPI_Win_set_attr(made.win, key, &values[1]);
  MPI_Win_get_attr(made.win, key, static_cast<void*>(&got), &flag);
  good &= MPI_TEST_CHECK(flag != 0 && got == &values[1] && log->size() == 1, rank, flag);
  MPI_Win_delete_attr(made.win, key);
  good &= MPI_TEST_CHECK(log->size() == 2 && log->back() == &values[1], rank, 0);
  MPI_Win_set_attr(made.win, key, log);  // goes with the window
  MPI_Win_free_keyval(&key);
  return good && MPI_TEST_CHECK(key == MPI_KEYVAL_INVALID, rank, key);
}

TEST_P(WindowProperties, SayWhatTheyAreAndWhatIsWrong) {
  run_ranks(GetParam(), 2, [](int rank, int size) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    bool good = true;
    MPI_Win old = MPI_WIN_NULL;
    std::vector<void*> deleted;
    for (const bool allocates : {false, true}) {
      deleted.clear();
      const Made made(allocates, 16, 4);
      good &= describes(made, rank, size);
      good &= carries_attributes(made, &deleted, rank);
      good &= tells_errors(made, rank);
      old = made.win;
    }
    good &= MPI_TEST_CHECK(deleted.size() == 3 && deleted.back() == &deleted, rank, 0);
    good &= MPI_TEST_CHECK(MPI_Win_fence(0, old) == MPI_ERR_WIN, rank, 0);
    MPI_Win win = MPI_WIN_NULL;
    int here = 0;
    const auto make = [&](MPI_Aint bytes, int unit, void* base) {
      return MPI_Win_create(base, bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    };
    good &= MPI_TEST_CHECK(make(-1, 1, &here) == MPI_ERR_SIZE, rank, 0);
    good &= MPI_TEST_CHECK(make(4, 0, &here) == MPI_ERR_DISP, rank, 0);
    good &= MPI_TEST_CHECK(make(4, 1, nullptr) == MPI_ERR_BASE, rank, 0);
    return good;
  });
  const run::RunReport told = run_bare(GetParam(), 2, [] {
    MPI_Init(nullptr, nullptr);
    const Made made(true, 16, 4);
    const int one = 1;
    MPI_Win_fence(0, made.win);
    MPI_Put(&one, 1, MPI_INT, 1, 4, 1, MPI_INT, made.win);
    MPI_Finalize();
    return 0;
  });
  for (const char* word : {"MPI_Put", "MPI_ERR_RMA_RANGE", "16 bytes of rank 1"}) {
    EXPECT_NE(told.failure.find(word), std::string::npos) << told.failure;
  }
}

// A rank that ends inside an epoch ends the job, and is named.
TEST(WindowsOfProcesses, ADeadRankEndsTheEpochsOfOthers) {
  for (const char* const world : {"shm", "udp", "pandaudp"}) {
    const run::RunReport told = run_bare(world, 2, [] {
      MPI_Init(nullptr, nullptr);
      int rank = -1;
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      const Made made(false, 16, 1);
      MPI_Win_lock(MPI_LOCK_SHARED, 1 - rank, 0, made.win);
      if (rank == 1) std::_Exit(7);
      const std::int64_t one = 1;
      for (;;) {
        MPI_Accumulate(&one, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, MPI_SUM, made.win);
        MPI_Win_flush(1, made.win);
      }
      return 0;
    });
    EXPECT_NE(told.exit_code, 0);
    EXPECT_NE(told.failure.find("rank 1"), std::string::npos) << told.failure;
  }
}

}  // namespace
}  // namespace fairlead::mpi_test
