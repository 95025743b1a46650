// Answer of set-up calls and of everything that meets the outside world (files, sockets, users).
// The text is written by the first function that knows the cause and says what to try next.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "fairlead/base/check.h"

namespace fairlead {

struct Error {
  std::string text;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return state_.index() == 0; }
  T& value() {
    FAIRLEAD_CHECK(ok(), "{}", error().text);
    return std::get<0>(state_);
  }
  const T& value() const { return const_cast<Result*>(this)->value(); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return !error_.has_value(); }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace fairlead
