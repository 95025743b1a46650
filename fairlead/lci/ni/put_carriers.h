// What carries the bytes of a rank's puts on an interface, by the transfer method: page transfers
// (I-rcpy), RDMA writes (virtual interfaces), or nothing of its own, as packets do it.
#pragma once
#include <type_traits>

#include "fairlead/lci/ni/page_copies.h"
#include "fairlead/lci/ni/via_puts.h"

namespace fairlead::lci {

template <class Ni, class Transfer>
using PutsOf =
    std::conditional_t<Transfer::kCopiesPages, PageCopies<Ni>,
                       std::conditional_t<Transfer::kHasQueues, ViaPuts<Ni>, NoPageCopies<Ni>>>;

}  // namespace fairlead::lci
