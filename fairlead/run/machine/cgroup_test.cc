#include "fairlead/run/machine/cgroup.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace fairlead::run {
namespace {

class CgroupTree : public testing::Test {
 protected:
  CgroupTree() {
    char name[] = "/tmp/fairlead_cgroup_XXXXXX";
    root_ = ::mkdtemp(name);
  }
  ~CgroupTree() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path at = root_ + "/" + path;
    std::filesystem::create_directories(at.parent_path());
    std::ofstream(at) << text;
  }
  double quota() { return cgroup_cpu_quota(root_ + "/membership", root_ + "/mount"); }

  std::string root_;
};

TEST_F(CgroupTree, TheTightestOfTheParentsCounts) {
  write("membership", "0::/a/b\n");
  write("mount/a/cpu.max", "150000 100000\n");
  write("mount/a/b/cpu.max", "max 100000\n");
  // Expect: the quota of /a, one and a half processors
  EXPECT_DOUBLE_EQ(quota(), 1.5);
  write("mount/a/b/cpu.max", "50000 100000\n");
  // Expect: now the group's own
  EXPECT_DOUBLE_EQ(quota(), 0.5);
}

TEST_F(CgroupTree, AContainerSeesItsQuotaAtTheMount) {
  write("membership", "0::/elsewhere/unseen\n");
  write("mount/cpu.max", "200000 100000\n");
  // Expect: the mount's root counts though the named path does not exist
  EXPECT_DOUBLE_EQ(quota(), 2.0);
}

TEST_F(CgroupTree, VersionOne) {
  write("membership", "5:memory:/x\n4:cpu,cpuacct:/x\n");
  write("mount/cpu,cpuacct/x/cpu.cfs_quota_us", "300000\n");
  write("mount/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
  // Expect: three processors
  EXPECT_DOUBLE_EQ(quota(), 3.0);
}

TEST_F(CgroupTree, NoQuotaOrNonsenseIsNone) {
  // Expect: no file, no limit
  EXPECT_DOUBLE_EQ(quota(), 0.0);
  write("membership", "0::/\nbroken line\n4:cpu:/\n");
  write("mount/cpu.max", "many 0\n");
  write("mount/cpu/cpu.cfs_quota_us", "-1\n");
  write("mount/cpu/cpu.cfs_period_us", "100000\n");
  // Expect: unreadable figures and -1 are no limit
  EXPECT_DOUBLE_EQ(quota(), 0.0);
}

}  // namespace
}  // namespace fairlead::run
