// Attributes of windows.
#include <algorithm>

#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/windows/arguments.h"
#include "fairlead/systems/mpi/windows/windows.h"

namespace fairlead::mpi {
namespace {

Attribute* find_attribute(Window& window, int key) {
  const auto found = std::find_if(window.attributes.begin(), window.attributes.end(),
                                  [&](const Attribute& each) { return each.key == key; });
  return found == window.attributes.end() ? nullptr : &*found;
}

int no_key(const Call& call, Window& window, int key) {
  return fail_on(call, window, MPI_ERR_KEYVAL,
                 fmt::format("keyval is {}, which no call made, or was freed", key));
}

// Runs an attribute's delete function, then drops it. Answers the function's error.
int erase(const Call& call, Window& window, const Attribute& attribute) {
  const Attribute erased = attribute;
  const WindowKeyval& keyval = *Windows::of(call.process()).keyvals.find(erased.key);
  if (keyval.erase != MPI_WIN_NULL_DELETE_FN) {
    const int error = call.run_outside([&] {
      return keyval.erase(reinterpret_cast<MPI_Win>(&window), erased.key, erased.value,
                          keyval.extra);
    });
    if (error != MPI_SUCCESS) return error;
  }
  const std::size_t gone = std::erase_if(
      window.attributes, [&](const Attribute& each) { return each.key == erased.key; });
  Windows::of(call.process()).keyvals.forget(erased.key, gone);
  return MPI_SUCCESS;
}

int erase_if_there(const Call& call, Window& window, int key) {
  const Attribute* const old = find_attribute(window, key);
  const int error = old == nullptr ? MPI_SUCCESS : erase(call, window, *old);
  if (error == MPI_SUCCESS) return MPI_SUCCESS;
  return fail_on(call, window, error, "the delete function of the attribute failed");
}

}  // namespace

int delete_attributes(const Call& call, Window& window) {
  while (!window.attributes.empty()) {
    if (const int error = erase(call, window, window.attributes.back())) return error;
  }
  return MPI_SUCCESS;
}

namespace api {

int win_create_keyval(MPI_Win_copy_attr_function*, MPI_Win_delete_attr_function* win_delete_attr_fn,
                      int* win_keyval, void* extra_state) {
  const Call call("MPI_Win_create_keyval");
  if (const int error = call.check_output(nullptr, win_keyval, "win_keyval")) return error;
  *win_keyval = Windows::of(call.process()).keyvals.add({win_delete_attr_fn, extra_state});
  return MPI_SUCCESS;
}

int win_free_keyval(int* win_keyval) {
  const Call call("MPI_Win_free_keyval");
  if (const int error = call.check_output(nullptr, win_keyval, "win_keyval")) return error;
  if (!Windows::of(call.process()).keyvals.free(*win_keyval)) {
    return call.fail(nullptr, MPI_ERR_KEYVAL,
                     fmt::format("keyval is {}, which no call made, or was freed", *win_keyval));
  }
  *win_keyval = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}

int win_set_attr(MPI_Win win, int win_keyval, void* attribute_val) {
  const Call call("MPI_Win_set_attr");
  return on_window(call, win, [&](Window& window) -> int {
    WindowKeyval* const keyval = Windows::of(call.process()).keyvals.find(win_keyval);
    if (keyval == nullptr || keyval->freed) return no_key(call, window, win_keyval);
    if (const int error = erase_if_there(call, window, win_keyval)) return error;
    ++keyval->uses;
    window.attributes.push_back({win_keyval, attribute_val});
    return MPI_SUCCESS;
  });
}

int win_delete_attr(MPI_Win win, int win_keyval) {
  const Call call("MPI_Win_delete_attr");
  return on_window(call, win, [&](Window& window) -> int {
    if (Windows::of(call.process()).keyvals.find(win_keyval) == nullptr) {
      return no_key(call, window, win_keyval);
    }
    return erase_if_there(call, window, win_keyval);
  });
}

int win_get_attr(MPI_Win win, int win_keyval, void* attribute_val, int* flag) {
  const Call call("MPI_Win_get_attr");
  return on_window(call, win, [&](Window& window) -> int {
    if (const int error = check_given(call, window, attribute_val, "attribute_val")) return error;
    if (const int error = check_given(call, window, flag, "flag")) return error;
    void* value = nullptr;
    switch (win_keyval) {
      case MPI_WIN_BASE:
        value = window.base;
        break;
      case MPI_WIN_SIZE:
        value = &window.size;
        break;
      case MPI_WIN_DISP_UNIT:
        value = &window.unit;
        break;
      case MPI_WIN_CREATE_FLAVOR:
        value = &window.flavor;
        break;
      case MPI_WIN_MODEL:
        value = &window.model;
        break;
      default: {
        if (Windows::of(call.process()).keyvals.find(win_keyval) == nullptr) {
          return no_key(call, window, win_keyval);
        }
        const Attribute* const own = find_attribute(window, win_keyval);
        *flag = own != nullptr;
        if (own != nullptr) *static_cast<void**>(attribute_val) = own->value;
        return MPI_SUCCESS;
      }
    }
    *flag = 1;
    *static_cast<void**>(attribute_val) = value;
    return MPI_SUCCESS;
  });
}

}  // namespace api
}  // namespace fairlead::mpi
