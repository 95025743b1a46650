/* Other processors' memory of every kind: blocks of malloc, automatic variables, bit-fields. Prints
 * "rank R: all checks passed". */
#include <split-c/split-c.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(what)                                                        \
  do {                                                                     \
    if (!(what)) {                                                         \
      printf("rank %d: line %d: %s\n", MYPROC, __LINE__, #what);           \
      exit(1);                                                             \
    }                                                                      \
  } while (0)

typedef int *global int_there;
typedef struct node *global node_there;
struct node {
  int value;
  node_there next;
};
struct fields {
  unsigned low : 3;
  int middle : 11;
  struct {
    unsigned inner : 20;
    unsigned : 0;
  };
  unsigned long long wide : 40;
  signed last : 2;
};

/* Where each processor has put something, for the others. */
int_there places[PROCS]::;
node_there lists[PROCS]::;
struct fields fields;
int *spread walker;

/* Blocks of malloc: a list of them over all processors, walked from any. */
static void blocks(int right, int left) {
  struct node *mine = malloc(sizeof *mine), *more = calloc(3, sizeof *more);
  int *numbers = malloc(4 * sizeof(int)), i, sum = 0, block[1000];
  node_there at;
  char *text, line[8], *read = malloc(2);
  size_t room = 2;
  FILE *file;

  CHECK(more[0].value == 0 && more[2].next == 0);
  mine->value = MYPROC + 1;
  lists[MYPROC] = (node_there)mine;
  barrier();
  mine->next = MYPROC + 1 < PROCS ? lists[right] : 0;
  barrier();
  for (at = lists[0]; at != 0; at = at->next) sum += at->value;
  CHECK(sum == PROCS * (PROCS + 1) / 2);
  barrier();

  /* Each of the calls that write, into a block elsewhere that has moved. */
  for (i = 0; i < 4; i++) numbers[i] = i;
  numbers = realloc(numbers, 5000 * sizeof(int));
  CHECK(numbers[3] == 3 && malloc_usable_size(numbers) >= 5000 * sizeof(int));
  places[MYPROC] = (int_there)numbers;
  barrier();
  places[right][4] = MYPROC;
  places[right][4000] := MYPROC + 1;
  sync();
  for (i = 0; i < 1000; i++) block[i] = i * MYPROC;
  bulk_store(places[right] + 1000, block, sizeof block);
  all_store_sync();
  CHECK(numbers[4] == left && numbers[4000] == left + 1 && numbers[1999] == 999 * left);
  barrier();
  free(numbers);
  free(more);
  barrier();
  free(mine);

  /* What the C library does with such blocks. */
  text = strdup("a text");
  CHECK(strcmp(text, "a text") == 0);
  free(text);
  text = strndup("a text", 1);
  CHECK(strcmp(text, "a") == 0);
  free(text);
  file = tmpfile();
  fputs("a line of more than two bytes\nx", file);
  rewind(file);
  CHECK(getline(&read, &room, file) == 30 && room >= 31 && strncmp(read, "a line", 6) == 0);
  CHECK(getline(&read, &room, file) == 1 && getline(&read, &room, file) == -1);
  fclose(file);
  free(read);
  CHECK(posix_memalign((void **)&text, 256, 10) == 0 && (unsigned long)text % 256 == 0);
  free(text);
  free(0);
  CHECK(sprintf(line, "%d", 7) == 1);
  /* More than there is of the job's memory is the C library's. */
  text = malloc(300UL << 20);
  CHECK(text != 0);
  text = realloc(text, 310UL << 20);
  free(text);
}

/* Automatic variables, of a function that the others know nothing of. */
static int stacks(int depth, int right, int left) {
  int here = depth == 0 ? 100 * MYPROC : 0, elsewhere;
  if (depth > 0) return stacks(depth - 1, right, left);
  places[MYPROC] = (int_there)&here;
  barrier();
  elsewhere = *places[right];
  CHECK(elsewhere == 100 * right);
  barrier();
  *places[right] = MYPROC;
  barrier();
  CHECK(here == left);
  barrier();
  return here;
}

static void bits(int right, int left) {
  struct fields *global there = (struct fields *global)toglobal(right, &fields);
  int x = 0;

  memset(&fields, 0, sizeof fields);
  barrier();
  there->low = 5;
  there->middle = -1000;
  there->inner = 0xabcde;
  there->wide = 0x9876543210ULL;
  there->last = -1;
  barrier();
  CHECK(fields.low == 5 && fields.middle == -1000 && fields.inner == 0xabcde);
  CHECK(fields.wide == 0x9876543210ULL && fields.last == -1);
  CHECK(there->low == 5 && there->middle == -1000 && there->inner == 0xabcde);
  CHECK(there->wide == 0x9876543210ULL && there->last == -1);
  barrier();
  CHECK((there->middle += 7) == -993 && there->low == 5);
  CHECK(there->low++ == 5 && there->low == 6 && ++there->low == 7);
  CHECK(there->low-- == 7 && (there->wide >>= 4) == 0x987654321ULL);
  x := there->middle;
  there->inner := MYPROC + 3;
  sync();
  CHECK(x == -993);
  barrier();
  CHECK(fields.inner == left + 3 && fields.low == 6 && fields.wide == 0x987654321ULL);
  barrier();
  fields.low := there->inner;
  sync();
  CHECK(fields.low == ((MYPROC + 3) & 7) && fields.middle == -993);
  barrier();
}

/* A spread pointer in another processor's memory, which steps there. */
static void steps(int right) {
  int *spread *global there = (int *spread *global)toglobal(right, &walker);
  int *spread begin = all_spread_malloc(2 * PROCS, sizeof(int));

  walker = begin;
  barrier();
  CHECK((*there)++ == begin && *there == begin + 1 && --*there == begin);
  *there += 2 * PROCS - 1;
  barrier();
  CHECK(walker - begin == 2 * PROCS - 1 && toproc(walker) == PROCS - 1);
  barrier();
  all_spread_free(begin);
}

int splitc_main() {
  int right = (MYPROC + 1) % PROCS, left = (MYPROC + PROCS - 1) % PROCS;
  blocks(right, left);
  CHECK(stacks(10, right, left) == left);
  bits(right, left);
  steps(right);
  printf("rank %d: all checks passed\n", MYPROC);
}
