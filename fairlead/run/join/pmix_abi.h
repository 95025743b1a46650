// The part of the PMIx 4 binary interface that Fairlead calls in libpmix.so.2, which is loaded at
// run time where a PMIx launcher started the process: neither library nor headers are needed to
// build. tests/launchers/pmix_abi.cc holds it against pmix.h where that is installed.
#pragma once
#include <cstddef>
#include <cstdint>

namespace fairlead::run {

constexpr int kPmixSuccess = 0;
constexpr std::uint32_t kPmixRankWildcard = UINT32_MAX - 1;
constexpr std::uint8_t kPmixGlobal = 3;  // scope: every rank of the job
constexpr std::size_t kPmixNamespaceBytes = 256;
constexpr std::size_t kPmixKeyBytes = 512;

// Types of values.
constexpr std::uint16_t kPmixBool = 1;
constexpr std::uint16_t kPmixString = 3;
constexpr std::uint16_t kPmixUint32 = 14;
constexpr std::uint16_t kPmixBytes = 27;

// Keys.
constexpr char kPmixJobSize[] = "pmix.job.size";      // uint32
constexpr char kPmixLocalSize[] = "pmix.local.size";  // uint32, ranks on this node
constexpr char kPmixNodeId[] = "pmix.nodeid";         // uint32, of a rank
constexpr char kPmixCollect[] = "pmix.collect";       // bool, of a fence

struct PmixProc {
  char nspace[kPmixNamespaceBytes];
  std::uint32_t rank;
};

struct PmixByteObject {
  char* bytes;
  std::size_t size;
};

struct PmixValue {
  std::uint16_t type;
  union {
    bool flag;
    std::uint32_t uint32;
    char* string;
    PmixByteObject bytes;
    void* widest[3];  // members that are not used here
  } data;
};

struct PmixInfo {
  char key[kPmixKeyBytes];
  std::uint32_t flags;
  PmixValue value;
};

struct PmixCalls {
  int (*init)(PmixProc*, PmixInfo*, std::size_t);
  int (*finalize)(const PmixInfo*, std::size_t);
  int (*abort)(int, const char*, PmixProc*, std::size_t);
  int (*put)(std::uint8_t scope, const char* key, PmixValue*);
  int (*commit)();
  int (*fence)(const PmixProc*, std::size_t, const PmixInfo*, std::size_t);
  int (*get)(const PmixProc*, const char* key, const PmixInfo*, std::size_t, PmixValue**);
  const char* (*error_string)(int);
};

}  // namespace fairlead::run
