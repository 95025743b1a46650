#include "fairlead/hw/platform.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "fairlead/base/prng.h"
#include "fairlead/hw/lanai/lanai_params.h"
#include "fairlead/hw/rdma/rdma_params.h"

namespace fairlead::hw {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// A copy of the platform files to spoil.
class PlatformTest : public testing::Test {
 protected:
  PlatformTest() {
    fs::create_directories(folder_);
    platform_ = read(fs::path(FAIRLEAD_PLATFORMS) / "myrinet-ppro.toml");
    steps_ = read(fs::path(FAIRLEAD_PLATFORMS) / "lci-firmware.toml");
    write("lci-firmware.toml", steps_);
  }
  ~PlatformTest() override { fs::remove_all(folder_); }

  void write(const char* name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  Result<Platform> load(const std::string& text) const {
    write("p.toml", text);
    return load_platform((folder_ / "p.toml").string());
  }
  // The platform with the first `from` replaced.
  std::string with(const std::string& from, const std::string& to) const {
    std::string text = platform_;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }
  // The text of the error that `text` gives, less the folder's name.
  std::string error(const std::string& text) const {
    const Result<Platform> loaded = load(text);
    if (loaded.ok()) return "loaded";
    std::string what = loaded.error().text;
    const std::string folder = folder_.string() + "/";
    if (what.starts_with(folder)) what.erase(0, folder.size());
    return what;
  }

  fs::path folder_ =
      fs::path(testing::TempDir()) / ("fairlead-platform-" + std::to_string(::getpid()));
  std::string platform_;
  std::string steps_;
};

TEST_F(PlatformTest, TheFilesOfTheRepositoryAreGood) {
  const Result<Platform> ppro =
      load_platform((fs::path(FAIRLEAD_PLATFORMS) / "myrinet-ppro.toml").string());
  ASSERT_TRUE(ppro.ok()) << ppro.error().text;
  // Expect: table I's numbers, in our units
  EXPECT_EQ(ppro.value().name, "myrinet-ppro");
  EXPECT_EQ(ppro.value().host.clock.count, 200'000'000u);
  EXPECT_EQ(ppro.value().host.l2_bytes, 256u * 1024);
  EXPECT_EQ(ppro.value().host.memory_latency, nanoseconds(236));
  EXPECT_EQ(ppro.value().ni.as<LanaiParams>().receive_buffers, 256u);
  EXPECT_EQ(ppro.value().network.topology, TopologyKind::grid);
  const Result<Platform> p3 =
      load_platform((fs::path(FAIRLEAD_PLATFORMS) / "myrinet-p3.toml").string());
  ASSERT_TRUE(p3.ok()) << p3.error().text;
  EXPECT_EQ(p3.value().network.link.count, 240'000'000u);
  EXPECT_EQ(p3.value().network.topology, TopologyKind::clos);
  // Expect: one table of steps for both
  EXPECT_EQ(p3.value().ni.as<LanaiParams>().ni_cycles, ppro.value().ni.as<LanaiParams>().ni_cycles);
  EXPECT_EQ(p3.value().ni.as<LanaiParams>().host_cycles[static_cast<std::size_t>(Step::send)].count,
            250);
}

TEST_F(PlatformTest, ProcessorsAreOptionalAndChecked) {
  // Expect: one where the file says nothing, two in the NEWGENDSM paper's nodes
  EXPECT_EQ(load(platform_).value().host.processors, 1u);
  const Result<Platform> two =
      load_platform((fs::path(FAIRLEAD_PLATFORMS) / "infiniband-pcix.toml").string());
  ASSERT_TRUE(two.ok()) << two.error().text;
  EXPECT_EQ(two.value().host.processors, 2u);
  EXPECT_TRUE(two.value().ni->calls_handlers());
  // Expect: file, line, key and what may stand there
  const std::size_t line =
      1 +
      static_cast<std::size_t>(std::count(
          platform_.begin(),
          platform_.begin() + static_cast<std::ptrdiff_t>(platform_.find("interrupt_us")), '\n'));
  const std::string none =
      error(with("interrupt_us",
                 "processors = { value = 0, source = \"x\", mark = \"guessed\" }\ninterrupt_us"));
  EXPECT_TRUE(none.starts_with("p.toml:" + std::to_string(line) + ": host.processors")) << none;
  const std::string wrong = error(with(
      "interrupt_us", "handler = { value = 3, source = \"x\", mark = \"guessed\" }\ninterrupt_us"));
  EXPECT_TRUE(wrong.starts_with("p.toml:" + std::to_string(line) + ": host.handler")) << wrong;
}

TEST_F(PlatformTest, AChangeIsCheckedAndMarked) {
  write("p.toml", platform_);
  const std::string file = (folder_ / "p.toml").string();
  const Result<Platform> changed = load_platform(
      file, {"fat-tree", {"ni.receive_buffers=2048", "network.hosts_per_switch=4"}, {}});
  ASSERT_TRUE(changed.ok()) << changed.error().text;
  EXPECT_EQ(changed.value().ni.as<LanaiParams>().receive_buffers, 2048u);
  EXPECT_EQ(changed.value().network.topology, TopologyKind::fat_tree);
  // Expect: what the results are marked with
  EXPECT_EQ(
      changed.value().changes,
      "ni.receive_buffers 2048 (256 in the file), network.hosts_per_switch 4 (1 in the file), "
      "topology fat-tree (grid in the file)");
  EXPECT_EQ(load_platform(file, {"grid", {}, {}}).value().changes, "");
  // Expect: the file of steps can be changed just so
  const Result<Platform> steps =
      load_platform(file, {{}, {"protocol.resend_window=4", "ni.dispatch=20"}, {}});
  ASSERT_TRUE(steps.ok()) << steps.error().text;
  EXPECT_EQ(steps.value().ni.as<LanaiParams>().resend_window, 4u);
  EXPECT_EQ(
      steps.value().ni.as<LanaiParams>().ni_cycles[static_cast<std::size_t>(Step::dispatch)].count,
      20);
  EXPECT_EQ(steps.value().changes,
            "protocol.resend_window 4 (16 in the file), ni.dispatch 20 (10 in the file)");
  const auto wrong = [&](const std::string& topology, const std::string& set) {
    const PlatformChanges changes{
        topology, set.empty() ? std::vector<std::string>{} : std::vector<std::string>{set}, {}};
    const Result<Platform> loaded = load_platform(file, changes);
    return loaded.ok() ? "loaded" : loaded.error().text;
  };
  const std::string unknown = wrong("", "ni.buffers=3");
  EXPECT_TRUE(unknown.starts_with("--set ni.buffers=3: no such key; valid: ni.clock_MHz, "))
      << unknown;
  EXPECT_NE(unknown.find("ni.receive_buffers"), std::string::npos) << unknown;
  EXPECT_EQ(wrong("", "moon.x=1"),
            "--set moon.x=1: no such section; valid: host, bus, ni, background, network, protocol");
  EXPECT_EQ(wrong("", "ni.receive_buffers"),
            "--set ni.receive_buffers: must be SECTION.KEY=NUMBER");
  EXPECT_EQ(wrong("", "ni.receive_buffers=many"),
            "--set ni.receive_buffers=many: the value must be a number");
  EXPECT_EQ(wrong("", "ni.receive_buffers=0"),
            "--set ni.receive_buffers=0: 0 is impossible; 1 to 1000000");
  EXPECT_EQ(wrong("torus", ""),
            "--topology torus: unknown 'torus'; valid: grid, clos, fat-tree, single-switch, or a "
            "network's file (.toml)");
  EXPECT_EQ(wrong("fat-tree", ""),
            "--topology fat-tree: needs network.hosts_per_switch of 2 or more");
}

TEST_F(PlatformTest, APlatformMayNameANetworkBesideIt) {
  write("net.toml", "description = 'two'\nswitches = ['a']\n[[link]]\nfrom = '0-1'\nto = 'a'\n");
  const Result<Platform> loaded = load(with("topology = \"grid\"", "topology = \"net.toml\""));
  ASSERT_TRUE(loaded.ok()) << loaded.error().text;
  EXPECT_EQ(loaded.value().network.topology, TopologyKind::custom);
  EXPECT_TRUE(loaded.value().network.file.ends_with("/net.toml"));
  EXPECT_NE(error(with("topology = \"grid\"", "topology = \"none.toml\"")).find("none.toml"),
            std::string::npos);
}

TEST_F(PlatformTest, AMissingKeyIsNamed) {
  const std::string line = platform_.substr(platform_.find("watchdog_us"));
  EXPECT_EQ(error(with(line.substr(0, line.find('\n')), "")),
            "p.toml:6: host.watchdog_us: missing");
  EXPECT_EQ(error(with("description", "# description")),
            "p.toml:1: description: missing; it is a text at the top of the file");
  EXPECT_EQ(error(platform_.substr(0, platform_.find("[network]"))),
            "p.toml:1: network.link_MBps: missing: no section [network]");
}

TEST_F(PlatformTest, AnImpossibleValueIsNamed) {
  EXPECT_EQ(error(with("clock_MHz = { value = 200", "clock_MHz = { value = 0")),
            "p.toml:7: host.clock_MHz: 0 is impossible; 1 to 100000");
  EXPECT_EQ(error(with("clock_MHz = { value = 200", "clock_MHz = { value = nan")),
            "p.toml:7: host.clock_MHz: value must be a number");
  EXPECT_EQ(error(with("clock_MHz = { value = 200", "clock_MHz = { value = \"200\"")),
            "p.toml:7: host.clock_MHz: value must be a number");
  EXPECT_EQ(error(with("topology = \"grid\"", "topology = \"torus\"")),
            "p.toml:3: topology: unknown 'torus'; valid: grid, clos, fat-tree, single-switch, "
            "or a network's file (.toml)");
  EXPECT_EQ(error(with("topology = \"grid\"", "topology = 3")),
            "p.toml:3: topology: must be a text");
  // Expect: numbers that are possible alone and not together
  std::string slow = with("peak_MBps = { value = 127.2", "peak_MBps = { value = 1");
  slow.replace(slow.find("dma_burst_clocks = { value = 16"), 31, "dma_burst_clocks = { value = 1");
  EXPECT_EQ(error(slow),
            "p.toml:26: bus.dma_burst_clocks: 1 clocks of 33.333 MHz at 1 MB/s move less than a "
            "byte; more clocks, or a faster bus");
  EXPECT_EQ(error(with("dma_latency_us = { value = 2.10", "dma_latency_us = { value = 1.4")),
            "p.toml:37: ni.dma_latency_us: 1.4 is less than dma_fixed_us, 1.5: a transfer is seen "
            "as done after its start");
}

TEST_F(PlatformTest, ANumberHasASourceAndAMark) {
  EXPECT_EQ(error(with("source = \"P6 processors\", ", "")),
            "p.toml:9: host.line_bytes: has no source");
  EXPECT_EQ(error(with("source = \"P6 processors\"", "source = \"\"")),
            "p.toml:9: host.line_bytes: has no source");
  EXPECT_EQ(error(with("mark = \"from paper\"", "mark = \"hearsay\"")),
            "p.toml:7: host.clock_MHz: mark must be one of: measured, from paper, fitted, guessed");
  EXPECT_EQ(error(with("mark = \"from paper\" }", "mark = \"from paper\", unit = 3 }")),
            "p.toml:7: host.clock_MHz.unit: unknown; valid: value, source, mark");
  EXPECT_EQ(
      error(with("{ value = 200, source = \"LCI paper table I\", mark = \"from paper\" }", "200")),
      "p.toml:7: host.clock_MHz: must be { value = NUMBER, source = \"...\", mark = \"...\" }");
}

TEST_F(PlatformTest, AnUnknownNameIsRefusedWithTheValidOnes) {
  EXPECT_EQ(error(with("header_bytes", "head_bytes")),
            "p.toml:50: network.head_bytes: unknown key; valid in [network]: link_MBps, switch_us, "
            "fixed_us, header_bytes, hosts_per_switch, uplinks_per_switch, top_downlinks, nodes, "
            "host_order, held_circuits, virtual_channels, adaptive_ascent, cable_us, age_us, "
            "buffer_bytes, reduction_bytes, reduction_us, reduction_MBps, reductions_ahead");
  EXPECT_EQ(error(with("[network]", "[net]")),
            "p.toml:46: net: unknown; valid: description, topology, steps, [host], [bus], [ni], "
            "[background], [network]");
}

TEST_F(PlatformTest, PartsAreOfKindsThatExistAndFit) {
  EXPECT_EQ(error(with("kind = \"lanai\"", "kind = \"abacus\"")),
            "p.toml:35: ni.kind: unknown kind 'abacus'; valid: \"elan\", \"firelink\", \"lanai\", "
            "\"rdma\"");
  EXPECT_EQ(error(with("kind = \"pci\"", "kind = 3")),
            "p.toml:21: bus.kind: unknown kind ''; valid: \"fireplane\", \"lanes\", \"pci\", "
            "\"pcix\"");
  EXPECT_EQ(error(with("kind = \"lanai\"\n", "")),
            "p.toml:34: ni.kind: unknown kind ''; valid: \"elan\", \"firelink\", \"lanai\", "
            "\"rdma\"");
  EXPECT_EQ(error(with("kind = \"pci\"", "kind = \"lanes\"")),
            "p.toml:21: bus.kind: a network interface of kind \"lanai\" is not on a bus of kind "
            "\"lanes\"; valid: pci");
  // Expect: a key of another kind is none here.
  const std::string other = error(with("host_buffers", "send_queue"));
  EXPECT_NE(other.find(": ni.send_queue: unknown key; valid in [ni]: kind, clock_MHz, "),
            std::string::npos)
      << other;
}

TEST_F(PlatformTest, WhatCanBeFasterIsWhatThePartsHave) {
  const auto faster = [](const char* platform, const char* what) {
    const Result<Platform> loaded =
        load_platform((fs::path(FAIRLEAD_PLATFORMS) / platform).string(), {{}, {}, what});
    return loaded.ok() ? "loaded" : loaded.error().text;
  };
  EXPECT_EQ(faster("myrinet-p3.toml", "dma=2,visibility=2"), "loaded");
  EXPECT_EQ(faster("generic-hca.toml", "bus=2,ni=2"), "loaded");
  EXPECT_EQ(faster("generic-hca.toml", "dma=2"),
            "faster: 'dma=2' is not RESOURCE=FACTOR; resources: host, bus, ni, link; factors 0.01 "
            "to 100, for example ni=2");
  const Result<Platform> hca =
      load_platform((fs::path(FAIRLEAD_PLATFORMS) / "generic-hca.toml").string());
  ASSERT_TRUE(hca.ok()) << hca.error().text;
  // Expect: copies are independent of each other.
  Platform copy = hca.value();
  copy.ni.as<RdmaParams>().mtu_bytes = 1;
  EXPECT_EQ(hca.value().ni.as<RdmaParams>().mtu_bytes, 2048u);
  EXPECT_EQ(hca.value().ni.find<LanaiParams>(), nullptr);
}

TEST_F(PlatformTest, WhatIsNotTomlSaysWhere) {
  const std::string what = error(with("[bus]", "[bus"));
  EXPECT_TRUE(what.starts_with("p.toml:20: not a TOML file: ")) << what;
  EXPECT_EQ(error(with("[bus]", "[b\xc2\xb5s]")), "p.toml:20: a character that is not ASCII");
  const Result<Platform> none = load_platform((folder_ / "none.toml").string());
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().text.find("none.toml"), std::string::npos) << none.error().text;
}

TEST_F(PlatformTest, TheStepsFileIsCheckedToo) {
  const std::string missing = error(with("lci-firmware.toml", "gone.toml"));
  EXPECT_TRUE(missing.starts_with("gone.toml:")) << missing;
  write("lci-firmware.toml",
        steps_ + "teleport = { value = 1, source = \"-\", mark = \"guessed\" }\n");
  const std::string step = error(platform_);
  EXPECT_NE(step.find(": ni.teleport: unknown key; valid in [ni]: "), std::string::npos) << step;
  write("lci-firmware.toml", "[moon]\nsend = { value = 1, source = \"-\", mark = \"guessed\" }\n");
  EXPECT_EQ(error(platform_),
            "lci-firmware.toml:1: moon: unknown; valid: [protocol], [host], [ni]");
}

TEST(PlatformChange, SwitchesThatCombineNeedATreeAndLinksThatCan) {
  const auto what = [](const char* platform, std::vector<std::string> set,
                       const std::string& topology = "") {
    PlatformChanges changes;
    changes.set = std::move(set);
    changes.topology = topology;
    const auto loaded =
        load_platform(std::string(FAIRLEAD_PLATFORMS "/") + platform + ".toml", changes);
    return loaded.ok() ? std::string("loaded") : loaded.error().text;
  };
  const auto has = [](const std::string& text, const char* words) {
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  EXPECT_EQ(what("infiniband-ndr", {}), "loaded");
  EXPECT_EQ(what("infiniband-ndr", {"network.reduction_bytes=0"}, "grid"), "loaded");
  has(what("infiniband-ndr", {}, "grid"), "network.reduction_bytes: 2048 bytes: switches combine");
  has(what("infiniband-ndr", {"network.host_order=3"}), "hosts are in order");
  has(what("infiniband-ndr", {"network.buffer_bytes=0"}), "links with buffers");
  has(what("infiniband-ndr", {"network.reduction_bytes=8192"}), "at most 4096, a packet");
  has(what("infiniband-ndr", {"network.reduction_bytes=12"}), "a multiple of 8");
  has(what("myrinet-p3", {"network.reduction_bytes=64"}), "of kind \"lanai\" has no operands");
  has(what(
          "generic-hca",
          {"network.reduction_bytes=64", "network.buffer_bytes=4096", "network.hosts_per_switch=8"},
          "fat-tree"),
      "network.reduction_MBps is missing");
  EXPECT_EQ(what("qsnet-es40", {"network.reduction_bytes=320"}), "loaded");
  has(what("qsnet-es40", {"network.top_downlinks=9"}), "network.top_downlinks is 9");
  EXPECT_EQ(what("qsnet-es40", {"network.top_downlinks=8"}), "loaded");
}

// Flips, drops, doubles or replaces a few bytes.
std::string spoiled(std::string text, Prng& draw) {
  static constexpr std::string_view kPieces[] = {"=",  "{",   "}",    "[",        "]",      "\n",
                                                 "\"", "nan", "-1e9", "\xff\xfe", "[[ni]]", "\0"};
  for (std::uint64_t changes = 1 + draw.below(4); changes > 0 && !text.empty(); --changes) {
    const std::size_t at = draw.below(text.size());
    const std::size_t length = std::min<std::size_t>(draw.below(12), text.size() - at);
    switch (draw.below(4)) {
      case 0:
        text[at] = static_cast<char>(text[at] ^ (1 << draw.below(8)));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(draw.below(text.size()), length));
        break;
      default:
        text.replace(at, length, kPieces[draw.below(std::size(kPieces))]);
    }
  }
  return text;
}

// "p.toml:12: ..."; the name of the file of steps may be spoiled, too.
bool says_where(const std::string& what) {
  const std::size_t name = what.find(':');
  if (name == std::string::npos || name == 0) return false;
  const std::size_t line = name + 1;
  const std::size_t end = what.find_first_not_of("0123456789", line);
  return end != std::string::npos && end > line && what.compare(end, 2, ": ") == 0;
}

TEST_F(PlatformTest, SpoiledFilesNeverCrashAndSayWhere) {
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Prng draw(seed);
    const bool steps = seed % 4 == 3;
    write("lci-firmware.toml", steps ? spoiled(steps_, draw) : steps_);
    const std::string what = error(steps ? platform_ : spoiled(platform_, draw));
    if (what == "loaded") continue;
    ++refused;
    // Expect: file, line and reason
    EXPECT_TRUE(says_where(what)) << "seed " << seed << ": " << what;
  }
  // Expect: most changes are noticed, and some fall into comments and sources
  EXPECT_GT(refused, 500);
  EXPECT_LT(refused, 2000);
}

}  // namespace
}  // namespace fairlead::hw
