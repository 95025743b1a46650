/* AMUDP's jobs on Fairlead: how the ranks of a parallel program start, meet and end. */
#ifndef FAIRLEAD_SYSTEMS_AMUDP_AMUDP_SPMD_H
#define FAIRLEAD_SYSTEMS_AMUDP_AMUDP_SPMD_H
#include "fairlead/systems/amudp/amudp.h"

#ifdef __cplusplus
extern "C" {
#endif
/* NOLINTBEGIN(readability-identifier-naming): the names are those of AMUDP */

/* Starts `ranks` processes of the program; does not return where that works, else 0. */
typedef int (*amudp_spawnfn_t)(int ranks, int argc, char** argv, char** environment);
typedef struct {
  char abbrev;
  const char* desc;
  amudp_spawnfn_t fnptr;
} amudp_spawnfn_desc_t;
/* Ends with abbrev 0. Each one becomes `fairlead run -n RANKS PROGRAM ...`. */
extern const amudp_spawnfn_desc_t AMUDP_Spawnfn_Desc[];
int AMUDP_SPMDLocalSpawn(int ranks, int argc, char** argv, char** environment);

/* Whether a launcher started this process as a rank of a job. */
int AMUDP_SPMDIsWorker(char** argv);
/* Of a rank: joins the job, waits until every rank has done so, and makes a bundle and an endpoint
 * whose translation i leads to rank i's; `job`, unless null, is set to a number of the job that all
 * ranks agree on. `ranks`, `depth` and `spawn` do not matter then. Of a process that is no rank:
 * starts the program anew by `spawn` (null: AMUDP_SPMDLocalSpawn) and does not return. Answers
 * AM_OK or an AM_ERR_. */
int AMUDP_SPMDStartup(int* argc, char*** argv, int ranks, int depth, amudp_spawnfn_t spawn,
                      uint64_t* job, eb_t* bundle, ep_t* endpoint);
/* Ends the job, with exit code 0 to 255, from any rank: the others end with the same code when they
 * poll next. Does not return. */
int AMUDP_SPMDExit(int code);
/* To be called with the exit code before this process ends, whichever rank ended the job. */
typedef void (*amudp_exitcallback_t)(int code);
int AMUDP_SPMDSetExitCallback(amudp_exitcallback_t callback);
/* What ends the process at last: _exit, unless it is set. */
extern void (*AMUDP_SPMDkillmyprocess)(int code);

int AMUDP_SPMDNumProcs(void);
int AMUDP_SPMDMyProc(void);
/* Only the rank that the launcher gave may be asked for; any other ends the process. */
void AMUDP_SPMDSetProc(int rank);

/* Waits for every rank, and polls meanwhile. AM_ERR_RESOURCE: a rank was lost. */
int AMUDP_SPMDBarrier(void);
/* `bytes` of each rank, in the order of the ranks, on every rank; a barrier, too. */
int AMUDP_SPMDAllGather(void* source, void* target, size_t bytes);

/* A variable of the environment, which every rank has from the launcher; null: not set. */
const char* AMUDP_SPMDgetenvMaster(const char* name);
/* "NAME=VALUE" of any variable whose name begins so; null: none. */
const char* AMUDP_check_env_prefix(const char* prefix);

#define AMX_SPMDgetenvMaster AMUDP_SPMDgetenvMaster
#define AMX_SPMDBarrier AMUDP_SPMDBarrier
#define AMX_SPMDNumProcs AMUDP_SPMDNumProcs
#define AMX_SPMDMyProc AMUDP_SPMDMyProc
#define AMX_SPMDExit AMUDP_SPMDExit
#define AMX_SPMDSetExitCallback AMUDP_SPMDSetExitCallback
#define AMX_SPMDkillmyprocess AMUDP_SPMDkillmyprocess
#define AMX_SPMDIsWorker AMUDP_SPMDIsWorker
#define AMX_SPMDAllGather AMUDP_SPMDAllGather
#define AMX_SPMDStartup(argc, argv, depth, job, bundle, endpoint) \
  AMUDP_SPMDStartup((argc), (argv), 0, (depth), NULL, (job), (bundle), (endpoint))

/* NOLINTEND(readability-identifier-naming) */
#ifdef __cplusplus
}  // extern "C"
#endif
#endif
