/* C's side of with_c.F90. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int wrong;
#define CHECK(condition)                           \
  do {                                             \
    if (!(condition)) {                            \
      printf("not as expected: %s\n", #condition); \
      ++wrong;                                     \
    }                                              \
  } while (0)

static void thousand(void* in, void* inout, int* length, MPI_Datatype* datatype) {
  (void)in;
  (void)datatype;
  for (int i = 0; i < *length; ++i) ((int*)inout)[i] = 1000;
}

static void handles(MPI_Fint comm, MPI_Fint type) {
  MPI_Comm c_comm = MPI_Comm_f2c(comm);
  int result = 0;
  int size = 0;
  MPI_Comm_compare(c_comm, MPI_COMM_WORLD, &result);
  CHECK(result == MPI_CONGRUENT || result == MPI_SIMILAR);
  CHECK(MPI_Comm_c2f(c_comm) == comm);
  CHECK(MPI_Comm_c2f(MPI_COMM_WORLD) == 257 && PMPI_Comm_f2c(257) == MPI_COMM_WORLD);
  MPI_Type_size(MPI_Type_f2c(type), &size);
  CHECK(size == 12);
  CHECK(MPI_Request_c2f(MPI_REQUEST_NULL) == 384);
}

static void statuses(MPI_Fint* f_status) {
  MPI_Status status;
  MPI_F08_status f08_status;
  MPI_Fint again[MPI_F_STATUS_SIZE];
  int count = 0;
  CHECK(MPI_Status_f2c(f_status, &status) == MPI_SUCCESS);
  CHECK(status.MPI_TAG == 5);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(count == 3);
  CHECK(MPI_Status_c2f08(&status, &f08_status) == MPI_SUCCESS && f08_status.MPI_TAG == 5);
  CHECK(MPI_Status_f082f(&f08_status, again) == MPI_SUCCESS);
  CHECK(memcmp(again, f_status, sizeof again) == 0);
  CHECK(MPI_Status_f2f08(again, &f08_status) == MPI_SUCCESS);
  CHECK(MPI_Status_f082c(&f08_status, &status) == MPI_SUCCESS);
  CHECK(MPI_Status_c2f(&status, again) == MPI_SUCCESS && again[MPI_F_TAG] == 5);
  /* Expect: what stands for no status has none to give. */
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK(MPI_Status_f2c(MPI_F_STATUS_IGNORE, &status) != MPI_SUCCESS);
  CHECK(MPI_Status_c2f(MPI_STATUS_IGNORE, again) != MPI_SUCCESS);
  CHECK(MPI_F_STATUSES_IGNORE != f_status && MPI_F08_STATUS_IGNORE != &f08_status);
}

static void abi(void) {
  MPI_Info info;
  char value[16];
  int flag = 0;
  int yes = 0;
  int no = 0;
  MPI_Abi_get_fortran_info(&info);
  MPI_Info_get(info, "mpi_integer_size", 15, value, &flag);
  CHECK(flag && strcmp(value, "4") == 0);
  CHECK(MPI_Abi_set_fortran_info(info) == MPI_SUCCESS);
  MPI_Info_set(info, "mpi_integer_size", "8");
  CHECK(MPI_Abi_set_fortran_info(info) == MPI_ERR_ABI);
  MPI_Info_free(&info);
  /* Expect: MPI_Init of Fortran has told how its compiler writes LOGICAL. */
  CHECK(MPI_Abi_get_fortran_booleans(4, &yes, &no, &flag) == MPI_SUCCESS);
  CHECK(flag && yes == 1 && no == 0);
  yes = 7;
  CHECK(MPI_Abi_set_fortran_booleans(4, &yes, &no) == MPI_ERR_ABI);
  CHECK(MPI_Abi_set_fortran_booleans(8, &yes, &no) == MPI_ERR_ABI);
}

MPI_Aint c_attributes(MPI_Fint comm, int key, int* own_key, MPI_Aint* own) {
  static int there;
  MPI_Aint* value = NULL;
  int flag = 0;
  MPI_Comm_get_attr(MPI_Comm_f2c(comm), key, &value, &flag);
  const MPI_Aint found = flag ? *value : -1;
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, own_key, NULL);
  MPI_Comm_set_attr(MPI_Comm_f2c(comm), *own_key, &there);
  *own = (MPI_Aint)&there;
  return found;
}

int c_side(MPI_Fint comm, MPI_Fint type, MPI_Fint* status, MPI_Fint* op) {
  MPI_Op made;
  handles(comm, type);
  statuses(status);
  abi();
  MPI_Op_create(thousand, 1, &made);
  *op = MPI_Op_c2f(made);
  return wrong;
}
