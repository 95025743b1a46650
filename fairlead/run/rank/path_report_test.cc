#include "fairlead/run/rank/path_report.h"

#include <gtest/gtest.h>

namespace fairlead::run {
namespace {

TEST(PathReport, SaysTheWayAndWhy) {
  PathReport report;
  report.near = {true, true, true};
  EXPECT_EQ(path_lines(report), "rank 0 to 0-2: shared memory: the same node");
  report.node_hrx = true;
  EXPECT_EQ(path_lines(report),
            "rank 0 to 0-2: shared memory, sent again where lost (hrx): the same node, with faults "
            "or --lci hrx");
  report.node_hrx = false;
  report.rank = 1;
  report.near = {false, true, false};
  report.network = "udp from 10.0.0.1:4711, 1392 bytes a datagram, sealed (header)";
  report.network_hrx = true;
  EXPECT_EQ(path_lines(report),
            "rank 1 to 1: shared memory: the same node\n"
            "rank 1 to 0, 2: udp from 10.0.0.1:4711, 1392 bytes a datagram, sealed (header), sent "
            "again where lost (hrx): other nodes");
  report.near = {false, false, false};
  report.on = "udp";
  EXPECT_EQ(path_lines(report),
            "rank 1 to 0-2: udp from 10.0.0.1:4711, 1392 bytes a datagram, sealed (header), sent "
            "again where lost (hrx): --on udp");
  report.network = "ofi, provider tcp";
  report.network_hrx = false;
  report.on = "ofi";
  EXPECT_EQ(path_lines(report), "rank 1 to 0-2: ofi, provider tcp: --on ofi");
}

}  // namespace
}  // namespace fairlead::run
