// The named steps of protocol work, shared by those who charge them (proto parts, lci) and those
// who know what they cost (a platform file, cycles per step and site).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fairlead {

// Named steps of host library and NI control program (LCI paper, figure 4). The platform files give
// cycles under these names.
#define FAIRLEAD_STEPS(X)                                                             \
  X(send)            /* host: a send call up to its programmed writes */              \
  X(send_dma)        /* host: more of it where the NI fetches the data by DMA */      \
  X(receive)         /* host: poll that finds a packet, upcall, release */            \
  X(reap_completion) /* host: one send completion taken from the receive queue */     \
  X(poll_empty)      /* host: poll that finds nothing */                              \
  X(fetch_add_call)  /* host: request and wait of a fetch-and-add, without writes */  \
  X(dequeue)         /* descriptor taken from the host send queue */                  \
  X(window)          /* send window checked and moved */                              \
  X(header)          /* header completed, route looked up */                          \
  X(transmit)        /* network send DMA started */                                   \
  X(transmit_done)   /* send buffer freed after its transmission */                   \
  X(detect)          /* main loop finds a received packet */                          \
  X(dispatch)        /* its kind decides the module */                                \
  X(credit)          /* piggybacked credit taken */                                   \
  X(dma_program)     /* host DMA engine programmed */                                 \
  X(dma_queue)       /* DMA request queued */                                         \
  X(dma_complete)    /* DMA completion detected, request retired */                   \
  X(deliver)         /* host receive buffer taken, DMA to host started */             \
  X(release)         /* NI receive buffer released */                                 \
  X(host_ring)       /* free host buffers taken from the receive completions queue */ \
  X(ack)             /* explicit acknowledgment built and sent */                     \
  X(completion)      /* batch of send completions handed to the host */               \
  X(main_loop)       /* one turn of the control program's main loop */                \
  X(retain)          /* packet kept for retransmission: numbered, timestamp taken */  \
  X(sequence)        /* sequence number of a received packet checked */               \
  X(acknowledged)    /* one kept packet freed by an acknowledgment */                 \
  X(timer)           /* an expired timer looked into */                               \
  X(multicast)       /* multicast packet: its place in the tree looked up */          \
  X(forward)         /* send descriptor made for one child */                         \
  X(pass_on)         /* host: a multicast packet handed to the forwarding code */     \
  X(fetch_add)       /* fetch-and-add variable read and incremented, reply built */   \
  X(fetch_add_reply) /* reply matched with its request */                             \
  X(notified)        /* host: poll that finds a notification of a remote copy */      \
  X(pin)             /* host: the system pins a page, or lets it go */                \
  X(htlb_lookup)     /* host: a source page looked up in the host's TLB */            \
  X(htlb_update)     /* host: state of a TLB entry moved on */                        \
  X(ntlb_lookup)     /* a page looked up in the NI's TLB, its address made */         \
  X(ntlb_update)     /* TLB entry replaced */                                         \
  X(doorbell)        /* one doorbell of a virtual interface looked at */              \
  X(descriptor)      /* its descriptor read and checked, addresses taken out of it */ \
  X(status)          /* status of a descriptor, or a completion queue entry, made */

enum class Step : std::uint8_t {
#define FAIRLEAD_STEP(name) name,
  FAIRLEAD_STEPS(FAIRLEAD_STEP)
#undef FAIRLEAD_STEP
      count
};
constexpr std::size_t kSteps = static_cast<std::size_t>(Step::count);

constexpr std::string_view kStepNames[kSteps] = {
#define FAIRLEAD_STEP(name) #name,
    FAIRLEAD_STEPS(FAIRLEAD_STEP)
#undef FAIRLEAD_STEP
};

}  // namespace fairlead
