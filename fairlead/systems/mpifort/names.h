// The names under which gfortran and mpi_f08 know an entry that is written by hand: pmpi_X_ is the
// function, the others are weak second names, which profiling tools may replace.
#pragma once

// `parameters` in parentheses.
#define FAIRLEAD_MPIFORT_NAMES(answer, name, parameters)                                \
  answer mpi_##name##_ parameters __attribute__((weak, alias("pmpi_" #name "_")));      \
  answer pmpi_##name##_f08_ parameters __attribute__((weak, alias("pmpi_" #name "_"))); \
  answer mpi_##name##_f08_ parameters __attribute__((weak, alias("pmpi_" #name "_")));
