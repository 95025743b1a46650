/* A first program of Active Messages: every rank asks rank 0 to add its number, and is told the sum
 * so far; rank 0 prints the sum of all. */
#include <stdio.h>

#include "fairlead/run/fairlead.h"
#include "fairlead/systems/am/am.h"

FAIRLEAD_FIBER_PROGRAM;

enum { kAdd = 1, kAdded = 2 };

/* What one rank counts; it lies in the endpoint's segment, where handlers find it. */
typedef struct {
  int sum;
  unsigned came;
  unsigned answers;
} Counted;

static Counted* counted(void* token) {
  ep_t endpoint;
  void* base;
  size_t bytes;
  AM_GetDestEndpoint(token, &endpoint);
  AM_GetSeg(endpoint, &base, &bytes);
  return base;
}

static void add(void* token, handlerarg_t number) {
  Counted* const mine = counted(token);
  mine->sum += number;
  mine->came += 1;
  AM_Reply1(token, kAdded, mine->sum);
}

static void added(void* token, handlerarg_t sum) {
  (void)sum;
  counted(token)->answers += 1;
}

int main(void) {
  Counted mine = {0, 0, 0};
  eb_t bundle;
  ep_t endpoint;
  en_t name;
  AM_Init();
  AM_AllocateBundle(AM_SEQ, &bundle);
  AM_AllocateEndpoint(bundle, &endpoint, &name);
  AM_SetSeg(endpoint, &mine, sizeof mine);
  AM_SetHandler(endpoint, kAdd, (am_handler_t)add);
  AM_SetHandler(endpoint, kAdded, (am_handler_t)added);
  AM_Map(endpoint, 0, AM_NameOf(0, 0), 1);
  AM_Request1(endpoint, 0, kAdd, AM_Rank() + 1);
  const unsigned expected = AM_Rank() == 0 ? AM_Ranks() : 0;
  while (mine.answers == 0 || mine.came < expected) AM_Poll(bundle);
  if (expected > 0) printf("%u ranks counted to %d\n", AM_Ranks(), mine.sum);
  AM_Terminate();
  return 0;
}
