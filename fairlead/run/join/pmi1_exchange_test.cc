#include "fairlead/run/join/pmi1_exchange.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <functional>
#include <map>
#include <thread>

namespace fairlead::run {
namespace {

// A launcher with one rank: answers each line as `twist` wants, else as PMI-1 says.
class FakeLauncher {
 public:
  using Twist = std::function<std::string(const std::string& line)>;

  explicit FakeLauncher(Twist twist) {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    theirs_ = Fd(ends[0]);
    thread_ =
        std::thread([this, twist = std::move(twist), ours = Fd(ends[1])] { serve(ours, twist); });
  }
  // The exchange has gone by then, so that its socket is closed.
  ~FakeLauncher() {
    theirs_.reset();
    if (thread_.joinable()) thread_.join();
  }
  Fd take() { return std::move(theirs_); }
  const std::vector<std::string>& heard() {
    thread_.join();
    return heard_;
  }

 private:
  void serve(const Fd& socket, const Twist& twist) {
    Pmi1Lines lines;
    char bytes[4096];
    for (ssize_t n = 0; (n = ::recv(socket.get(), bytes, sizeof bytes, 0)) > 0;) {
      ASSERT_TRUE(lines.append({bytes, static_cast<std::size_t>(n)}).ok());
      while (const auto line = lines.next()) {
        heard_.push_back(*line);
        std::string answer = twist ? twist(*line) : "";
        if (answer.empty()) answer = plain(*line);
        if (answer == "hang up\n") return;
        (void)!::send(socket.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
      }
    }
  }

  std::string plain(const std::string& text) {
    const auto line = parse_pmi1_line(text);
    if (!line.ok()) return "hang up\n";
    const std::string_view cmd = line.value().get("cmd");
    if (cmd == "init") return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n";
    if (cmd == "get_maxes") return "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=100\n";
    if (cmd == "get_my_kvsname") return "cmd=my_kvsname kvsname=kvs_1\n";
    if (cmd == "barrier_in") return "cmd=barrier_out\n";
    if (cmd == "finalize") return "cmd=finalize_ack\n";
    if (cmd == "put") {
      // As hydra's limits are.
      EXPECT_LE(line.value().get("key").size(), 64u);
      EXPECT_LT(line.value().get("value").size(), 100u);
      store_[std::string(line.value().get("key"))] = line.value().get("value");
      return "cmd=put_result rc=0 msg=success\n";
    }
    const std::string key(line.value().get("key"));
    if (key == "PMI_process_mapping")
      return "cmd=get_result rc=0 msg=success value=(vector,(0,1,4))\n";
    if (!store_.contains(key)) return "cmd=get_result rc=-1 msg=key_not_found value=unknown\n";
    return "cmd=get_result rc=0 msg=success value=" + store_[key] + "\n";
  }

  Fd theirs_;
  std::thread thread_;
  std::map<std::string, std::string> store_;
  std::vector<std::string> heard_;
};

TEST(Pmi1Exchange, TellsThePlace) {
  FakeLauncher launcher(nullptr);
  auto exchange = Pmi1Exchange::connect(launcher.take(), 2, 4);
  ASSERT_TRUE(exchange.ok()) << exchange.error().text;
  const JobPlace& place = exchange.value()->place();
  EXPECT_EQ(place.rank, 2u);
  EXPECT_EQ(place.ranks, 4u);
  EXPECT_EQ(place.job, "kvs_1");
  EXPECT_EQ(place.nodes.table(), (std::vector<std::uint32_t>{0, 0, 0, 0}));
}

TEST(Pmi1Exchange, ValuesOfAnyBytesAndLengthComeBack) {
  FakeLauncher launcher(nullptr);
  auto exchange = Pmi1Exchange::connect(launcher.take(), 2, 4);
  ASSERT_TRUE(exchange.ok());
  std::string all;
  for (int i = 0; i < 5000; ++i) all += static_cast<char>(i);
  for (const std::string& value : {std::string(), std::string("a b\n=\0c", 7), all}) {
    const std::string key = "card" + std::to_string(value.size());
    ASSERT_TRUE(exchange.value()->put(key, value).ok());
    ASSERT_TRUE(exchange.value()->fence().ok());
    const auto back = exchange.value()->get(2, key);
    ASSERT_TRUE(back.ok()) << back.error().text;
    // Expect: what was put, whatever the launcher's limits
    EXPECT_EQ(back.value(), value);
  }
  // Expect: a key that nobody put is an error with the launcher's words
  const auto missing = exchange.value()->get(1, "card7");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().text.find("key_not_found"), std::string::npos);
  // Expect: what cannot be carried is refused here
  EXPECT_FALSE(exchange.value()->put(std::string(JobExchange::kKeyBytesMax + 1, 'k'), "").ok());
}

TEST(Pmi1Exchange, AbortAndFinishAreTold) {
  FakeLauncher launcher(nullptr);
  {
    auto exchange = Pmi1Exchange::connect(launcher.take(), 0, 4);
    ASSERT_TRUE(exchange.ok());
    exchange.value()->abort(42, "reason");
    exchange.value()->finish();
    // Expect: after the end there is nobody to tell
    exchange.value()->abort(43, "reason");
  }
  const auto& heard = launcher.heard();
  EXPECT_EQ(heard[heard.size() - 2], "cmd=abort exitcode=42");
  EXPECT_EQ(heard.back(), "cmd=finalize");
}

TEST(Pmi1Exchange, ALauncherThatTalksNonsenseIsAnError) {
  const auto greeted_by = [](const char* command, std::string answer) {
    FakeLauncher launcher([=](const std::string& line) {
      return line.find(command) != std::string::npos ? answer : "";
    });
    const auto greeted = Pmi1Exchange::connect(launcher.take(), 1, 4);
    return greeted.ok() ? std::string() : greeted.error().text;
  };
  EXPECT_EQ(greeted_by("nothing", ""), "");
  for (const auto& [command, answer] : std::vector<std::pair<const char*, std::string>>{
           {"cmd=init", "cmd=response_to_init rc=-1\n"},
           {"cmd=init", "what?\n"},
           {"cmd=init", std::string(2 * kPmi1LineMax, 'x')},
           {"cmd=init", "hang up\n"},
           {"cmd=get_maxes", "cmd=maxes vallen_max=10\n"},
           {"cmd=get_maxes", "cmd=maxes vallen_max=99999999999999999999\n"},
           {"PMI_process_mapping", "cmd=get_result rc=-1 msg=unknown\n"},
           {"PMI_process_mapping", "cmd=get_result rc=0 value=(vector,(0,0,0))\n"}}) {
    // Expect: an error that names the rank, not a wait
    EXPECT_NE(greeted_by(command, answer).find("rank 1"), std::string::npos)
        << command << " " << answer.substr(0, 40);
  }
}

TEST(Pmi1Exchange, ForeignValuesUnderOurKeysAreRefused) {
  for (const char* value : {"", "x", "0:", "1", "1:0g", "99999999:00", ":00"}) {
    FakeLauncher launcher([value](const std::string& line) {
      return line.find("fairlead.") != std::string::npos
                 ? std::string("cmd=get_result rc=0 value=") + value + "\n"
                 : std::string();
    });
    auto exchange = Pmi1Exchange::connect(launcher.take(), 0, 4);
    ASSERT_TRUE(exchange.ok());
    EXPECT_FALSE(exchange.value()->get(1, "card").ok()) << value;
  }
}

}  // namespace
}  // namespace fairlead::run
