// Parameters of Orca's operations, states of objects and arguments of processes that are any bytes:
// they are what they should be, or refused, and nothing outside them is read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "fairlead/systems/orca/orca.h"

using namespace fairlead::orca;  // NOLINT: the functions below

namespace {

void expect(bool condition) {
  if (!condition) std::abort();
}

struct Part {
  std::uint16_t number = 0;
  std::string name;
  auto fields() { return std::tie(number, name); }
};

struct State {
  std::vector<Part> parts;
  std::vector<std::vector<std::uint32_t>> rows;
  double value = 0;
  auto fields() { return std::tie(parts, rows, value); }

  void add(const Part& part, std::uint32_t times) {
    if (times < 4) parts.push_back(part);
  }
  std::string join(const std::vector<std::string>& words) const {
    std::string all;
    for (const std::string& word : words) all += word;
    return all;
  }
  void set(std::vector<std::vector<std::uint32_t>> to) { rows = std::move(to); }
  bool any() const { return !parts.empty(); }
  std::uint64_t count(std::uint8_t) const { return parts.size(); }
};

void process(Orca&, const std::vector<Part>&, const std::string&, std::uint64_t) {}

Program make_program() {
  Program program;
  program.type<State>("state")
      .operation<&State::add>("add")
      .operation<&State::join>("join")
      .operation<&State::set>("set")
      .operation<&State::count, &State::any>("count");
  return program.process<&process>("process");
}

// Bytes that were taken say the value and nothing else: written again they are the same.
template <class T>
void read_and_write(std::span<const std::byte> bytes) {
  std::tuple<T> value;
  if (!read_all(bytes, value)) return;
  Bytes again;
  write_all(again, std::get<0>(value));
  expect(again.size() == bytes.size());
  expect(std::equal(bytes.begin(), bytes.end(), again.view().begin()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Program program = make_program();
  const Type& type = program.types().front();
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  // The first byte says where the rest is cut: a state, then parameters.
  const std::size_t cut = std::min<std::size_t>(data[0], bytes.size());
  const std::unique_ptr<void, void (*)(void*)> made(type.make(bytes.first(cut)), type.destroy);
  State fresh;
  void* const state = made != nullptr ? made.get() : &fresh;
  for (const Operation& operation : type.operations) {
    Bytes result;
    const Ran ran = operation.run(state, bytes.subspan(cut), result);
    // Expect: a guard or bad bytes alone keep an operation from running; such leave no result.
    expect(ran == Ran::done || result.size() == 0);
    expect(ran != Ran::must_wait || operation.guarded);
  }
  Bytes written;
  type.write(state, written);
  const std::unique_ptr<void, void (*)(void*)> again(type.make(written.view()), type.destroy);
  expect(again != nullptr);
  read_and_write<std::vector<Part>>(bytes);
  read_and_write<std::vector<std::string>>(bytes);
  read_and_write<State>(bytes);
  return 0;
}
