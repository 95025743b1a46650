/* A first RSMAPI program: every process exports a page, writes a number and its own name into its
 * right neighbour's by a put between two barriers, and process 0 prints what it was given. */
#include <stdio.h>
#include <stdlib.h>

#include "fairlead/run/fairlead.h"
#include "fairlead/systems/rsm/rsmapi.h"

FAIRLEAD_FIBER_PROGRAM;

static void insist(int code, const char* call) {
  if (code == RSM_SUCCESS) return;
  fprintf(stderr, "process %u: %s: %s\n", rsm_rank(), call, rsm_error_name(code));
  exit(1);
}
#define INSIST(call) insist(call, #call)

int main(void) {
  const unsigned self = rsm_rank(), right = (self + 1) % rsm_ranks();
  char name[] = "fl0";
  rsmapi_controller_handle_t controller;
  INSIST(rsm_get_controller(name, &controller));
  rsmapi_controller_attr_t attr;
  INSIST(rsm_get_controller_attr(controller, &attr));

  /* Processes may share a node, whose segment ids they share then. */
  uint64_t* page = aligned_alloc(attr.attr_page_size, attr.attr_page_size);
  page[0] = page[1] = 0;
  rsm_memseg_export_handle_t segment;
  rsm_memseg_id_t id = RSM_USER_APP_ID_BASE + self;
  INSIST(rsm_memseg_export_create(controller, &segment, page, attr.attr_page_size, 0));
  INSIST(rsm_memseg_export_publish(segment, &id, NULL, 0));

  rsm_memseg_import_handle_t import;
  int code;
  do { /* until the neighbour has published it */
    code = rsm_memseg_import_connect(controller, rsm_node_of(right), RSM_USER_APP_ID_BASE + right,
                                     RSM_PERM_WRITE, &import);
  } while (code == RSMERR_SEG_NOT_PUBLISHED);
  insist(code, "rsm_memseg_import_connect");
  rsmapi_barrier_t barrier;
  INSIST(rsm_memseg_import_init_barrier(import, RSM_BAR_DEFAULT, &barrier));
  INSIST(rsm_memseg_import_set_mode(import, RSM_BARRIER_MODE_EXPLICIT));

  uint64_t mine = 42, who = self + 1;
  INSIST(rsm_memseg_import_open_barrier(&barrier));
  INSIST(rsm_memseg_import_put64(import, 8, &mine, 1));
  INSIST(rsm_memseg_import_order_barrier(&barrier)); /* the number before the name */
  INSIST(rsm_memseg_import_put64(import, 0, &who, 1));
  INSIST(rsm_memseg_import_close_barrier(&barrier));

  INSIST(rsm_intr_signal_post(import, 0));
  /* The neighbour's barrier is closed then: a segment that goes while one is open aborts it. */
  INSIST(rsm_intr_signal_wait(segment, -1));
  if (self == 0) {
    printf("process 0 of %u was given %llu by process %llu\n", rsm_ranks(),
           (unsigned long long)page[1], (unsigned long long)page[0] - 1);
  }
  rsm_exit();
  return 0;
}
