/* A first SISCI program: every node makes a segment, writes a number and its own name into its
 * right neighbour's within a sequence, and triggers an interrupt; node 0 prints what it was
 * given. */
#include <stdio.h>
#include <stdlib.h>

#include "fairlead/run/fairlead.h"
#include "fairlead/systems/sisci/sisci_api.h"

FAIRLEAD_FIBER_PROGRAM;

enum { kSegment = 1, kInterrupt = 2, kAdapter = 0 };

static void insist(sci_error_t error, const char* call) {
  if (error == SCI_ERR_OK) return;
  fprintf(stderr, "%s: %s\n", call, SCIGetErrorString(error));
  exit(1);
}

int main(void) {
  sci_error_t error;
  unsigned self;
  sci_desc_t device;
  SCIInitialize(0, &error);
  insist(error, "SCIInitialize");
  SCIGetLocalNodeId(kAdapter, &self, 0, &error);
  insist(error, "SCIGetLocalNodeId");
  SCIOpen(&device, 0, &error);
  insist(error, "SCIOpen");

  sci_local_interrupt_t here;
  unsigned number = kInterrupt;
  SCICreateInterrupt(device, &here, kAdapter, &number, NULL, NULL, SCI_FLAG_FIXED_INTNO, &error);
  insist(error, "SCICreateInterrupt");
  sci_local_segment_t segment;
  sci_map_t map;
  SCICreateSegment(device, &segment, kSegment, 2 * sizeof(unsigned), NULL, NULL, 0, &error);
  insist(error, "SCICreateSegment");
  unsigned* given = SCIMapLocalSegment(segment, &map, 0, 2 * sizeof(unsigned), NULL, 0, &error);
  insist(error, "SCIMapLocalSegment");
  SCIPrepareSegment(segment, kAdapter, 0, &error);
  insist(error, "SCIPrepareSegment");
  SCISetSegmentAvailable(segment, kAdapter, 0, &error);
  insist(error, "SCISetSegmentAvailable");

  const unsigned right = (self + 1) % sisci_nodes();
  sci_remote_segment_t remote;
  sci_remote_interrupt_t there;
  sci_map_t remote_map;
  sci_sequence_t sequence;
  do { /* until the neighbour has made it available */
    SCIConnectSegment(device, &remote, right, kSegment, kAdapter, NULL, NULL, SCI_INFINITE_TIMEOUT,
                      0, &error);
  } while (error == SCI_ERR_NO_SUCH_SEGMENT);
  insist(error, "SCIConnectSegment");
  SCIConnectInterrupt(device, &there, right, kAdapter, kInterrupt, SCI_INFINITE_TIMEOUT, 0, &error);
  insist(error, "SCIConnectInterrupt");
  (void)SCIMapRemoteSegment(remote, &remote_map, 0, 2 * sizeof(unsigned), NULL, 0, &error);
  insist(error, "SCIMapRemoteSegment");
  SCICreateMapSequence(remote_map, &sequence, 0, &error);
  insist(error, "SCICreateMapSequence");

  unsigned mine[2] = {42, self};
  sci_sequence_status_t status;
  do { /* until all of it has come through */
    SCIStartSequence(sequence, 0, &error);
    SCIMemCpy(sequence, mine, remote_map, 0, sizeof mine, 0, &error);
    insist(error, "SCIMemCpy");
    status = SCICheckSequence(sequence, 0, &error);
  } while (status == SCI_SEQ_RETRIABLE);

  SCITriggerInterrupt(there, 0, &error);
  insist(error, "SCITriggerInterrupt");
  SCIWaitForInterrupt(here, SCI_INFINITE_TIMEOUT, 0, &error);
  insist(error, "SCIWaitForInterrupt");
  if (self == 0) {
    printf("node 0 of %u was given %u by node %u\n", sisci_nodes(), given[0], given[1]);
  }
  SCITerminate();
  return 0;
}
