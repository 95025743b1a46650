/* Error classes and codes that a program adds before MPI_Init are there after it, and later ones
 * have other numbers; so are the numbers of handles. */
#include <stdio.h>
#include <string.h>

#include "fairlead/systems/mpi/mpi.h"

static int has(int code, int wanted_class, const char* wanted) {
  int error_class = -1;
  int length = 0;
  char text[MPI_MAX_ERROR_STRING] = "";
  MPI_Error_class(code, &error_class);
  MPI_Error_string(code, text, &length);
  if (error_class == wanted_class && strcmp(text, wanted) == 0) return 1;
  printf("code %d: class %d, \"%s\"\n", code, error_class, text);
  return 0;
}

int main(void) {
  int early_class = 0;
  int early_code = 0;
  int late_class = 0;
  MPI_Add_error_class(&early_class);
  MPI_Add_error_code(early_class, &early_code);
  MPI_Add_error_string(early_code, "too early");
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  const int number = MPI_Info_toint(info);
  int good = early_class > MPI_ERR_LASTCODE && has(early_code, early_class, "too early");
  MPI_Init(NULL, NULL);
  MPI_Add_error_class(&late_class);
  MPI_Add_error_string(late_class, "late");
  good = good && late_class != early_class && late_class != early_code;
  good = good && has(early_code, early_class, "too early") && has(late_class, late_class, "late");
  good = good && MPI_Info_fromint(number) == info && MPI_Info_toint(info) == number;
  MPI_Info_free(&info);
  int* last = NULL;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, (void*)&last, &found);
  good = good && found && *last == late_class;
  int all = 0;
  MPI_Reduce(&good, &all, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 && all) printf("early errors are kept\n");
  MPI_Finalize();
  return !good;
}
