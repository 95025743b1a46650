#include "fairlead/run/fairlead.h"

FAIRLEAD_FIBER_PROGRAM;

int main(int argc, char** argv) {
  (void)argv;
  return argc;
}
