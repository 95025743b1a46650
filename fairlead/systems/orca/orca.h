// Orca: processes on ranks that share objects (LCI paper section 6.2). An object is a value of a
// C++ class, used by operations that its class declares: const member functions read, the others
// write. Each operation is atomic, and all operations on all objects are sequentially consistent:
// as if one after the other, those of a process in its own order.
//
//   struct Buffer {
//     std::vector<int> items;
//     void put(int item) { items.push_back(item); }
//     int get() { ... }
//     bool any() const { return !items.empty(); }
//     auto fields() { return std::tie(items); }         // how it travels: codec.h
//   };
//   orca::Program program;                               // the same on every rank
//   program.type<Buffer>("buffer").operation<&Buffer::put>("put")
//       .operation<&Buffer::get, &Buffer::any>("get");   // guarded: waits until any() holds
//   program.process<&worker>("worker");                  // void worker(Orca&, Object<Buffer>)
//   orca::run(context, program, {}, [](Orca& me) { ... me.fork<&worker>(1, buffer); });
//
// An object is in one place, its owner's memory (operations of others are calls by Panda), or has a
// replica on every rank (writes by totally ordered broadcast, reads in local memory).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "fairlead/base/result.h"
#include "fairlead/run/context.h"
#include "fairlead/systems/orca/codec.h"

namespace fairlead::panda {
class Panda;
}

namespace fairlead::orca {

class Orca;
struct Core;      // internal
struct Instance;  // internal: an object's copy at this rank

// Parameters, results and states beyond it end the job with rank, object and operation.
constexpr std::size_t kValueBytesMax = std::size_t{16} << 20;

enum class Placement : std::uint8_t {
  single,      // at its creator's rank
  replicated,  // on every rank
  adaptive,    // first single; its owner moves it by the reads and writes that it counts
};

// Rank of the creator (its owner) in the upper half, a number of its own in the lower one.
using ObjectId = std::uint64_t;

// What a process holds of an object: a value that may be a parameter of operations and processes.
// T may be incomplete.
template <class T>
struct Object {
  ObjectId id = ~ObjectId{0};
};

// --- What a program declares.

enum class Ran : std::uint8_t {
  done,
  must_wait,  // its guard does not hold; nothing happened
  malformed,  // the bytes are not its parameters
};

struct Operation {
  const void* tag;
  std::string name;
  std::string waits_for;  // what its caller is shown to wait for
  bool writes;
  bool guarded;
  Ran (*run)(void* state, std::span<const std::byte> parameters, Bytes& result);
};

struct Type {
  const void* tag;
  std::string name;
  std::vector<Operation> operations;
  void* (*make)(std::span<const std::byte> state);  // nullptr: the bytes are not such a state
  void (*write)(const void* state, Bytes& to);
  void (*destroy)(void* state);
};

struct Function {
  const void* tag;
  std::string name;
  bool (*run)(Orca& here, std::span<const std::byte> arguments);  // false: not its arguments
};

template <class T>
inline constexpr char kTypeTag = 0;
template <auto M>
inline constexpr char kMemberTag = 0;

template <class M>
struct Member;
template <class T, class R, class... A>
struct Member<R (T::*)(A...)> {
  using Class = T;
  using Result = R;
  using Parameters = std::tuple<std::decay_t<A>...>;
  static constexpr bool kWrites = true;
};
template <class T, class R, class... A>
struct Member<R (T::*)(A...) const> : Member<R (T::*)(A...)> {
  static constexpr bool kWrites = false;
};
template <class F>
struct ProcessFunction;
template <class... A>
struct ProcessFunction<void (*)(Orca&, A...)> {
  using Arguments = std::tuple<std::decay_t<A>...>;
};

class Program {
 public:
  template <class T>
  class TypeOf {
   public:
    TypeOf(Program& program, std::size_t index) : program_(program), index_(index) {}
    // Member function M; G, where given, is a const one that returns bool, with M's parameters or
    // none: the operation waits until it holds.
    template <auto M, auto G = nullptr>
    TypeOf& operation(const std::string& name);

   private:
    Program& program_;
    std::size_t index_;
  };

  template <class T>
  TypeOf<T> type(const std::string& name) {
    types_.push_back({&kTypeTag<T>, name, {}, &make<T>, &write<T>, &destroy<T>});
    return {*this, types_.size() - 1};
  }
  // F: void(Orca&, arguments...).
  template <auto F>
  Program& process(const std::string& name) {
    functions_.push_back({&kMemberTag<F>, name, &run_process<F>});
    return *this;
  }

  const std::vector<Type>& types() const { return types_; }
  const std::vector<Function>& functions() const { return functions_; }
  // A hash of all names, in order: the same on every rank.
  std::uint64_t hash() const;

 private:
  template <class T>
  static void* make(std::span<const std::byte> bytes);
  template <class T>
  static void write(const void* state, Bytes& to) {
    Codec<T>::write(to, *static_cast<const T*>(state));
  }
  template <class T>
  static void destroy(void* state) {
    delete static_cast<T*>(state);
  }
  template <auto F>
  static bool run_process(Orca& here, std::span<const std::byte> bytes);
  void add_operation(std::size_t type, Operation operation);

  std::vector<Type> types_;
  std::vector<Function> functions_;
};

struct Options {
  std::size_t stack_bytes = 256 * 1024;  // of a forked process
  std::uint32_t processes_max = 1024;    // at one time on a rank
  Rank sequencer = 0;                    // numbers the writes to replicas
};

// Every rank calls it with the same program and options. On rank 0 it runs `main`, the first
// process, on the others none; all serve the objects that are theirs, and it returns when every
// process has ended. It starts Panda-MT and stops it again.
Result<void> run(run::Context& context, const Program& program, const Options& options,
                 const std::function<void(Orca&)>& main);

// One rank's Orca, as its processes see it. An operation may not call it (nested operations end the
// job). Errors: what a program did wrong (an object that was deleted, an operation that its type
// was not declared with, values too large) ends the job with the rank, the object and the
// operation; a lost peer does so from whatever waits for it.
class Orca {
 public:
  explicit Orca(Core& core) : core_(core) {}

  Rank self() const;
  Rank size() const;
  run::Context& context() const;
  panda::Panda& panda() const;

  template <class T>
  Object<T> create(Placement placement, const T& initial = T{}) {
    Bytes state;
    Codec<T>::write(state, initial);
    return {create(type_of(&kTypeTag<T>), placement, state)};
  }
  // Its replicas as well. Operations on it from then on, and those that wait for a guard, end the
  // job.
  template <class T>
  void destroy(Object<T> object) {
    destroy(object.id, type_of(&kTypeTag<T>));
  }

  // me.invoke<&Buffer::put>(buffer, 5).
  template <auto M, class T, class... A>
  typename Member<decltype(M)>::Result invoke(Object<T> object, A&&... arguments);

  // A process that runs F(here, arguments...) on `rank`, this one included. It sees all that its
  // parent saw. Returns at once.
  template <auto F, class... A>
  void fork(Rank rank, A&&... arguments) {
    const typename ProcessFunction<decltype(F)>::Arguments values(std::forward<A>(arguments)...);
    Bytes bytes;
    std::apply([&bytes](const auto&... value) { write_all(bytes, value...); }, values);
    fork(rank, &kMemberTag<F>, bytes);
  }
  // The time of the world that the rank runs in, since it started.
  double seconds() const;
  // Lets the rank's other processes run.
  void yield();

  // Counts of this rank.
  struct Counts {
    std::uint64_t here = 0;     // operations in this rank's memory, by its own processes
    std::uint64_t calls = 0;    // operations at the owner of a single copy, by calls
    std::uint64_t writes = 0;   // writes to replicas, by broadcasts
    std::uint64_t served = 0;   // calls of other ranks
    std::uint64_t waited = 0;   // operations that waited for their guard in this rank's memory
    std::uint64_t moves = 0;    // from a single copy to replicas or back, seen here
    std::uint64_t retries = 0;  // operations that came too late for where the object had been
  };
  const Counts& counts() const;

 private:
  // The operation of type `type` by the tags' addresses.
  const Type& type_of(const void* tag) const;
  const Operation& operation_of(const Type& type, const void* tag) const;
  ObjectId create(const Type& type, Placement placement, const Bytes& state);
  void destroy(ObjectId id, const Type& type);
  void fork(Rank rank, const void* tag, const Bytes& arguments);
  // The state, if the operation may run in this rank's memory at once, with no guard: no other
  // thread nor handler runs then until end_here(). Else nullptr.
  void* begin_here(ObjectId id, const Type& type, const Operation& operation, Instance*& instance);
  void end_here(Instance& instance, const Operation& operation);
  Bytes invoke(ObjectId id, const Type& type, const Operation& operation, const Bytes& parameters);
  [[noreturn]] void malformed_result(ObjectId id, const Type& type, const Operation& operation);

  Core& core_;
};

// --- Bodies of the templates.

template <auto M, auto G>
Ran run_operation(void* state, std::span<const std::byte> bytes, Bytes& result) {
  using Of = Member<decltype(M)>;
  typename Of::Parameters values;
  if (!read_all(bytes, values)) return Ran::malformed;
  auto& object = *static_cast<typename Of::Class*>(state);
  if constexpr (!std::is_same_v<decltype(G), std::nullptr_t>) {
    using Guard = Member<decltype(G)>;
    static_assert(!Guard::kWrites, "a guard is a const member function");
    bool holds = false;
    if constexpr (std::tuple_size_v<typename Guard::Parameters> == 0) {
      holds = (object.*G)();
    } else {
      holds = std::apply([&](const auto&... value) { return (object.*G)(value...); }, values);
    }
    if (!holds) return Ran::must_wait;
  }
  std::apply(
      [&](auto&... value) {
        if constexpr (std::is_void_v<typename Of::Result>) {
          (object.*M)(std::move(value)...);
        } else {
          write_all(result, (object.*M)(std::move(value)...));
        }
      },
      values);
  return Ran::done;
}

template <class T>
template <auto M, auto G>
Program::TypeOf<T>& Program::TypeOf<T>::operation(const std::string& name) {
  using Of = Member<decltype(M)>;
  static_assert(std::is_same_v<typename Of::Class, T>, "an operation is a member of its type");
  static_assert(!std::is_reference_v<typename Of::Result>, "a result is a value");
  program_.add_operation(
      index_, {&kMemberTag<M>, name, "", Of::kWrites, !std::is_same_v<decltype(G), std::nullptr_t>,
               &run_operation<M, G>});
  return *this;
}

template <class T>
void* Program::make(std::span<const std::byte> bytes) {
  auto state = std::make_unique<T>();
  Reader from(bytes);
  Codec<T>::read(from, *state);
  return from.finished() ? state.release() : nullptr;
}

template <auto F>
bool Program::run_process(Orca& here, std::span<const std::byte> bytes) {
  typename ProcessFunction<decltype(F)>::Arguments values;
  if (!read_all(bytes, values)) return false;
  std::apply([&here](auto&... value) { F(here, std::move(value)...); }, values);
  return true;
}

template <auto M, class T, class... A>
typename Member<decltype(M)>::Result Orca::invoke(Object<T> object, A&&... arguments) {
  using Of = Member<decltype(M)>;
  static_assert(std::is_same_v<typename Of::Class, T>, "an operation is a member of its type");
  constexpr bool kVoid = std::is_void_v<typename Of::Result>;
  const Type& type = type_of(&kTypeTag<T>);
  const Operation& operation = operation_of(type, &kMemberTag<M>);
  typename Of::Parameters values(std::forward<A>(arguments)...);
  Instance* instance = nullptr;
  if (void* const state = begin_here(object.id, type, operation, instance)) {
    const auto run = [&](auto&... value) {
      return (static_cast<T*>(state)->*M)(std::move(value)...);
    };
    if constexpr (kVoid) {
      std::apply(run, values);
      return end_here(*instance, operation);
    } else {
      typename Of::Result result = std::apply(run, values);
      end_here(*instance, operation);
      return result;
    }
  }
  Bytes bytes;
  std::apply([&bytes](const auto&... value) { write_all(bytes, value...); }, values);
  const Bytes answer = invoke(object.id, type, operation, bytes);
  if constexpr (!kVoid) {
    std::tuple<typename Of::Result> result;
    if (!read_all(answer.view(), result)) malformed_result(object.id, type, operation);
    return std::move(std::get<0>(result));
  }
}

}  // namespace fairlead::orca
