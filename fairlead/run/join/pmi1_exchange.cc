#include "fairlead/run/join/pmi1_exchange.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "fairlead/base/numbers.h"
#include "fairlead/run/wire/bootstrap.h"

namespace fairlead::run {
namespace {

constexpr const char kMapping[] = "PMI_process_mapping";
// A value that does not fit one key goes on in others, "KEY.1" and so on; the first one says how
// many there are: "3:".
constexpr std::size_t kCountBytes = 8;
constexpr std::uint32_t kPiecesMax = 1u << 20;

std::optional<std::uint32_t> environment_number(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  return whole_number<std::uint32_t>(text);
}

std::string key_of(std::uint32_t rank, std::string_view key) {
  return fmt::format("fairlead.{}.{}", rank, key);
}

std::string piece_of(const std::string& key, std::uint32_t piece) {
  return piece == 0 ? key : fmt::format("{}.{}", key, piece);
}

}  // namespace

Result<std::unique_ptr<JobExchange>> Pmi1Exchange::connect(Fd socket, std::uint32_t rank,
                                                           std::uint32_t ranks) {
  std::unique_ptr<Pmi1Exchange> made(new Pmi1Exchange(std::move(socket)));
  made->place_.rank = rank;
  made->place_.ranks = ranks;
  if (const Result<void> greeted = made->greet(); !greeted.ok()) {
    return Error{fmt::format("rank {}: the launcher (PMI-1): {}", rank, greeted.error().text)};
  }
  return std::unique_ptr<JobExchange>(std::move(made));
}

Result<void> Pmi1Exchange::greet() {
  const Result<std::string> greeted =
      ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init");
  if (!greeted.ok()) return greeted.error();
  const Result<std::string> maxes = ask("cmd=get_maxes", "maxes");
  if (!maxes.ok()) return maxes.error();
  const Result<Pmi1Line> limits = parse_pmi1_line(maxes.value());
  const std::int64_t longest = limits.value().number("vallen_max").value_or(0);
  if (longest < 64 || longest > static_cast<std::int64_t>(kPmi1LineMax)) {
    return Error{fmt::format("values of at most {} bytes are of no use", longest)};
  }
  value_max_ = static_cast<std::size_t>(longest);
  const Result<std::string> name = ask("cmd=get_my_kvsname", "my_kvsname");
  if (!name.ok()) return name.error();
  kvs_ = parse_pmi1_line(name.value()).value().get("kvsname");
  place_.job = kvs_;
  const Result<std::string> mapping = get_piece(kMapping);
  if (!mapping.ok()) {
    return Error{fmt::format("it does not say which ranks share a node: {}", mapping.error().text)};
  }
  Result<std::vector<std::uint32_t>> nodes = parse_process_mapping(mapping.value(), place_.ranks);
  if (!nodes.ok()) return nodes.error();
  place_.nodes = NodeMap(nodes.value());
  return {};
}

Result<void> Pmi1Exchange::say(const std::string& line) {
  const std::string text = line + "\n";
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n = ::send(socket_.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Error{fmt::format("it cannot be told anything: {}", std::strerror(errno))};
    sent += static_cast<std::size_t>(n);
  }
  return {};
}

Result<std::string> Pmi1Exchange::read_line() {
  for (;;) {
    if (std::optional<std::string> line = lines_.next(); line.has_value()) return std::move(*line);
    char bytes[4096];
    const ssize_t n = ::recv(socket_.get(), bytes, sizeof bytes, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error{fmt::format("no answer: {}", std::strerror(errno))};
    if (n == 0) return Error{"it has closed its socket"};
    const Result<void> added = lines_.append({bytes, static_cast<std::size_t>(n)});
    if (!added.ok()) return added.error();
  }
}

Result<std::string> Pmi1Exchange::ask(const std::string& line, std::string_view command) {
  if (const Result<void> said = say(line); !said.ok()) return said.error();
  Result<std::string> answer = read_line();
  if (!answer.ok()) return answer;
  const Result<Pmi1Line> parsed = parse_pmi1_line(answer.value());
  if (!parsed.ok()) return parsed.error();
  const std::string_view refused = parsed.value().get("rc");
  if (parsed.value().get("cmd") != command || (!refused.empty() && refused != "0")) {
    return Error{fmt::format("\"{}\" was answered by \"{}\"", line, answer.value())};
  }
  return answer;
}

Result<void> Pmi1Exchange::put_piece(const std::string& key, std::string_view text) {
  const Result<std::string> answer =
      ask(fmt::format("cmd=put kvsname={} key={} value={}", kvs_, key, text), "put_result");
  if (!answer.ok()) return answer.error();
  return {};
}

Result<std::string> Pmi1Exchange::get_piece(const std::string& key) {
  const Result<std::string> answer =
      ask(fmt::format("cmd=get kvsname={} key={}", kvs_, key), "get_result");
  if (!answer.ok()) return answer;
  return std::string(parse_pmi1_line(answer.value()).value().get("value"));
}

Result<void> Pmi1Exchange::put(std::string_view key, std::string_view value) {
  if (key.size() > kKeyBytesMax || value.size() > kValueBytesMax) {
    return Error{
        fmt::format("key \"{}\" of {} bytes: at most {} fit", key, value.size(), kValueBytesMax)};
  }
  const std::string text = to_hex(value);
  const std::size_t room = value_max_ - 1 - kCountBytes;
  const auto pieces =
      static_cast<std::uint32_t>(std::max<std::size_t>(1, (text.size() + room - 1) / room));
  const std::string name = key_of(place_.rank, key);
  for (std::uint32_t piece = 0; piece < pieces; ++piece) {
    const std::string_view part = std::string_view(text).substr(piece * room, room);
    const Result<void> put = put_piece(
        piece_of(name, piece), piece == 0 ? fmt::format("{}:{}", pieces, part) : std::string(part));
    if (!put.ok()) return put;
  }
  return {};
}

Result<void> Pmi1Exchange::fence() {
  const Result<std::string> answer = ask("cmd=barrier_in", "barrier_out");
  if (!answer.ok()) return answer.error();
  return {};
}

Result<std::string> Pmi1Exchange::get(std::uint32_t rank, std::string_view key) {
  const std::string name = key_of(rank, key);
  const Result<std::string> first = get_piece(name);
  if (!first.ok()) return first;
  std::string_view head = first.value();
  std::uint32_t pieces = 0;
  if (!take_whole(head, pieces) || pieces == 0 || pieces > kPiecesMax || !head.starts_with(':')) {
    return Error{fmt::format("\"{}\" of rank {} is not what Fairlead puts there", key, rank)};
  }
  std::string text(head.substr(1));
  for (std::uint32_t piece = 1; piece < pieces; ++piece) {
    const Result<std::string> part = get_piece(piece_of(name, piece));
    if (!part.ok()) return part;
    text += part.value();
    if (text.size() > 2 * kValueBytesMax) return Error{"a value longer than can be"};
  }
  return from_hex(text);
}

void Pmi1Exchange::finish() {
  // Whether the launcher has gone does not matter to a rank that is done.
  (void)ask("cmd=finalize", "finalize_ack");
  socket_.reset();
}

void Pmi1Exchange::abort(int code, const std::string&) {
  if (socket_.valid()) (void)say(fmt::format("cmd=abort exitcode={}", code));
}

Result<std::unique_ptr<JobExchange>> pmi1_exchange() {
  const std::optional<std::uint32_t> fd = environment_number("PMI_FD");
  const std::optional<std::uint32_t> rank = environment_number("PMI_RANK");
  const std::optional<std::uint32_t> ranks = environment_number("PMI_SIZE");
  if (!fd.has_value() || !rank.has_value() || !ranks.has_value() || *rank >= *ranks) {
    return Error{
        "PMI_FD, PMI_RANK and PMI_SIZE do not say a rank's place in a job: clear them from the "
        "environment to run this process as a job of its own"};
  }
  if (!socket_inode(static_cast<int>(*fd)).ok()) {
    return Error{fmt::format(
        "this process cannot join the job as rank {}: the launcher's socket (PMI_FD={}) is not "
        "open in it. It is probably a child of the rank's program; clear PMI_FD from its "
        "environment to run it as a job of its own",
        *rank, *fd)};
  }
  Fd socket(static_cast<int>(*fd));
  // A child of this rank is not the rank.
  ::fcntl(socket.get(), F_SETFD, FD_CLOEXEC);
  return Pmi1Exchange::connect(std::move(socket), *rank, *ranks);
}

}  // namespace fairlead::run
