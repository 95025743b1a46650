/* The MPI 5.0 ABI as a C program sees it: sizes and values are compared with the standard's. */
#include <fairlead/systems/mpi/mpi.h>
#include <stddef.h>
#include <stdio.h>

_Static_assert(sizeof(MPI_Aint) == 8 && sizeof(MPI_Count) == 8 && sizeof(MPI_Offset) == 8, "sizes");
_Static_assert(sizeof(MPI_Status) == 32, "status");
_Static_assert(offsetof(MPI_Status, MPI_SOURCE) == 0 && offsetof(MPI_Status, MPI_TAG) == 4 &&
                   offsetof(MPI_Status, MPI_ERROR) == 8 && offsetof(MPI_Status, MPI_internal) == 12,
               "status fields");
_Static_assert(sizeof(MPI_Comm) == sizeof(void*) && sizeof(MPI_Datatype) == sizeof(void*) &&
                   sizeof(MPI_Request) == sizeof(void*) && sizeof(MPI_Op) == sizeof(void*) &&
                   sizeof(MPI_Errhandler) == sizeof(void*),
               "handles");
_Static_assert(sizeof(MPI_Group) == sizeof(void*) && sizeof(MPI_Win) == sizeof(void*) &&
                   sizeof(MPI_File) == sizeof(void*) && sizeof(MPI_Session) == sizeof(void*) &&
                   sizeof(MPI_Message) == sizeof(void*) && sizeof(MPI_Info) == sizeof(void*),
               "handles");
_Static_assert(MPI_VERSION == 5 && MPI_SUBVERSION == 0 && MPI_ABI_VERSION == 1, "version");

static int failures = 0;

static void expect(long found, long value, const char* name) {
  if (found == value) return;
  printf("%s is %ld, not %ld\n", name, found, value);
  ++failures;
}

int main(void) {
  int major = 0;
  int minor = -1;
#define ABI_CONSTANT(name, value) expect((long)(name), value, #name);
#include "tests/mpi/abi_constants.inc"
#undef ABI_CONSTANT
  MPI_Abi_get_version(&major, &minor);
  if (major != 1 || minor != 0) {
    printf("MPI_Abi_get_version says %d.%d\n", major, minor);
    ++failures;
  }
  return failures != 0;
}
