// Compiling is the test: run/join/pmix_abi.h says what pmix.h says.
#include "fairlead/run/join/pmix_abi.h"

#include <pmix.h>

#include <string_view>
#include <type_traits>

namespace fairlead::run {
namespace {

static_assert(kPmixSuccess == PMIX_SUCCESS && kPmixRankWildcard == PMIX_RANK_WILDCARD);
static_assert(kPmixGlobal == PMIX_GLOBAL && std::is_same_v<pmix_scope_t, std::uint8_t>);
static_assert(kPmixBool == PMIX_BOOL && kPmixString == PMIX_STRING);
static_assert(kPmixUint32 == PMIX_UINT32 && kPmixBytes == PMIX_BYTE_OBJECT);

static_assert(std::string_view(kPmixJobSize) == PMIX_JOB_SIZE);
static_assert(std::string_view(kPmixLocalSize) == PMIX_LOCAL_SIZE);
static_assert(std::string_view(kPmixNodeId) == PMIX_NODEID);
static_assert(std::string_view(kPmixCollect) == PMIX_COLLECT_DATA);

static_assert(sizeof(PmixProc) == sizeof(pmix_proc_t));
static_assert(offsetof(PmixProc, rank) == offsetof(pmix_proc_t, rank));
static_assert(sizeof(PmixByteObject) == sizeof(pmix_byte_object_t));
static_assert(offsetof(PmixByteObject, size) == offsetof(pmix_byte_object_t, size));
static_assert(sizeof(PmixValue) == sizeof(pmix_value_t));
static_assert(offsetof(PmixValue, data) == offsetof(pmix_value_t, data));
static_assert(std::is_same_v<decltype(pmix_value_t::type), std::uint16_t>);
static_assert(sizeof(PmixInfo) == sizeof(pmix_info_t));
static_assert(offsetof(PmixInfo, flags) == offsetof(pmix_info_t, flags));
static_assert(offsetof(PmixInfo, value) == offsetof(pmix_info_t, value));

// Calls: the same number of arguments of the same sizes.
template <class A, class B>
constexpr bool kSameSizes = false;
template <class R, class... A, class S, class... B>
constexpr bool kSameSizes<R (*)(A...), S(B...)> = sizeof...(A) == sizeof...(B) &&
                                                  sizeof(R) == sizeof(S) &&
                                                  ((sizeof(A) == sizeof(B)) && ...);
static_assert(kSameSizes<decltype(PmixCalls::init), decltype(PMIx_Init)>);
static_assert(kSameSizes<decltype(PmixCalls::finalize), decltype(PMIx_Finalize)>);
static_assert(kSameSizes<decltype(PmixCalls::abort), decltype(PMIx_Abort)>);
static_assert(kSameSizes<decltype(PmixCalls::put), decltype(PMIx_Put)>);
static_assert(kSameSizes<decltype(PmixCalls::commit), decltype(PMIx_Commit)>);
static_assert(kSameSizes<decltype(PmixCalls::fence), decltype(PMIx_Fence)>);
static_assert(kSameSizes<decltype(PmixCalls::get), decltype(PMIx_Get)>);
static_assert(kSameSizes<decltype(PmixCalls::error_string), decltype(PMIx_Error_string)>);

}  // namespace
}  // namespace fairlead::run
