/* Nothing that ranks would share: constants, the stack, the heap, the library's streams. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int primes[] = {2, 3, 5, 7};
static const char* const names[] = {"two", "three", "five", "seven"};

int main(int argc, char** argv) {
  int sum = 0;
  char* copy = malloc(16);
  for (int i = 0; i < 4; ++i) sum += primes[i];
  strcpy(copy, names[3]);
  printf("%s: %d arguments, %s, sum %d\n", argv[0], argc, copy, sum);
  fprintf(stderr, "and an error line\n");
  free(copy);
  return argc;
}
