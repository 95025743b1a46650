/* CRL 1.0 on Fairlead: regions of memory that the ranks of a job share, kept coherent by software.
 * A region is made on one rank, its home, and named everywhere by its id. To use it a rank maps it,
 * and encloses each access in an operation: rgn_start_read ... rgn_end_read, or rgn_start_write ...
 * rgn_end_write. Many ranks may read a region at one time, or one may write it; operations on a
 * region are sequentially consistent. Johnson, Kaashoek and Wallach, SOSP 1995; LCI paper, section
 * 6.2. C, and C++ guards below.
 *
 * Thread: every call comes from the rank's one thread. A call that needs another rank's answer
 * waits for it and serves other ranks' requests meanwhile; while the rank computes, requests are
 * served by interrupt where the network has them, else by the calls of this header: every 64th
 * operation looks at the network. Errors: what a program does wrong (an operation that is not in
 * progress, an upgrade from read to write, a region that was destroyed or never made) ends the job
 * with the rank, the region, the call and the place it was called from. A lost rank ends the job.
 */
#ifndef FAIRLEAD_SYSTEMS_CRL_CRL_H
#define FAIRLEAD_SYSTEMS_CRL_CRL_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Name of a region, the same on every rank, never used again; 0 names none. */
typedef uint32_t crl_rid_t; /* NOLINT(readability-identifier-naming) */

/* A region has at most so many bytes. */
#define CRL_REGION_BYTES_MAX ((size_t)1 << 30) /* NOLINT(readability-identifier-naming) */

/* How one rank runs; each rank may choose for itself. */
typedef struct {
  uint32_t unmapped_regions_max; /* the cache of unmapped regions holds at most so many of them */
  size_t unmapped_bytes_max;     /* ... and so many bytes; the least recently used one leaves */
  int check;                     /* not 0: finds accesses outside operations, see README.md */
  int poll_only;                 /* not 0: no interrupts while the rank computes */
} crl_options_t;                 /* NOLINT(readability-identifier-naming) */

/* 16,384 regions, 64 MiB, no check, interrupts. FAIRLEAD_CRL_CHECK=1 in the environment sets check.
 */
crl_options_t crl_default_options(void);

/* Joins the job and starts CRL: first call of every rank. `options` may be null: the defaults. */
void crl_init(const crl_options_t* options);
/* Last call of every rank, with no operation in progress: returns when every rank has called it. */
void crl_finalize(void);
/* This rank's number, from 0; how many there are. */
unsigned crl_self_addr(void);
unsigned crl_num_nodes(void);
/* Seconds since the job started: virtual on a modelled machine. */
double crl_time(void);

/* Makes a region of `bytes`, at most CRL_REGION_BYTES_MAX, zeroed, with its home here. */
crl_rid_t rgn_create(size_t bytes);
/* At the home, where it is not mapped: waits for operations of other ranks, then the region is
 * gone. */
void rgn_destroy(crl_rid_t rid);
/* The region's memory on this rank, aligned to 64 bytes: at the same address until the matching
 * rgn_unmap, elsewhere after the next map. Its bytes may be used inside an operation only. Maps of
 * a region nest. Waits for the home the first time. */
void* rgn_map(crl_rid_t rid);
/* Not inside an operation. The region stays in the cache of unmapped regions for a while. */
void rgn_unmap(void* mapped);
/* Operations; each waits until the memory is this rank's to read or to write. Reads of one region
 * nest; nothing may begin inside a write of the same region, and no write inside a read of it. */
void rgn_start_read(const void* mapped);
void rgn_end_read(const void* mapped);
void rgn_start_write(void* mapped);
void rgn_end_write(void* mapped);
/* Gives the region's content back to its home, for the next reader's sake. Not inside an operation.
 */
void rgn_flush(void* mapped);
crl_rid_t rgn_rid(const void* mapped);
size_t rgn_size(const void* mapped);

/* Every rank calls these, in the same order. */
void rgn_barrier(void);
/* One rank sends, all others receive, `bytes` of `buffer`; the sender need not wait for them. */
void rgn_bcast_send(size_t bytes, const void* buffer);
void rgn_bcast_recv(size_t bytes, void* buffer);
/* Every rank gets the sum (added in an order that depends on the number of ranks alone), the least,
 * the greatest. */
double rgn_reduce_dadd(double mine);
double rgn_reduce_dmin(double mine);
double rgn_reduce_dmax(double mine);

/* What this rank did since crl_init. */
typedef struct {
  uint64_t operations;
  uint64_t read_misses;
  uint64_t write_misses;   /* those for an upgrade, which carry no data, counted too */
  uint64_t map_misses;     /* maps that asked the home */
  uint64_t evictions;      /* of the cache of unmapped regions */
  uint64_t invalidations;  /* of this rank's copies, by a home */
  uint64_t stale_messages; /* dropped by their version */
} crl_counts_t;            /* NOLINT(readability-identifier-naming) */
crl_counts_t crl_counts(void);

#ifdef __cplusplus
}  // extern "C"

namespace fairlead::crl {

// A read of a mapped region for as long as the guard lives.
template <class T>
class read_guard {  // NOLINT(readability-identifier-naming): beside std::lock_guard
 public:
  explicit read_guard(const T* mapped) : mapped_(mapped) { rgn_start_read(mapped_); }
  ~read_guard() { rgn_end_read(mapped_); }
  read_guard(const read_guard&) = delete;
  read_guard& operator=(const read_guard&) = delete;
  const T& operator*() const { return *mapped_; }
  const T* operator->() const { return mapped_; }
  const T& operator[](size_t i) const { return mapped_[i]; }

 private:
  const T* mapped_;
};

// A write, likewise.
template <class T>
class write_guard {  // NOLINT(readability-identifier-naming)
 public:
  explicit write_guard(T* mapped) : mapped_(mapped) { rgn_start_write(mapped_); }
  ~write_guard() { rgn_end_write(mapped_); }
  write_guard(const write_guard&) = delete;
  write_guard& operator=(const write_guard&) = delete;
  T& operator*() const { return *mapped_; }
  T* operator->() const { return mapped_; }
  T& operator[](size_t i) const { return mapped_[i]; }

 private:
  T* mapped_;
};

}  // namespace fairlead::crl
#endif
#endif
