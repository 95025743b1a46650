! One text for the three forms of MPI for Fortran: FORM_MPIF, FORM_MPI or FORM_F08 says which.
#if defined(FORM_F08)
#define USE_MPI use mpi_f08
#define INCLUDE_MPI
#define COMM type(MPI_Comm)
#define GROUP type(MPI_Group)
#define REQUEST type(MPI_Request)
#define DATATYPE type(MPI_Datatype)
#define OPERATION type(MPI_Op)
#define WINDOW type(MPI_Win)
#define INFO type(MPI_Info)
#define HANDLER type(MPI_Errhandler)
#define MESSAGE type(MPI_Message)
#define STATUS_OF(name) type(MPI_Status) :: name
#define STATUSES_OF(name, number) type(MPI_Status) :: name(number)
#define AT(statuses, i) statuses(i)
#define SOURCE(status) status%MPI_SOURCE
#define TAG(status) status%MPI_TAG
#else
#if defined(FORM_MPI)
#define USE_MPI use mpi
#define INCLUDE_MPI
#else
#define USE_MPI
#define INCLUDE_MPI include 'mpif.h'
#endif
#define COMM integer
#define GROUP integer
#define REQUEST integer
#define DATATYPE integer
#define OPERATION integer
#define WINDOW integer
#define INFO integer
#define HANDLER integer
#define MESSAGE integer
#define STATUS_OF(name) integer :: name(MPI_STATUS_SIZE)
#define STATUSES_OF(name, number) integer :: name(MPI_STATUS_SIZE, number)
#define AT(statuses, i) statuses(:, i)
#define SOURCE(status) status(MPI_SOURCE)
#define TAG(status) status(MPI_TAG)
#endif
