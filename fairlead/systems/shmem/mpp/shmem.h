/* <shmem.h> under the name that it had in SGI's and Cray's SHMEM: OpenSHMEM 1.5 deprecates the
 * folder mpp (annex F), and still has programs find its headers there. */
#ifndef FAIRLEAD_SYSTEMS_SHMEM_MPP_SHMEM_H
#define FAIRLEAD_SYSTEMS_SHMEM_MPP_SHMEM_H
#include "fairlead/systems/shmem/shmem.h"
#endif
