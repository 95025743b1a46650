// What may come through the sockets of start-up: each message's parser, also behind a right head,
// which random bytes do not find.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "fairlead/run/wire/bootstrap_messages.h"

using namespace fairlead::run;  // NOLINT: the functions below

namespace {

template <class Message>
std::vector<std::byte> headed(std::span<const std::byte> body) {
  auto message = make_message<Message>(0);
  std::vector<std::byte> bytes(sizeof message);
  std::memcpy(bytes.data(), &message, sizeof message);
  constexpr std::size_t kBody = offsetof(MessageHead, rank);
  const std::size_t fits = std::min(body.size(), bytes.size() - kBody);
  std::memcpy(bytes.data() + kBody, body.data(), fits);
  return bytes;
}

void check(std::span<const std::byte> welcome, std::span<const std::byte> abort_note,
           std::span<const std::byte> signal, std::span<const std::byte> card,
           std::span<const std::byte> hello, std::span<const std::byte> address) {
  const auto welcomed = parse_welcome(welcome);
  if (welcomed.ok() && welcomed.value().head.rank >= welcomed.value().ranks) std::abort();
  if (welcomed.ok() && !get_text(welcomed.value().trace_path, "").ok()) std::abort();
  const auto aborted = parse_abort(abort_note);
  if (aborted.ok() && !get_text(aborted.value().reason, "").ok()) std::abort();
  const auto signalled = parse_signal(signal);
  if (signalled.ok() && signalled.value().number <= 0) std::abort();
  const auto carded = parse_card(card);
  if (carded.ok() && !get_text(carded.value().host, "").ok()) std::abort();
  const auto greeted = parse_hello(hello);
  const auto addressed = parse_address(address);
  if (addressed.ok() && addressed.value().size > AddressNote::kCardBytes) std::abort();
  if (greeted.ok() && !has_secret(hello, greeted.value().secret)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  check(bytes, bytes, bytes, bytes, bytes, bytes);
  check(headed<Welcome>(bytes), headed<AbortNote>(bytes), headed<SignalNote>(bytes),
        headed<NodeCard>(bytes), headed<NodeHello>(bytes), headed<AddressNote>(bytes));
  return 0;
}
