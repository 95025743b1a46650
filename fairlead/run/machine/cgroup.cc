#include "fairlead/run/machine/cgroup.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>

namespace fairlead::run {
namespace {

double tighter(double a, double b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

// "max 100000" or "150000 100000"
double quota_v2(const std::string& group) {
  std::ifstream file(group + "/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return 0;
  std::istringstream number(quota);
  double granted = 0;
  return number >> granted && granted > 0 ? granted / period : 0;
}

double quota_v1(const std::string& group) {
  std::ifstream quota_file(group + "/cpu.cfs_quota_us");
  std::ifstream period_file(group + "/cpu.cfs_period_us");
  double quota = 0;
  double period = 0;
  if (!(quota_file >> quota) || !(period_file >> period) || quota <= 0 || period <= 0) return 0;
  return quota / period;
}

// In a container the path of the membership may not exist below the mount: what is there, counts.
template <class Quota>
double tightest(const std::string& root, std::string path, Quota quota) {
  double found = 0;
  for (;;) {
    found = tighter(found, quota(root + path));
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return found;
    path.resize(slash);
  }
}

bool names_cpu(std::string_view controllers) {
  while (!controllers.empty()) {
    const std::size_t comma = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, comma) == "cpu") return true;
    controllers.remove_prefix(std::min(comma + 1, controllers.size()));
  }
  return false;
}

}  // namespace

double cgroup_cpu_quota(const std::string& membership, const std::string& mount) {
  std::ifstream file(membership);
  double found = 0;
  for (std::string line; std::getline(file, line);) {
    // hierarchy:controllers:path
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    if (path == "/") path.clear();
    if (controllers.empty()) {
      found = tighter(found, tightest(mount, path, quota_v2));
    } else if (names_cpu(controllers)) {
      found = tighter(found, tightest(mount + "/" + controllers, path, quota_v1));
      found = tighter(found, tightest(mount + "/cpu", path, quota_v1));
    }
  }
  return found;
}

}  // namespace fairlead::run
