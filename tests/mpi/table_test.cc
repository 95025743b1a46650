// What calls.txt says of every call: which arguments are wrong, and what is not there.
#include <string>

#include "tests/mpi/mpi_worlds.h"

namespace fairlead::mpi_test {
namespace {

struct Table : PerWorld {};
INSTANTIATE_MPI_TESTS(Table);

// Arguments that are right; the table of bad ones names them.
struct Right {
  int in[16] = {};
  int out[16] = {};
  int ones[4] = {1, 1, 1, 1};
  int zeros[4] = {};
  int negative[4] = {-1, -1, -1, -1};
  int numbers[16] = {};
  int ranges[1][3] = {{0, 0, 1}};
  MPI_Aint wide[4] = {};
  int number = 0;
  MPI_Count count = 0;
  const char* text = "text";
  char long_text[MPI_MAX_INFO_VAL] = {};
  MPI_Status status{};
  MPI_Comm grid = MPI_COMM_NULL;  // of one dimension: right where any communicator is
  MPI_Comm graph = MPI_COMM_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Datatype type = MPI_INT;
  MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
  MPI_Group group = MPI_GROUP_EMPTY;
  MPI_Group members = MPI_GROUP_NULL;  // this rank
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info new_info = MPI_INFO_NULL;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win new_win = MPI_WIN_NULL;
  MPI_Op op = MPI_SUM;
  MPI_Errhandler handler = MPI_ERRORS_RETURN;
  MPI_Message message = MPI_MESSAGE_NULL;
};

// MPI_SUCCESS, too, is an answer with a class.
int class_of(int error) {
  int answer = MPI_SUCCESS;
  MPI_Error_class(error, &answer);
  return answer;
}

TEST_P(Table, EveryBadArgumentHasItsClass) {
  run_ranks(GetParam(), 1, [](int rank, int) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    Right right;
    MPI_Cart_create(MPI_COMM_WORLD, 1, right.ones, right.zeros, 0, &right.grid);
    MPI_Graph_create(MPI_COMM_WORLD, 1, right.ones, right.zeros, 0, &right.graph);
    MPI_Comm_group(MPI_COMM_WORLD, &right.members);
    MPI_Win_create(right.out, sizeof right.out, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &right.win);
    MPI_Win_set_errhandler(right.win, MPI_ERRORS_RETURN);
    bool good = true;
    int error = 0;
#define BAD_ARGUMENT(call, parameter, expected, expression)                                       \
  error = class_of(expression);                                                                   \
  good &= check(error == (expected), "MPI_" #call " with a bad " #parameter ": " #expected, rank, \
                error);
#include "tests/mpi/generated/bad_arguments.inc"
#undef BAD_ARGUMENT
    // Expect: the next correct call works.
    const int one = 1;
    int sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, right.grid);
    MPI_Comm_free(&right.grid);
    MPI_Comm_free(&right.graph);
    MPI_Group_free(&right.members);
    MPI_Win_free(&right.win);
    good &= MPI_TEST_CHECK(sum == 1, rank, sum);
    return good;
  });
}

TEST_P(Table, CallsThatAreNotThereSaySo) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    // Expect: the handler of the call's communicator hears it, or that of MPI_COMM_SELF.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int number = 0;
    MPI_Comm joined = MPI_COMM_NULL;
    bool good = MPI_TEST_CHECK(MPI_Comm_accept("port", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &joined) ==
                                   MPI_ERR_UNSUPPORTED_OPERATION,
                               rank, 0);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    char port[MPI_MAX_PORT_NAME];
    good &= MPI_TEST_CHECK(MPI_Open_port(MPI_INFO_NULL, port) == MPI_ERR_UNSUPPORTED_OPERATION,
                           rank, 0);
    MPI_File file = MPI_FILE_NULL;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    good &= MPI_TEST_CHECK(MPI_File_close(&file) == MPI_ERR_UNSUPPORTED_OPERATION, rank, 0);
    // Expect: a program that asks whether there are files goes on, whatever the handlers of
    // communicators are.
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    good &= MPI_TEST_CHECK(MPI_File_open(MPI_COMM_WORLD, "file", MPI_MODE_RDONLY, MPI_INFO_NULL,
                                         &file) == MPI_ERR_UNSUPPORTED_OPERATION,
                           rank, 0);
    good &= MPI_TEST_CHECK(MPI_File_delete("file", MPI_INFO_NULL) == MPI_ERR_UNSUPPORTED_OPERATION,
                           rank, 0);
    good &= MPI_TEST_CHECK(MPI_T_cvar_get_num(&number) == MPI_T_ERR_NOT_SUPPORTED, rank, 0);
    return good;
  });
  const run::RunReport told = run_bare(GetParam(), 1, [] {
    MPI_Init(nullptr, nullptr);
    char port[MPI_MAX_PORT_NAME];
    MPI_Open_port(MPI_INFO_NULL, port);
    return 0;
  });
  EXPECT_NE(told.failure.find("MPI_Open_port"), std::string::npos) << told.failure;
  EXPECT_NE(told.failure.find("MPI_ERR_UNSUPPORTED_OPERATION"), std::string::npos) << told.failure;
  // Expect: before MPI_Init it is the error handler of the call that decides.
  const run::RunReport before = run_bare(GetParam(), 1, [] {
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    return 0;
  });
  EXPECT_NE(before.failure.find("MPI_Session_init"), std::string::npos) << before.failure;
  const run::RunReport asked = run_bare(GetParam(), 1, [] {
    MPI_Session session = MPI_SESSION_NULL;
    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) !=
        MPI_ERR_UNSUPPORTED_OPERATION) {
      return 1;
    }
    MPI_Init(nullptr, nullptr);
    return MPI_Finalize();
  });
  EXPECT_EQ(asked.failure, "");
}

TEST_P(Table, HandlesAreIntegersAndBack) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    bool good = MPI_TEST_CHECK(MPI_Comm_toint(MPI_COMM_WORLD) == 0x101, rank, 0);
    good &= MPI_TEST_CHECK(MPI_Type_fromint(0x209) == MPI_INT, rank, 0);
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm other = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    const int number = MPI_Comm_toint(made);
    good &= MPI_TEST_CHECK(number >= 0x400 && MPI_Comm_toint(other) != number, rank, number);
    good &= MPI_TEST_CHECK(MPI_Comm_toint(made) == number, rank, number);
    good &= MPI_TEST_CHECK(MPI_Comm_fromint(number) == made, rank, number);
    good &= MPI_TEST_CHECK(MPI_Comm_fromint(number + 100) == MPI_COMM_NULL, rank, number);
    MPI_Comm_free(&made);
    MPI_Comm_free(&other);
    return good;
  });
}

}  // namespace
}  // namespace fairlead::mpi_test
