// Groups, attributes, info, error handlers, Cartesian topologies.
#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/mpi/mpi_worlds.h"

namespace fairlead::mpi_test {
namespace {

struct ObjectsOfMpi : PerWorld {};
INSTANTIATE_MPI_TESTS(ObjectsOfMpi);

TEST_P(ObjectsOfMpi, GroupsBecomeCommunicators) {
  run_ranks(GetParam(), 5, [](int rank, int size) {
    MPI_Group world, some, others, both;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    int backwards[][3] = {{4, 0, -2}};
    MPI_Group_range_incl(world, 1, backwards, &some);  // 4 2 0
    MPI_Group_difference(world, some, &others);        // 1 3
    MPI_Group_union(others, some, &both);
    int n = 0, answer = 0;
    MPI_Group_size(others, &n);
    bool good = MPI_TEST_CHECK(n == 2, rank, n);
    MPI_Group_compare(world, both, &answer);
    good &= MPI_TEST_CHECK(answer == MPI_SIMILAR, rank, answer);
    const int asked[] = {0, 1, 2, MPI_PROC_NULL};
    int translated[4];
    MPI_Group_translate_ranks(some, 4, asked, both, translated);
    good &= MPI_TEST_CHECK(translated[0] == 2 && translated[1] == 3 && translated[2] == 4, rank, 0);
    good &= MPI_TEST_CHECK(translated[3] == MPI_PROC_NULL, rank, translated[3]);
    MPI_Group_intersection(some, others, &world);
    good &= MPI_TEST_CHECK(world == MPI_GROUP_EMPTY, rank, 0);
    // Expect: each rank in the communicator of its group, in the group's order.
    const bool even = rank % 2 == 0;
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_create(MPI_COMM_WORLD, even ? some : others, &made);
    int place = -1, sum = 0;
    MPI_Comm_rank(made, &place);
    good &= MPI_TEST_CHECK(place == (even ? 2 - rank / 2 : rank / 2), rank, place);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made);
    good &= MPI_TEST_CHECK(sum == (even ? 6 : 4), rank, sum);
    MPI_Comm_compare(MPI_COMM_WORLD, made, &answer);
    good &= MPI_TEST_CHECK(answer == MPI_UNEQUAL, rank, answer);
    MPI_Comm copy = MPI_COMM_NULL, none = MPI_COMM_WORLD, node = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_compare(MPI_COMM_WORLD, copy, &answer);
    good &= MPI_TEST_CHECK(answer == MPI_CONGRUENT, rank, answer);
    MPI_Comm_create(MPI_COMM_WORLD, rank == 0 ? some : MPI_GROUP_EMPTY, &none);
    good &= MPI_TEST_CHECK((none == MPI_COMM_NULL) == (rank != 0), rank, 0);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &n);
    good &= MPI_TEST_CHECK(n >= 1 && n <= size, rank, n);
    // Expect: the guided kinds know the same part under the name that the standard gives it.
    MPI_Info kind = MPI_INFO_NULL;
    MPI_Info_create(&kind);
    for (const int guided : {MPI_COMM_TYPE_HW_GUIDED, MPI_COMM_TYPE_RESOURCE_GUIDED}) {
      for (const char* const type : {"mpi_shared_memory", "hwloc://Core"}) {
        const bool known = std::string(type) == "mpi_shared_memory";
        MPI_Info_set(kind, "mpi_hw_resource_type", type);
        MPI_Comm part = MPI_COMM_WORLD;
        MPI_Comm_split_type(MPI_COMM_WORLD, guided, 0, kind, &part);
        good &= MPI_TEST_CHECK((part != MPI_COMM_NULL) == known, rank, guided);
        if (part == MPI_COMM_NULL) continue;
        MPI_Comm_compare(node, part, &answer);
        good &= MPI_TEST_CHECK(answer == MPI_CONGRUENT, rank, answer);
        MPI_Comm_free(&part);
      }
    }
    MPI_Info_free(&kind);
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm_get_name(copy, name, &n);
    good &= MPI_TEST_CHECK(n == 0, rank, n);
    MPI_Comm_set_name(copy, "copy");
    MPI_Comm_get_name(copy, name, &n);
    good &= MPI_TEST_CHECK(n == 4 && std::string(name) == "copy", rank, n);
    for (MPI_Comm* each : {&made, &copy, &node}) MPI_Comm_free(each);
    for (MPI_Group* each : {&some, &others, &both}) MPI_Group_free(each);
    return good & MPI_TEST_CHECK(some == MPI_GROUP_NULL, rank, 0);
  });
}

// Made without a communicator of both, by groups and a string; left together.
TEST_P(ObjectsOfMpi, CommunicatorsAreMadeFromGroupsAlone) {
  run_ranks(GetParam(), 4, [](int rank, int) {
    MPI_Group world, halves[2];
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    const int ranks[2][2] = {{2, 0}, {3, 1}};
    for (int i = 0; i < 2; ++i) MPI_Group_incl(world, 2, ranks[i], &halves[i]);
    const int odd = rank % 2;
    MPI_Comm half = MPI_COMM_WORLD, none = MPI_COMM_WORLD, parent = MPI_COMM_WORLD;
    MPI_Comm_create_from_group(halves[odd], "a half", MPI_INFO_NULL, MPI_ERRORS_RETURN, &half);
    MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "none", MPI_INFO_NULL, MPI_ERRORS_RETURN, &none);
    bool good = MPI_TEST_CHECK(none == MPI_COMM_NULL, rank, 0);
    int place = -1, sum = 0, size = 0;
    MPI_Comm_rank(half, &place);
    good &= MPI_TEST_CHECK(place == (rank < 2 ? 1 : 0), rank, place);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half);
    good &= MPI_TEST_CHECK(sum == 2 + 2 * odd, rank, sum);
    // Expect: its error handler is the one given.
    good &= MPI_TEST_CHECK(MPI_Send(&rank, 1, MPI_INT, 5, 0, half) == MPI_ERR_RANK, rank, 0);
    // The leaders alone say who the others are.
    MPI_Comm both = MPI_COMM_NULL;
    MPI_Intercomm_create_from_groups(halves[odd], 1, place == 1 ? halves[1 - odd] : MPI_GROUP_NULL,
                                     1, "halves", MPI_INFO_NULL, MPI_ERRORS_RETURN, &both);
    MPI_Comm_remote_size(both, &size);
    good &= MPI_TEST_CHECK(size == 2, rank, size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, both);
    good &= MPI_TEST_CHECK(sum == 4 - 2 * odd, rank, sum);
    MPI_Comm_get_parent(&parent);
    good &= MPI_TEST_CHECK(parent == MPI_COMM_NULL, rank, 0);
    MPI_Comm_disconnect(&both);
    MPI_Comm_disconnect(&half);
    good &= MPI_TEST_CHECK(both == MPI_COMM_NULL && half == MPI_COMM_NULL, rank, 0);
    for (MPI_Group* each : {&world, &halves[0], &halves[1]}) MPI_Group_free(each);
    return good;
  });
}

// What the functions of an attribute did.
struct Log {
  int copied = 0;
  int deleted = 0;
};
int copy_fn(MPI_Comm comm, int, void* extra, void* in, void* out, int* flag) {
  int size = 0;
  MPI_Comm_size(comm, &size);  // callbacks may call MPI
  ++static_cast<Log*>(extra)->copied;
  *static_cast<void**>(out) = static_cast<char*>(in) + size;
  *flag = 1;
  return MPI_SUCCESS;
}
int delete_fn(MPI_Comm, int, void*, void* extra) {
  ++static_cast<Log*>(extra)->deleted;
  return MPI_SUCCESS;
}

TEST_P(ObjectsOfMpi, AttributesAreCopiedAndDeleted) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    Log log;
    char place[8];
    int key = 0, other = 0, flag = 0;
    MPI_Comm_create_keyval(copy_fn, delete_fn, &key, &log);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &other, nullptr);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, place);
    MPI_Comm_set_attr(MPI_COMM_WORLD, other, place);
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    void* value = nullptr;
    MPI_Comm_get_attr(copy, key, &value, &flag);
    bool good = MPI_TEST_CHECK(flag == 1 && value == place + 2, rank, flag);
    MPI_Comm_get_attr(copy, other, &value, &flag);
    good &= MPI_TEST_CHECK(flag == 0 && log.copied == 1, rank, log.copied);
    // Expect: a freed key serves the attributes there are.
    int freed = key;
    MPI_Comm_free_keyval(&freed);
    good &= MPI_TEST_CHECK(freed == MPI_KEYVAL_INVALID, rank, freed);
    MPI_Comm_free(&copy);
    good &= MPI_TEST_CHECK(log.deleted == 1, rank, log.deleted);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag);
    good &= MPI_TEST_CHECK(flag == 0 && log.deleted == 2, rank, log.deleted);
    int* bound = nullptr;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &flag);
    good &= MPI_TEST_CHECK(flag == 1 && *bound >= 32767, rank, flag);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    good &= MPI_TEST_CHECK(MPI_Comm_set_attr(MPI_COMM_WORLD, 77, place) == MPI_ERR_KEYVAL, rank, 0);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, other);
    return good;
  });
  // Expect: attributes of MPI_COMM_SELF go first of all in MPI_Finalize, the latest first.
  const run::RunReport report = run_bare(GetParam(), 1, [] {
    static_assert(sizeof(void*) == sizeof(long));
    long order[3] = {};
    int keys[2];
    MPI_Init(nullptr, nullptr);
    for (int& key : keys) {
      MPI_Comm_create_keyval(
          MPI_COMM_NULL_COPY_FN,
          [](MPI_Comm, int, void* value, void* extra) -> int {
            long* const log = static_cast<long*>(extra);
            log[1 + log[0]++] = reinterpret_cast<long>(value);
            return MPI_SUCCESS;
          },
          &key, order);
    }
    MPI_Comm_set_attr(MPI_COMM_SELF, keys[0], reinterpret_cast<void*>(10));
    MPI_Comm_set_attr(MPI_COMM_SELF, keys[1], reinterpret_cast<void*>(11));
    MPI_Finalize();
    return order[0] == 2 && order[1] == 11 && order[2] == 10 ? 0 : 1;
  });
  EXPECT_EQ(report.exit_code, 0) << report.failure;
}

// Frees its key, which the attribute that goes still has.
int free_own_key(MPI_Comm, int key, void*, void* extra) {
  ++*static_cast<int*>(extra);
  return MPI_Comm_free_keyval(&key);
}

TEST_P(ObjectsOfMpi, KeysAreFreedOnceAndServeOneKindOfObject) {
  run_ranks(GetParam(), 1, [](int rank, int) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int of_comm = 0, of_type = 0, of_win = 0, deleted = 0, value = 0, flag = 0;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_own_key, &of_comm, &deleted);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &of_type, nullptr);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &of_win, nullptr);
    MPI_Win win = MPI_WIN_NULL;
    MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    bool good = true;
    const auto refused = [&](int error, const char* what) {
      good &= check(error == MPI_ERR_KEYVAL, what, rank, error);
    };
    for (int key : {of_type, of_win}) {
      refused(MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value), "a communicator's");
      refused(MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag), "a communicator's, got");
      refused(MPI_Comm_delete_attr(MPI_COMM_WORLD, key), "a communicator's, deleted");
      refused(MPI_Comm_free_keyval(&key), "a communicator's, freed");
    }
    for (int key : {of_comm, of_win}) {
      refused(MPI_Type_set_attr(MPI_INT, key, &value), "a type's");
      refused(MPI_Type_free_keyval(&key), "a type's, freed");
    }
    for (int key : {of_comm, of_type}) {
      refused(MPI_Win_set_attr(win, key, &value), "a window's");
      refused(MPI_Win_free_keyval(&key), "a window's, freed");
    }
    // Expect: a key that was freed is known as long as an attribute has it, and no longer.
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_attr(MPI_COMM_WORLD, of_comm, &value);
    MPI_Comm_set_attr(copy, of_comm, &value);
    MPI_Comm_free(&copy);
    good &= MPI_TEST_CHECK(deleted == 1, rank, deleted);
    int again = of_comm;
    good &= MPI_TEST_CHECK(MPI_Comm_free_keyval(&again) == MPI_SUCCESS, rank, 0);
    void* got = nullptr;
    MPI_Comm_get_attr(MPI_COMM_WORLD, of_comm, &got, &flag);
    good &= MPI_TEST_CHECK(flag == 1 && got == &value, rank, flag);
    refused(MPI_Comm_set_attr(MPI_COMM_SELF, of_comm, &value), "freed, set");
    MPI_Comm_delete_attr(MPI_COMM_WORLD, of_comm);
    good &= MPI_TEST_CHECK(deleted == 2, rank, deleted);
    refused(MPI_Comm_free_keyval(&of_comm), "freed, freed");
    for (int twice = 0; twice < 2; ++twice) {
      int type_key = of_type, win_key = of_win;
      const int errors[] = {MPI_Type_free_keyval(&type_key), MPI_Win_free_keyval(&win_key)};
      for (const int error : errors) {
        good &= MPI_TEST_CHECK(error == (twice ? MPI_ERR_KEYVAL : MPI_SUCCESS), rank, error);
      }
    }
    MPI_Win_free(&win);
    return good;
  });
}

// The largest and the smallest dimension differ as little as can be.
TEST_P(ObjectsOfMpi, DimensionsAreAsEvenAsCanBe) {
  run_ranks(GetParam(), 1, [](int rank, int) {
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    bool good = true;
    const struct {
      int nodes;
      std::vector<int> expected;
    } cases[] = {{1, {1, 1}},
                 {7, {7, 1}},
                 {72, {9, 8}},
                 {72, {6, 4, 3}},
                 {60, {5, 4, 3}},
                 {1000000000, {1000, 1000, 1000}},
                 {64, {4, 4, 4}},
                 {100, {5, 5, 2, 2}},
                 {1 << 30, {32768, 32768}},
                 {2147483647, {2147483647, 1, 1}}};
    for (const auto& each : cases) {
      std::vector<int> dims(each.expected.size(), 0);
      MPI_Dims_create(each.nodes, static_cast<int>(dims.size()), dims.data());
      good &= MPI_TEST_CHECK(dims == each.expected, rank, each.nodes);
    }
    int some[4] = {0, 2, 0, 3};
    MPI_Dims_create(432, 4, some);
    good &= MPI_TEST_CHECK(some[0] == 9 && some[1] == 2 && some[2] == 8, rank, some[0]);
    // Expect: what cannot be divided so is told, and left as it is.
    int wrong[3] = {4, 0, 3};
    good &= MPI_TEST_CHECK(MPI_Dims_create(16, 3, wrong) == MPI_ERR_DIMS, rank, wrong[1]);
    int few[2] = {2, 3};
    good &= MPI_TEST_CHECK(MPI_Dims_create(12, 2, few) == MPI_ERR_DIMS, rank, few[0]);
    int negative[2] = {-2, 0};
    good &= MPI_TEST_CHECK(MPI_Dims_create(12, 2, negative) == MPI_ERR_DIMS, rank, negative[1]);
    good &= MPI_TEST_CHECK(MPI_Dims_create(0, 2, few) == MPI_ERR_DIMS, rank, 0);
    good &= MPI_TEST_CHECK(MPI_Dims_create(2, 0, nullptr) == MPI_ERR_DIMS, rank, 0);
    return good & MPI_TEST_CHECK(wrong[1] == 0 && few[1] == 3 && negative[1] == 0, rank, 0);
  });
}

TEST_P(ObjectsOfMpi, InfoKeepsKeysInOrder) {
  run_ranks(GetParam(), 1, [](int rank, int) {
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Info info, copy;
    MPI_Info_create(&info);
    MPI_Info_set(info, "first", "1");
    MPI_Info_set(info, "second", "two");
    MPI_Info_set(info, "first", "one");
    MPI_Info_dup(info, &copy);
    MPI_Info_delete(copy, "second");
    int n = 0, flag = 0;
    char text[MPI_MAX_INFO_VAL + 1];
    MPI_Info_get_nkeys(info, &n);
    bool good = MPI_TEST_CHECK(n == 2, rank, n);
    MPI_Info_get_nthkey(info, 1, text);
    good &= MPI_TEST_CHECK(std::string(text) == "second", rank, 0);
    MPI_Info_get(info, "first", 2, text, &flag);
    good &= MPI_TEST_CHECK(flag == 1 && std::string(text) == "on", rank, flag);
    n = 2;
    MPI_Info_get_string(info, "first", &n, text, &flag);
    good &= MPI_TEST_CHECK(flag == 1 && n == 4 && std::string(text) == "o", rank, n);
    MPI_Info_get_valuelen(copy, "second", &n, &flag);
    good &= MPI_TEST_CHECK(flag == 0, rank, flag);
    good &= MPI_TEST_CHECK(MPI_Info_delete(copy, "second") == MPI_ERR_INFO_NOKEY, rank, 0);
    const std::string long_key(MPI_MAX_INFO_KEY, 'k');
    good &= MPI_TEST_CHECK(MPI_Info_set(info, long_key.c_str(), "") == MPI_ERR_INFO_KEY, rank, 0);
    MPI_Info_get(MPI_INFO_ENV, "thread_level", MPI_MAX_INFO_VAL, text, &flag);
    good &= MPI_TEST_CHECK(flag == 1, rank, flag);
    MPI_Info freed = info;
    MPI_Info_free(&info);
    MPI_Info_free(&copy);
    good &= MPI_TEST_CHECK(MPI_Info_get_nkeys(freed, &n) == MPI_ERR_INFO, rank, 0);
    return good & MPI_TEST_CHECK(MPI_Info_get_nkeys(MPI_INFO_NULL, &n) == MPI_ERR_INFO, rank, 0);
  });
}

TEST_P(ObjectsOfMpi, HardwareIsDescribed) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    MPI_Info info;
    bool good = MPI_TEST_CHECK(MPI_Get_hw_resource_info(&info) == MPI_SUCCESS, rank, 0);
    char text[MPI_MAX_INFO_VAL + 1];
    int length = sizeof text, flag = 0, n = 0;
    MPI_Info_get_string(info, "hwloc://Machine", &length, text, &flag);
    good &= MPI_TEST_CHECK(flag == 1 && std::string(text) == "true", rank, flag);
    // Expect: every value is one of two
    MPI_Info_get_nkeys(info, &n);
    for (int i = 0; i < n; ++i) {
      char key[MPI_MAX_INFO_KEY + 1];
      MPI_Info_get_nthkey(info, i, key);
      length = sizeof text;
      MPI_Info_get_string(info, key, &length, text, &flag);
      const std::string value = text;
      good &= MPI_TEST_CHECK(value == "true" || value == "false", rank, i);
    }
    return good & MPI_TEST_CHECK(MPI_Info_free(&info) == MPI_SUCCESS, rank, n);
  });
}

void remember(MPI_Comm* comm, int* code, ...) {
  char name[MPI_MAX_OBJECT_NAME];
  void* log = nullptr;
  int flag = 0;
  MPI_Comm_get_name(*comm, name, &flag);
  MPI_Comm_get_attr(MPI_COMM_WORLD, 1000, &log, &flag);  // the first key a program makes
  if (flag != 0) *static_cast<int*>(log) = *code * 1000 + name[0];
}

TEST_P(ObjectsOfMpi, ErrorHandlersOfTheProgramAreCalled) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    int heard = 0, key = 0;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
    bool good = MPI_TEST_CHECK(key == 1000, rank, key);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &heard);
    MPI_Comm comm = MPI_COMM_NULL, copy = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
    MPI_Comm_set_name(comm, "a");
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL, found = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(remember, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Comm_get_errhandler(comm, &found);
    good &= MPI_TEST_CHECK(found == handler, rank, 0);
    MPI_Errhandler_free(&found);
    MPI_Errhandler_free(&handler);
    // Expect: a handler that was freed serves the communicators that have it, and their copies.
    MPI_Comm_dup(comm, &copy);
    good &= MPI_TEST_CHECK(MPI_Send(&key, 1, MPI_INT, 9, 0, copy) == MPI_ERR_RANK, rank, 0);
    good &= MPI_TEST_CHECK(heard == MPI_ERR_RANK * 1000, rank, heard);
    int error_class = 0, code = 0, length = 0;
    MPI_Add_error_class(&error_class);
    MPI_Add_error_code(error_class, &code);
    MPI_Add_error_string(code, "too late");
    MPI_Comm_call_errhandler(comm, code);
    good &= MPI_TEST_CHECK(heard == code * 1000 + 'a', rank, heard);
    char text[MPI_MAX_ERROR_STRING];
    MPI_Error_string(code, text, &length);
    good &= MPI_TEST_CHECK(std::string(text) == "too late", rank, length);
    MPI_Error_class(code, &length);
    good &= MPI_TEST_CHECK(length == error_class && length > MPI_ERR_LASTCODE, rank, length);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&copy);
    return good;
  });
}

// From the last on (MPI 4.1, section 9.5): the string, the code, the class.
TEST_P(ObjectsOfMpi, ErrorCodesThatAreRemoved) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int error_class = 0, code = 0, length = -1;
    char text[MPI_MAX_ERROR_STRING] = "?";
    MPI_Add_error_class(&error_class);
    MPI_Add_error_code(error_class, &code);
    MPI_Add_error_string(error_class, "");  // a blank one is one
    MPI_Add_error_string(code, "the code");
    bool good = MPI_TEST_CHECK(MPI_Remove_error_class(error_class) == MPI_ERR_ARG, rank, 0);
    good &= MPI_TEST_CHECK(MPI_Remove_error_code(code) == MPI_ERR_ARG, rank, 0);
    // Expect: what was refused has changed nothing
    MPI_Error_string(code, text, &length);
    good &= MPI_TEST_CHECK(std::string(text) == "the code", rank, length);
    good &= MPI_TEST_CHECK(MPI_Remove_error_string(code) == MPI_SUCCESS, rank, 0);
    good &= MPI_TEST_CHECK(MPI_Remove_error_string(code) == MPI_ERR_ARG, rank, 0);
    MPI_Error_string(code, text, &length);
    good &= MPI_TEST_CHECK(length == 0, rank, length);
    good &= MPI_TEST_CHECK(MPI_Remove_error_class(code) == MPI_ERR_ARG, rank, 0);
    good &= MPI_TEST_CHECK(MPI_Remove_error_code(error_class) == MPI_ERR_ARG, rank, 0);
    good &= MPI_TEST_CHECK(MPI_Remove_error_code(code) == MPI_SUCCESS, rank, 0);
    good &= MPI_TEST_CHECK(MPI_Remove_error_code(code) == MPI_ERR_ARG, rank, 0);
    good &= MPI_TEST_CHECK(MPI_Remove_error_class(error_class) == MPI_ERR_ARG, rank, 0);
    good &= MPI_TEST_CHECK(MPI_Remove_error_string(error_class) == MPI_SUCCESS, rank, 0);
    good &= MPI_TEST_CHECK(MPI_Remove_error_class(error_class) == MPI_SUCCESS, rank, 0);
    good &= MPI_TEST_CHECK(MPI_Remove_error_class(MPI_ERR_ARG) == MPI_ERR_ARG, rank, 0);
    // Expect: the numbers are used again, so what comes and goes does not add up
    int first_class = 0, first_code = 0;
    MPI_Add_error_class(&first_class);
    MPI_Add_error_code(first_class, &first_code);
    good &= MPI_TEST_CHECK(std::min(first_class, first_code) == std::min(error_class, code), rank,
                           first_class);
    good &= MPI_TEST_CHECK(std::max(first_class, first_code) == std::max(error_class, code), rank,
                           first_code);
    MPI_Error_string(first_code, text, &length);
    good &= MPI_TEST_CHECK(length == 0, rank, length);
    MPI_Error_class(first_code, &length);
    good &= MPI_TEST_CHECK(length == first_class, rank, length);
    return good;
  });
}

TEST_P(ObjectsOfMpi, NeighboursOnAGrid) {
  run_ranks(GetParam(), 6, [](int rank, int) {
    int dims[2] = {0, 0};
    MPI_Dims_create(6, 2, dims);
    bool good = MPI_TEST_CHECK(dims[0] == 3 && dims[1] == 2, rank, dims[0]);
    int some[3] = {0, 2, 0};
    MPI_Dims_create(24, 3, some);
    good &= MPI_TEST_CHECK(some[0] == 4 && some[1] == 2 && some[2] == 3, rank, some[0]);
    const int periods[2] = {1, 0};
    MPI_Comm grid = MPI_COMM_NULL, column = MPI_COMM_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    int coords[2], got_dims[2], got_periods[2], kind = 0;
    MPI_Cart_get(grid, 2, got_dims, got_periods, coords);
    good &= MPI_TEST_CHECK(got_dims[0] == 3 && got_periods[0] == 1 && got_periods[1] == 0, rank, 0);
    good &= MPI_TEST_CHECK(coords[0] * 2 + coords[1] == rank, rank, coords[0]);
    MPI_Topo_test(grid, &kind);
    good &= MPI_TEST_CHECK(kind == MPI_CART, rank, kind);
    // Expect: values come from the neighbours, and from nobody beyond an edge.
    for (int direction = 0; direction < 2; ++direction) {
      int from = 0, to = 0, got = -1;
      MPI_Cart_shift(grid, direction, 1, &from, &to);
      MPI_Sendrecv(&rank, 1, MPI_INT, to, 0, &got, 1, MPI_INT, from, 0, grid, MPI_STATUS_IGNORE);
      const int wanted = direction == 0 ? (rank + 4) % 6 : rank % 2 == 1 ? rank - 1 : -1;
      good &= MPI_TEST_CHECK(got == wanted, rank, got);
    }
    const int outside[2] = {-1, 1};
    int at = 0, sum = 0, n = 0;
    MPI_Cart_rank(grid, outside, &at);
    good &= MPI_TEST_CHECK(at == 5, rank, at);
    const int remain[2] = {1, 0};
    MPI_Cart_sub(grid, remain, &column);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, column);
    good &= MPI_TEST_CHECK(sum == (rank % 2 == 0 ? 6 : 9), rank, sum);
    MPI_Cartdim_get(column, &n);
    good &= MPI_TEST_CHECK(n == 1, rank, n);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    good &= MPI_TEST_CHECK(MPI_Cartdim_get(MPI_COMM_WORLD, &n) == MPI_ERR_TOPOLOGY, rank, 0);
    const int many[2] = {4, 2};
    MPI_Comm small = MPI_COMM_WORLD;
    good &= MPI_TEST_CHECK(
        MPI_Cart_create(MPI_COMM_WORLD, 2, many, periods, 0, &small) == MPI_ERR_DIMS, rank, 0);
    good &= MPI_TEST_CHECK(small == MPI_COMM_NULL, rank, 0);
    // Expect: a grid of fewer ranks leaves the last ones out.
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &small);
    good &= MPI_TEST_CHECK((small == MPI_COMM_NULL) == (rank >= 3), rank, 0);
    MPI_Comm_free(&column);
    MPI_Comm_free(&grid);
    if (small != MPI_COMM_NULL) MPI_Comm_free(&small);
    void* memory = nullptr;
    MPI_Alloc_mem(1000, MPI_INFO_NULL, &memory);
    MPI_Aint address = 0;
    MPI_Get_address(memory, &address);
    good &= MPI_TEST_CHECK(address == reinterpret_cast<MPI_Aint>(memory), rank, 0);
    std::memset(memory, 1, 1000);
    MPI_Free_mem(memory);
    return good;
  });
}

// Requests become done one after the other.
TEST_P(ObjectsOfMpi, SomeRequestsAreDone) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    constexpr int kMessages = 4;
    const int other = 1 - rank;
    int got[kMessages] = {-1, -1, -1, -1};
    MPI_Request requests[kMessages + 1];
    MPI_Status statuses[kMessages + 1];
    int indices[kMessages + 1];
    requests[kMessages] = MPI_REQUEST_NULL;
    for (int i = 0; i < kMessages; ++i) {
      MPI_Irecv(&got[i], 1, MPI_INT, other, i, MPI_COMM_WORLD, &requests[i]);
    }
    int n = 7, flag = 7, index = 7;
    MPI_Testany(1, requests + kMessages, &index, &flag, statuses);
    bool good = MPI_TEST_CHECK(flag == 1 && index == MPI_UNDEFINED, rank, index);
    // Expect: where there is nothing to be done, the standard's empty status, error and all.
    const auto is_empty = [&](auto&& call) {
      MPI_Status& status = statuses[0];
      status.MPI_ERROR = MPI_ERR_OTHER;
      status.MPI_SOURCE = status.MPI_TAG = 1;
      call(&status);
      return status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG &&
             status.MPI_ERROR == MPI_SUCCESS;
    };
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Request inactive = MPI_REQUEST_NULL;
    MPI_Send_init(&n, 1, MPI_INT, other, 9, MPI_COMM_WORLD, &inactive);
    for (MPI_Request* each : {&none, &inactive}) {
      const bool all = is_empty([&](MPI_Status* at) { MPI_Wait(each, at); }) &&
                       is_empty([&](MPI_Status* at) { MPI_Test(each, &flag, at); }) &&
                       is_empty([&](MPI_Status* at) { MPI_Waitany(1, each, &index, at); }) &&
                       is_empty([&](MPI_Status* at) { MPI_Testany(1, each, &index, &flag, at); }) &&
                       is_empty([&](MPI_Status* at) { MPI_Request_get_status(*each, &flag, at); });
      good &= MPI_TEST_CHECK(all, rank, each == &none);
    }
    MPI_Request_free(&inactive);
    MPI_Testsome(1, requests + kMessages, &n, indices, statuses);
    good &= MPI_TEST_CHECK(n == MPI_UNDEFINED, rank, n);
    MPI_Barrier(MPI_COMM_WORLD);
    // Expect: each is told once, with its status, whatever came first.
    const int values[] = {30, 31, 32, 33};
    MPI_Request ready;
    MPI_Rsend(&values[2], 1, MPI_INT, other, 2, MPI_COMM_WORLD);
    MPI_Irsend(&values[0], 1, MPI_INT, other, 0, MPI_COMM_WORLD, &ready);
    int told = 0, seen = 0;
    while (told < 2) {
      MPI_Waitsome(kMessages + 1, requests, &n, indices, statuses);
      for (int i = 0; i < n; ++i) {
        good &= MPI_TEST_CHECK(statuses[i].MPI_TAG == indices[i], rank, indices[i]);
        good &= MPI_TEST_CHECK(requests[indices[i]] == MPI_REQUEST_NULL, rank, indices[i]);
        seen |= 1 << indices[i];
      }
      told += n;
    }
    good &= MPI_TEST_CHECK(told == 2 && seen == 0b101, rank, seen);
    MPI_Wait(&ready, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&values[1], 1, MPI_INT, other, 1, MPI_COMM_WORLD);
    for (flag = 0; flag == 0;) MPI_Request_get_status(requests[1], &flag, statuses);
    good &= MPI_TEST_CHECK(statuses[0].MPI_TAG == 1 && statuses[0].MPI_SOURCE == other, rank, 0);
    for (flag = 0; flag == 0;) {
      MPI_Testany(kMessages + 1, requests, &index, &flag, statuses);
    }
    good &= MPI_TEST_CHECK(index == 1 && requests[1] == MPI_REQUEST_NULL, rank, index);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&values[3], 1, MPI_INT, other, 3, MPI_COMM_WORLD);
    for (n = 0; n == 0;) MPI_Testsome(kMessages + 1, requests, &n, indices, statuses);
    good &= MPI_TEST_CHECK(n == 1 && indices[0] == 3, rank, n);
    for (int i = 0; i < kMessages; ++i) good &= MPI_TEST_CHECK(got[i] == 30 + i, rank, got[i]);
    std::vector<int> swapped(70'000, rank);
    MPI_Sendrecv_replace(swapped.data(), 70'000, MPI_INT, other, 5, other, 5, MPI_COMM_WORLD,
                         statuses);
    good &= MPI_TEST_CHECK(swapped.front() == other && swapped.back() == other, rank, 0);
    return good;
  });
}

}  // namespace
}  // namespace fairlead::mpi_test
