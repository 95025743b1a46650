/* A first CRL program: every rank adds to one counter, whose home is rank 0, and rank 0 prints it.
 */
#include <stdio.h>

#include "fairlead/run/fairlead.h"
#include "fairlead/systems/crl/crl.h"

FAIRLEAD_FIBER_PROGRAM;

int main(void) {
  crl_init(NULL);
  crl_rid_t rid;
  if (crl_self_addr() == 0) {
    rid = rgn_create(sizeof(long));
    rgn_bcast_send(sizeof rid, &rid);
  } else {
    rgn_bcast_recv(sizeof rid, &rid);
  }
  long* counter = rgn_map(rid);
  for (int i = 0; i < 100; ++i) {
    rgn_start_write(counter);
    *counter += 1;
    rgn_end_write(counter);
  }
  rgn_barrier();
  rgn_start_read(counter);
  if (crl_self_addr() == 0) printf("%u ranks counted to %ld\n", crl_num_nodes(), *counter);
  rgn_end_read(counter);
  rgn_unmap(counter);
  crl_finalize();
  return 0;
}
