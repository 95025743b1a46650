// Active Messages for C++ programs: handlers with parameters of any plain types, which the calls
// that name them check. Over am.h, whose rules hold.
//
//   void on_add(am::Caller caller, double value, std::uint64_t to);
//   constexpr am::Handler<&on_add> kAdd(1);      // at place 1 of handler tables
//   kAdd.set(endpoint);                          // by who receives
//   kAdd.request(endpoint, index, 2.5, 7);       // by who sends: AM_OK or an error of am.h
//
// A function whose second parameter is a Block gets a buffer, too; its calls take one before the
// values. Values travel as their bytes, in arguments of 4 bytes, of which there are 16; ranks of a
// job have one byte order. Transfers into segments stay calls of am.h.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "fairlead/systems/am/am.h"

namespace fairlead::am {

// Who sent the message that a handler serves; valid until the handler returns.
class Caller {
 public:
  explicit Caller(void* token) : token_(token) {}
  void* token() const { return token_; }
  en_t source() const {
    en_t name{};
    (void)AM_GetSourceEndpoint(token_, &name);
    return name;
  }

 private:
  void* token_;
};

// A buffer of a message: valid until the handler returns.
using Block = std::span<const std::byte>;

// A function as a handler at a place of handler tables: Handler<&function>. Its calls return what
// those of am.h do.
template <auto F, bool HasBlock, class... V>
class HandlerOf {
  static_assert((std::is_trivially_copyable_v<V> && ...), "values travel as their bytes");
  static_assert((std::is_object_v<V> && ...), "a handler takes values, not references");

 public:
  template <class T>
  static constexpr std::size_t words_of() {
    return (sizeof(T) + sizeof(handlerarg_t) - 1) / sizeof(handlerarg_t);
  }
  static constexpr std::size_t kWords = (std::size_t{0} + ... + words_of<V>());
  static_assert(kWords <= AM_ARGUMENTS_MAX, "the values of a message have 64 bytes at most");

  // `place`: from 1 on; 0 is for what comes back (am.h).
  explicit constexpr HandlerOf(handler_t place) : place_(place) {}
  handler_t place() const { return place_; }
  int set(ep_t endpoint) const { return AM_SetHandler(endpoint, place_, Entries::get()); }

  int request(ep_t endpoint, int index, const std::type_identity_t<V>&... values) const
      requires(!HasBlock) {
    return spread(
        [&](auto... words) {
          return fairlead_am_request(endpoint, index, place_, kArguments, words...);
        },
        values...);
  }
  int request(ep_t endpoint, int index, Block block,
              const std::type_identity_t<V>&... values) const requires HasBlock {
    return spread(
        [&](auto... words) {
          return fairlead_am_request_i(endpoint, index, place_, block.data(), block.size(),
                                       kArguments, words...);
        },
        values...);
  }
  // By a handler of a request, once.
  int reply(const Caller& caller, const std::type_identity_t<V>&... values) const
      requires(!HasBlock) {
    return spread(
        [&](auto... words) {
          return fairlead_am_reply(caller.token(), place_, kArguments, words...);
        },
        values...);
  }
  int reply(const Caller& caller, Block block,
            const std::type_identity_t<V>&... values) const requires HasBlock {
    return spread(
        [&](auto... words) {
          return fairlead_am_reply_i(caller.token(), place_, block.data(), block.size(), kArguments,
                                     words...);
        },
        values...);
  }

 private:
  static constexpr int kArguments = static_cast<int>(kWords);
  using Words = std::array<handlerarg_t, kWords + 1>;  // one more: there may be none
  template <std::size_t>
  using Word = handlerarg_t;

  // What the library calls, with an argument for each word.
  template <class Sequence>
  struct Entry;
  template <std::size_t... I>
  struct Entry<std::index_sequence<I...>> {
    static void plain(void* token, Word<I>... words) {
      run({words..., 0}, [token](const V&... values) { F(Caller(token), values...); });
    }
    static void with_block(void* token, void* data, std::size_t bytes, Word<I>... words) {
      const Block block{static_cast<const std::byte*>(data), bytes};
      run({words..., 0}, [&](const V&... values) { F(Caller(token), block, values...); });
    }
    static am_handler_t get() {
      if constexpr (HasBlock) {
        return reinterpret_cast<am_handler_t>(&with_block);
      } else {
        return reinterpret_cast<am_handler_t>(&plain);
      }
    }
    template <class Send>
    static int send(const Send& send_words, const Words& words) {
      return send_words(words[I]...);
    }
  };
  using Entries = Entry<std::make_index_sequence<kWords>>;

  template <class T>
  static T take(const Words& words, std::size_t& at) {
    std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), &words[at], sizeof(T));
    at += words_of<T>();
    return std::bit_cast<T>(bytes);
  }
  template <class Call>
  static void run(const Words& words, const Call& call) {
    [[maybe_unused]] std::size_t at = 0;
    // In braces, so that they are taken in this order.
    std::apply(call, std::tuple<V...>{take<V>(words, at)...});
  }
  template <class Send>
  static int spread(const Send& send, const V&... values) {
    Words words{};
    [[maybe_unused]] std::size_t at = 0;
    ((std::memcpy(&words[at], &values, sizeof values), at += words_of<V>()), ...);
    return Entries::send(send, words);
  }

  handler_t place_;
};

template <auto F, class... V>
HandlerOf<F, false, V...> handler_of_shape(void (*)(Caller, V...));
template <auto F, class... V>
HandlerOf<F, true, V...> handler_of_shape(void (*)(Caller, Block, V...));
template <auto F>
using Handler = decltype(handler_of_shape<F>(F));

}  // namespace fairlead::am
