// Info objects. All calls but MPI_Get_hw_resource_info are there before MPI_Init and after
// MPI_Finalize, too.
#include <cstring>

#include "fairlead/run/job/binding.h"
#include "fairlead/systems/mpi/anytime_call.h"
#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/text.h"

namespace fairlead::mpi::api {
namespace {

MPI_Info handle_of(Info* info) { return reinterpret_cast<MPI_Info>(info); }

// MPI_INFO_ENV: what is known of the job's start, which is nothing before MPI_Init.
Info environment(Process* known) {
  Info made;
  if (known == nullptr) return made;
  Process& process = *known;
  made.set("maxprocs", std::to_string(process.world().size));
  made.set("host", process.context().processor_name());
  const char* const level = process.thread_level == MPI_THREAD_SINGLE     ? "MPI_THREAD_SINGLE"
                            : process.thread_level == MPI_THREAD_FUNNELED ? "MPI_THREAD_FUNNELED"
                            : process.thread_level == MPI_THREAD_SERIALIZED
                                ? "MPI_THREAD_SERIALIZED"
                                : "MPI_THREAD_MULTIPLE";
  made.set("thread_level", level);
  return made;
}

// Calls `read(const Info&)`, which returns as the call does.
template <class Read>
int reading(const AnytimeCall& call, MPI_Info handle, Read&& read) {
  if (handle == MPI_INFO_ENV) return read(environment(call.process()));
  const Info* const info = Objects<Info>::find(handle);
  if (info != nullptr) return read(*info);
  return call.fail(MPI_ERR_INFO, handle == MPI_INFO_NULL ? "info is MPI_INFO_NULL"
                                                         : "info is no info object, or was freed");
}

// As reading(), of an info that the program made.
template <class Write>
int writing(const AnytimeCall& call, MPI_Info handle, Write&& write) {
  Info* const info = Objects<Info>::find(handle);
  if (info != nullptr) return write(*info);
  return call.fail(MPI_ERR_INFO, handle == MPI_INFO_NULL
                                     ? "info is MPI_INFO_NULL"
                                     : "info was not made by the program, or was freed");
}

int check_key(const AnytimeCall& call, const char* key) {
  const std::size_t length = key == nullptr ? 0 : std::strlen(key);
  if (length != 0 && length < MPI_MAX_INFO_KEY) return MPI_SUCCESS;
  return call.fail(MPI_ERR_INFO_KEY, key == nullptr
                                         ? std::string("key is a null pointer")
                                         : fmt::format("key has {} characters; 1 to {} are allowed",
                                                       length, MPI_MAX_INFO_KEY - 1));
}

int no_such_key(const AnytimeCall& call, const char* key) {
  return call.fail(MPI_ERR_INFO_NOKEY, fmt::format("there is no key \"{}\"", key));
}

}  // namespace

int info_create(MPI_Info* info) {
  const AnytimeCall call("MPI_Info_create");
  if (const int error = call.check_output(info, "info")) return error;
  *info = handle_of(call.make(&Process::infos));
  return MPI_SUCCESS;
}

int info_create_env(int, char**, MPI_Info* info) {
  const AnytimeCall call("MPI_Info_create_env");
  if (const int error = call.check_output(info, "info")) return error;
  Info* const made = call.make(&Process::infos);
  made->entries = environment(call.process()).entries;
  *info = handle_of(made);
  return MPI_SUCCESS;
}

int get_hw_resource_info(MPI_Info* hw_info) {
  const Call call("MPI_Get_hw_resource_info");
  if (const int error = call.check_output(nullptr, hw_info, "hw_info")) return error;
  Info* const made = call.process().infos.make();
  // The processors of this machine say nothing of the node that a modelled rank runs on.
  if (!call.engine().free_work()) made->set("hwloc://Machine", "true");
  if (call.engine().free_work()) {
    for (const run::HardwareKind& kind : run::hardware_kinds()) {
      made->set("hwloc://" + kind.name, kind.restricted ? "true" : "false");
    }
  }
  *hw_info = handle_of(made);
  return MPI_SUCCESS;
}

int info_dup(MPI_Info info, MPI_Info* newinfo) {
  const AnytimeCall call("MPI_Info_dup");
  return reading(call, info, [&](const Info& from) -> int {
    if (const int error = call.check_output(newinfo, "newinfo")) return error;
    Info* const made = call.make(&Process::infos);
    made->entries = from.entries;
    *newinfo = handle_of(made);
    return MPI_SUCCESS;
  });
}

int info_free(MPI_Info* info) {
  const AnytimeCall call("MPI_Info_free");
  if (const int error = call.check_output(info, "info")) return error;
  return writing(call, *info, [&](Info& old) -> int {
    call.free(&Process::infos, &old);
    *info = MPI_INFO_NULL;
    return MPI_SUCCESS;
  });
}

int info_set(MPI_Info info, const char* key, const char* value) {
  const AnytimeCall call("MPI_Info_set");
  return writing(call, info, [&](Info& to) -> int {
    if (const int error = check_key(call, key)) return error;
    if (value == nullptr || std::strlen(value) >= MPI_MAX_INFO_VAL) {
      return call.fail(MPI_ERR_INFO_VALUE,
                       "value is a null pointer, or longer than MPI_MAX_INFO_VAL allows");
    }
    to.set(key, value);
    return MPI_SUCCESS;
  });
}

int info_delete(MPI_Info info, const char* key) {
  const AnytimeCall call("MPI_Info_delete");
  return writing(call, info, [&](Info& to) -> int {
    if (const int error = check_key(call, key)) return error;
    return to.erase(key) ? MPI_SUCCESS : no_such_key(call, key);
  });
}

int info_get_nkeys(MPI_Info info, int* nkeys) {
  const AnytimeCall call("MPI_Info_get_nkeys");
  return reading(call, info, [&](const Info& from) -> int {
    if (const int error = call.check_output(nkeys, "nkeys")) return error;
    *nkeys = static_cast<int>(from.entries.size());
    return MPI_SUCCESS;
  });
}

int info_get_nthkey(MPI_Info info, int n, char* key) {
  const AnytimeCall call("MPI_Info_get_nthkey");
  return reading(call, info, [&](const Info& from) -> int {
    const auto count = static_cast<int>(from.entries.size());
    if (n < 0 || n >= count) {
      return call.fail(MPI_ERR_ARG, fmt::format("n is {} of {} keys", n, count));
    }
    if (const int error = call.check_output(key, "key")) return error;
    int length = 0;
    copy_text(from.entries[static_cast<std::size_t>(n)].first, MPI_MAX_INFO_KEY, key, &length);
    return MPI_SUCCESS;
  });
}

int info_get(MPI_Info info, const char* key, int valuelen, char* value, int* flag) {
  const AnytimeCall call("MPI_Info_get");
  return reading(call, info, [&](const Info& from) -> int {
    if (const int error = check_key(call, key)) return error;
    if (const int error = call.check_output(flag, "flag")) return error;
    const std::string* const found = from.find(key);
    *flag = found != nullptr;
    if (found == nullptr) return MPI_SUCCESS;
    if (valuelen < 0 || value == nullptr) {
      return call.fail(MPI_ERR_ARG, "valuelen is negative, or value a null pointer");
    }
    int length = 0;
    // `valuelen` does not count the final zero.
    copy_text(*found, static_cast<std::size_t>(valuelen) + 1, value, &length);
    return MPI_SUCCESS;
  });
}

int info_get_string(MPI_Info info, const char* key, int* buflen, char* value, int* flag) {
  const AnytimeCall call("MPI_Info_get_string");
  return reading(call, info, [&](const Info& from) -> int {
    if (const int error = check_key(call, key)) return error;
    if (const int error = call.check_output(flag, "flag")) return error;
    if (const int error = call.check_output(buflen, "buflen")) return error;
    const std::string* const found = from.find(key);
    *flag = found != nullptr;
    if (found == nullptr) return MPI_SUCCESS;
    int length = 0;
    if (*buflen > 0 && value != nullptr) {
      copy_text(*found, static_cast<std::size_t>(*buflen), value, &length);
    }
    *buflen = static_cast<int>(found->size()) + 1;
    return MPI_SUCCESS;
  });
}

int info_get_valuelen(MPI_Info info, const char* key, int* valuelen, int* flag) {
  const AnytimeCall call("MPI_Info_get_valuelen");
  return reading(call, info, [&](const Info& from) -> int {
    if (const int error = check_key(call, key)) return error;
    if (const int error = call.check_output(flag, "flag")) return error;
    if (const int error = call.check_output(valuelen, "valuelen")) return error;
    const std::string* const found = from.find(key);
    *flag = found != nullptr;
    if (found != nullptr) *valuelen = static_cast<int>(found->size());
    return MPI_SUCCESS;
  });
}

}  // namespace fairlead::mpi::api
