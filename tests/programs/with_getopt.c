/* optarg of the library is copied into the program: every rank would parse with the same one. */
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  while (getopt(argc, argv, "n:") == 'n') printf("%s\n", optarg);
  return 0;
}
