// Info objects: keys and values in the order in which the keys were set.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fairlead/systems/mpi/mpi.h"
#include "fairlead/systems/mpi/objects.h"

namespace fairlead::mpi {

struct Info : Object {
  std::vector<std::pair<std::string, std::string>> entries;

  const std::string* find(std::string_view key) const {
    for (const auto& [name, value] : entries) {
      if (name == key) return &value;
    }
    return nullptr;
  }
  void set(std::string_view key, std::string_view value) {
    for (auto& [name, old] : entries) {
      if (name == key) {
        old = value;
        return;
      }
    }
    entries.emplace_back(key, value);
  }
  // False: there is no such key.
  bool erase(std::string_view key) {
    return std::erase_if(entries, [&](const auto& entry) { return entry.first == key; }) != 0;
  }
};

// Whether calls that take an info take it: one of the program's, or one that stands for none.
inline bool is_info(MPI_Info info) {
  return info == MPI_INFO_NULL || info == MPI_INFO_ENV || Objects<Info>::find(info) != nullptr;
}

}  // namespace fairlead::mpi
