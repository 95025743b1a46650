// MPI error classes and their texts.
#pragma once
#include <string>

namespace fairlead::mpi {

struct ErrorClass {
  const char* name;  // "MPI_ERR_RANK"
  const char* text;  // what it means, for MPI_Error_string
};

// nullptr when `error` is no class of the standard. This library's codes are the classes.
const ErrorClass* find_error(int error);

// What MPI_Error_string says. `added`: the text of a code that the program has added, else nullptr.
std::string text_of_error(int code, const std::string* added);

}  // namespace fairlead::mpi
