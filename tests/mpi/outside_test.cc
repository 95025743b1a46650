// What programs may call before MPI_Init and after MPI_Finalize.
#include <string>

#include "tests/expect_words.h"
#include "tests/mpi/mpi_worlds.h"

namespace fairlead::mpi_test {
namespace {

struct Outside : PerWorld {};
INSTANTIATE_MPI_TESTS(Outside);

std::string value_of(MPI_Info info, const char* key) {
  char text[MPI_MAX_INFO_VAL + 1] = "";
  int length = sizeof text;
  int flag = 0;
  MPI_Info_get_string(info, key, &length, text, &flag);
  return flag != 0 ? text : "";
}

// Makes, changes, copies and frees info objects; `old` was made by then, and is freed.
bool use_info(MPI_Info* old, const char* was) {
  bool good = MPI_TEST_CHECK(value_of(*old, "key") == was, 0, 0);
  MPI_Info copy = MPI_INFO_NULL, env = MPI_INFO_NULL;
  good &= MPI_TEST_CHECK(MPI_Info_dup(*old, &copy) == MPI_SUCCESS, 0, 0);
  good &= MPI_TEST_CHECK(MPI_Info_free(old) == MPI_SUCCESS, 0, 0);
  MPI_Info_set(copy, "other", "more");
  MPI_Info_delete(copy, "key");
  int n = 0, flag = 0;
  MPI_Info_get_nkeys(copy, &n);
  char key[MPI_MAX_INFO_KEY + 1] = "";
  MPI_Info_get_nthkey(copy, 0, key);
  good &= MPI_TEST_CHECK(n == 1 && std::string(key) == "other", 0, n);
  MPI_Info_get_valuelen(copy, "other", &n, &flag);
  good &= MPI_TEST_CHECK(flag == 1 && n == 4, 0, n);
  good &= MPI_TEST_CHECK(MPI_Info_create_env(0, nullptr, &env) == MPI_SUCCESS, 0, 0);
  good &= MPI_TEST_CHECK(MPI_Info_get_nkeys(env, &n) == MPI_SUCCESS, 0, 0);
  MPI_Info_get_nkeys(MPI_INFO_ENV, &flag);
  good &= MPI_TEST_CHECK(n == flag, 0, n);
  for (MPI_Info* each : {&copy, &env}) {
    good &= MPI_TEST_CHECK(MPI_Info_free(each) == MPI_SUCCESS && *each == MPI_INFO_NULL, 0, 0);
  }
  return good;
}

// What is told of the library, and of errors.
bool ask(bool initialized, bool finalized) {
  int major = 0, minor = 0, flag = -1, length = 0;
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  MPI_Get_version(&major, &minor);
  bool good = MPI_TEST_CHECK(major == MPI_VERSION && minor == MPI_SUBVERSION, 0, major);
  MPI_Abi_get_version(&major, &minor);
  good &= MPI_TEST_CHECK(major == MPI_ABI_VERSION && minor == MPI_ABI_SUBVERSION, 0, major);
  MPI_Get_library_version(text, &length);
  good &= MPI_TEST_CHECK(length > 0 && std::string(text).starts_with("Fairlead"), 0, length);
  MPI_Initialized(&flag);
  good &= MPI_TEST_CHECK(flag == initialized, 0, flag);
  MPI_Finalized(&flag);
  good &= MPI_TEST_CHECK(flag == finalized, 0, flag);
  MPI_Error_class(MPI_ERR_RANK, &flag);
  MPI_Error_string(MPI_ERR_RANK, text, &length);
  good &= MPI_TEST_CHECK(flag == MPI_ERR_RANK && length > 0, 0, flag);
  MPI_Info about = MPI_INFO_NULL;
  MPI_Abi_get_info(&about);
  good &= MPI_TEST_CHECK(value_of(about, "mpi_aint_size") == "8", 0, 0);
  return good && MPI_TEST_CHECK(MPI_Info_free(&about) == MPI_SUCCESS, 0, 0);
}

void ignore(MPI_Comm*, int*, ...) {}

TEST_P(Outside, InfoAndVersionsAreThereAtAnyTime) {
  const run::RunReport report = run_bare(GetParam(), 2, [] {
    MPI_Info early[3];
    for (MPI_Info& each : early) {
      MPI_Info_create(&each);
      MPI_Info_set(each, "key", "early");
    }
    bool good = use_info(&early[0], "early") && ask(false, false);
    MPI_Init(nullptr, nullptr);
    good &= use_info(&early[1], "early") && ask(true, false);
    MPI_Info late = MPI_INFO_NULL;
    MPI_Info_create(&late);
    MPI_Info_set(late, "key", "late");
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(ignore, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Finalize();
    // Expect: what was made before, whenever that was, can be used and freed.
    good &= use_info(&early[2], "early") && use_info(&late, "late") && ask(true, true);
    MPI_Errhandler_free(&handler);
    good &= MPI_TEST_CHECK(handler == MPI_ERRHANDLER_NULL, 0, 0);
    int code = 0, code_class = 0;
    MPI_Add_error_class(&code_class);
    MPI_Add_error_code(code_class, &code);
    MPI_Error_class(code, &code);
    good &= MPI_TEST_CHECK(code == code_class, 0, code);
    // Expect: errors go to the handler that MPI_COMM_SELF had.
    int n = 0;
    good &= MPI_TEST_CHECK(MPI_Info_get_nkeys(MPI_INFO_NULL, &n) == MPI_ERR_INFO, 0, 0);
    return good ? 0 : 1;
  });
  EXPECT_EQ(report.exit_code, 0) << report.failure;
}

TEST_P(Outside, ErrorsBeforeInitEndTheJobWithTheirNames) {
  const run::RunReport report = run_bare(GetParam(), 1, [] {
    int n = 0;
    MPI_Info_get_nkeys(MPI_INFO_NULL, &n);
    return 0;
  });
  expect_words(report.failure, {"MPI_Info_get_nkeys", "before MPI_Init", "MPI_ERR_INFO"});
}

}  // namespace
}  // namespace fairlead::mpi_test
