#include <array>
#include <utility>

#include "fairlead/systems/am/endpoint.h"

namespace fairlead::am {
namespace {

using Call = void (*)(am_handler_t, Form, Token*, void*, std::size_t, const std::int32_t*);

template <std::size_t>
using Argument = handlerarg_t;

template <std::size_t... I>
void call(am_handler_t handler, Form form, Token* token, void* data, std::size_t bytes,
          [[maybe_unused]] const std::int32_t* args, std::index_sequence<I...>) {
  if (form == Form::plain) {
    reinterpret_cast<void (*)(void*, Argument<I>...)>(handler)(token, args[I]...);
  } else {
    reinterpret_cast<void (*)(void*, void*, std::size_t, Argument<I>...)>(handler)(
        token, data, bytes, args[I]...);
  }
}

template <std::size_t... N>
constexpr std::array<Call, sizeof...(N)> calls(std::index_sequence<N...>) {
  return {[](am_handler_t handler, Form form, Token* token, void* data, std::size_t bytes,
             const std::int32_t* args) {
    call(handler, form, token, data, bytes, args, std::make_index_sequence<N>());
  }...};
}

constexpr auto kCalls = calls(std::make_index_sequence<AM_ARGUMENTS_MAX + 1>());

}  // namespace

void call_handler(am_handler_t handler, Form form, Token* token, void* data, std::size_t bytes,
                  std::size_t argc, const std::int32_t* args) {
  kCalls[argc](handler, form, token, data, bytes, args);
}

}  // namespace fairlead::am
