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
_Static_assert(MPI_VERSION == 5 && MPI_SUBVERSION == 0 && MPI_ABI_VERSION == 1, "version");
_Static_assert(MPI_ANY_SOURCE == -1 && MPI_ANY_TAG == -2 && MPI_PROC_NULL == -3, "sentinels");
_Static_assert(MPI_UNDEFINED == -32766 && MPI_ERR_LASTCODE == 16383, "sentinels");
_Static_assert(MPI_THREAD_SINGLE == 0 && MPI_THREAD_FUNNELED == 1024 &&
                   MPI_THREAD_SERIALIZED == 2048 && MPI_THREAD_MULTIPLE == 4096,
               "thread levels");
_Static_assert(MPI_SUCCESS == 0 && MPI_ERR_TRUNCATE == 15 && MPI_ERR_IN_STATUS == 19 &&
                   MPI_ERR_ABI == 62,
               "error classes");
_Static_assert(MPI_MAX_PROCESSOR_NAME == 256 && MPI_MAX_ERROR_STRING == 512 &&
                   MPI_MAX_LIBRARY_VERSION_STRING == 8192,
               "lengths");

static int failures = 0;

static void expect(const void* handle, unsigned long value, const char* name) {
  if ((unsigned long)handle == value) return;
  printf("%s is 0x%lx, not 0x%lx\n", name, (unsigned long)handle, value);
  ++failures;
}
#define EXPECT(name, value) expect((const void*)(name), value, #name)

int main(void) {
  int major = 0;
  int minor = -1;
  EXPECT(MPI_COMM_NULL, 0x100);
  EXPECT(MPI_COMM_WORLD, 0x101);
  EXPECT(MPI_COMM_SELF, 0x102);
  EXPECT(MPI_REQUEST_NULL, 0x180);
  EXPECT(MPI_ERRORS_ARE_FATAL, 0x141);
  EXPECT(MPI_ERRORS_RETURN, 0x143);
  EXPECT(MPI_OP_NULL, 0x20);
  EXPECT(MPI_SUM, 0x21);
  EXPECT(MPI_PROD, 0x24);
  EXPECT(MPI_BXOR, 0x2a);
  EXPECT(MPI_MAXLOC, 0x39);
  EXPECT(MPI_DATATYPE_NULL, 0x200);
  EXPECT(MPI_INT, 0x209);
  EXPECT(MPI_LONG, 0x20a);
  EXPECT(MPI_FLOAT, 0x210);
  EXPECT(MPI_DOUBLE, 0x214);
  EXPECT(MPI_CHAR, 0x243);
  EXPECT(MPI_BYTE, 0x247);
  EXPECT(MPI_UINT64_T, 0x259);
  EXPECT(MPI_IN_PLACE, 1);
  EXPECT(MPI_STATUS_IGNORE, 0);
  MPI_Abi_get_version(&major, &minor);
  if (major != 1 || minor != 0) {
    printf("MPI_Abi_get_version says %d.%d\n", major, minor);
    ++failures;
  }
  return failures != 0;
}
