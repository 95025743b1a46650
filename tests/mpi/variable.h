// A variable of the environment that the ranks of a job read.
#pragma once
#include <cstdlib>

namespace fairlead::mpi_test {

// While it lives, a variable that ranks read is set.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

}  // namespace fairlead::mpi_test
