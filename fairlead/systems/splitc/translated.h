/* What fairlead-splitcc makes of accesses to global places, in C: its output begins by including
 * this file. Not for programs.
 *
 * A global or spread pointer is a C pointer with the processor's number in its upper 16 bits and
 * the address there below them: adding to a global pointer, and taking the address of a member or
 * an element of what it points to, are C's own. Only loads and stores, and steps of spread
 * pointers, are calls. The null pointer is 0. */
#ifndef FAIRLEAD_SYSTEMS_SPLITC_TRANSLATED_H
#define FAIRLEAD_SYSTEMS_SPLITC_TRANSLATED_H

#ifdef __cplusplus
extern "C" {
#endif

void fairlead_splitc_read(void* to, const void* from, unsigned long bytes);
void fairlead_splitc_write(void* to, const void* from, unsigned long bytes);
void fairlead_splitc_get(void* to, const void* from, unsigned long bytes);
void fairlead_splitc_put(void* to, const void* from, unsigned long bytes);
void fairlead_splitc_store(void* to, const void* from, unsigned long bytes);
/* `blocks` of `bytes` further, processors first. */
void* fairlead_splitc_step(const void* from, long blocks, unsigned long bytes);
/* How many blocks `to` lies before `from`. */
long fairlead_splitc_span(const void* from, const void* to, unsigned long bytes);
/* A global pointer to this processor's `address`. */
void* fairlead_splitc_global(const void* address);
void* fairlead_splitc_local(const void* place);

/* Automatic spread arrays: a stack in the heap, which is alike on all processors, as all of them
 * come to the function. */
void* fairlead_splitc_push(unsigned long blocks, unsigned long bytes);
void fairlead_splitc_pop(void* array);
/* Spread arrays with static storage get their memory before splitc_main is called. */
struct FairleadSplitcStatic {
  void (*make)(void);
  struct FairleadSplitcStatic* next;
};
void fairlead_splitc_add_static(struct FairleadSplitcStatic* array);
void* fairlead_splitc_make(unsigned long blocks, unsigned long bytes);

/* What steps of spread pointers need to know of the job. */
struct FairleadSplitcHeaps {
  unsigned procs;
};
extern struct FairleadSplitcHeaps fairlead_splitc_heaps;

__extension__ typedef unsigned __int128 FairleadSplitcWay;
FairleadSplitcWay fairlead_splitc_short_way(void) __attribute__((__const__));

int fairlead_splitc_main(int argc, char** argv, int (*splitc_main)(int, char**));

#ifdef __cplusplus
}
#else

/* The words of the translator's first pass, which its compiler front end reads as types. */
#define __sc_g
#define __sc_s

/* The shortest way of an access, as in C++: access.h. Heaps begin at one address on all processors,
 * programs' memory in them a page further; none of it may be reached so before splitc_main. */
#define __sc_page 4096UL
#define __sc_first (0x560000000000UL + __sc_page)
#define __sc_place_bits 48
#define __sc_address(bits) ((bits) & ((1UL << __sc_place_bits) - 1))
#define __sc_short_bytes 64

/* Whether the place can be loaded and stored by itself, at `*here`; 0: by a call. A pointer that is
 * NULL or not would be compared once more at each access. */
__attribute__((__unused__)) static __inline__ int __sc_at(const void* place, unsigned long bytes,
                                                          char** here) {
  const FairleadSplitcWay way = fairlead_splitc_short_way();
  const unsigned long upper = (unsigned long)(way >> 64);
  const unsigned long bits = (unsigned long)place;
  const unsigned long rank = bits >> __sc_place_bits;
  const unsigned long offset = __sc_address(bits) - __sc_first;
  if (__builtin_expect(bytes > __sc_short_bytes || rank >= upper >> __sc_place_bits, 0)) return 0;
  if (__builtin_expect(
          offset >= __atomic_load_n((const unsigned long*)__sc_address(upper), __ATOMIC_RELAXED),
          0)) {
    return 0;
  }
  __atomic_signal_fence(__ATOMIC_ACQ_REL);
  *here = ((char* const*)(unsigned long)way)[rank] + __sc_page + offset;
  return 1;
}

/* On the shortest way no address of the value is taken, so that it stays in a register. */
#define __sc_read(place)                                                   \
  ({                                                                       \
    __auto_type __sc_p = &(place);                                         \
    __typeof__(*__sc_p) __sc_v;                                            \
    char* __sc_here;                                                       \
    if (__builtin_expect(__sc_at(__sc_p, sizeof __sc_v, &__sc_here), 1)) { \
      __builtin_memcpy((void*)&__sc_v, __sc_here, sizeof __sc_v);          \
    } else {                                                               \
      __typeof__(*__sc_p) __sc_w;                                          \
      fairlead_splitc_read((void*)&__sc_w, __sc_p, sizeof __sc_w);         \
      __builtin_memcpy((void*)&__sc_v, (void*)&__sc_w, sizeof __sc_v);     \
    }                                                                      \
    __sc_v;                                                                \
  })
#define __sc_with_value(call, place, value)                                \
  ({                                                                       \
    __auto_type __sc_p = &(place);                                         \
    __typeof__(*__sc_p) __sc_v = (value);                                  \
    char* __sc_here;                                                       \
    if (__builtin_expect(__sc_at(__sc_p, sizeof __sc_v, &__sc_here), 1)) { \
      __builtin_memcpy(__sc_here, (void*)&__sc_v, sizeof __sc_v);          \
    } else {                                                               \
      __typeof__(*__sc_p) __sc_w;                                          \
      __builtin_memcpy((void*)&__sc_w, (void*)&__sc_v, sizeof __sc_w);     \
      call((void*)__sc_p, (void*)&__sc_w, sizeof __sc_w);                  \
    }                                                                      \
    __sc_v;                                                                \
  })
#define __sc_write(place, value) __sc_with_value(fairlead_splitc_write, place, value)
#define __sc_put(place, value) __sc_with_value(fairlead_splitc_put, place, value)
#define __sc_store(place, value)                                         \
  ({                                                                     \
    __auto_type __sc_p = &(place);                                       \
    __typeof__(*__sc_p) __sc_v = (value);                                \
    fairlead_splitc_store((void*)__sc_p, (void*)&__sc_v, sizeof __sc_v); \
    __sc_v;                                                              \
  })
#define __sc_get(to, place) ((void)fairlead_splitc_get((void*)&(to), &(place), sizeof(place)))
/* place op= value, and what ++ and -- are. */
#define __sc_update(place, op, value)                      \
  ({                                                       \
    __auto_type __sc_p = &(place);                         \
    __typeof__(*__sc_p) __sc_v;                            \
    fairlead_splitc_read(&__sc_v, __sc_p, sizeof __sc_v);  \
    __sc_v op(value);                                      \
    fairlead_splitc_write(__sc_p, &__sc_v, sizeof __sc_v); \
    __sc_v;                                                \
  })
#define __sc_update_after(place, op)                       \
  ({                                                       \
    __auto_type __sc_p = &(place);                         \
    __typeof__(*__sc_p) __sc_v, __sc_old;                  \
    fairlead_splitc_read(&__sc_v, __sc_p, sizeof __sc_v);  \
    __sc_old = __sc_v;                                     \
    __sc_v op 1;                                           \
    fairlead_splitc_write(__sc_p, &__sc_v, sizeof __sc_v); \
    __sc_old;                                              \
  })

/* Bit-fields have no address: of the structure, `bytes` from byte `first` on are moved, in which
 * the field lies. Writing reads these before. */
#define __sc_bits_read(place, field, first, bytes)                                          \
  ({                                                                                        \
    __auto_type __sc_p = &(place);                                                          \
    __typeof__(*__sc_p) __sc_v;                                                             \
    fairlead_splitc_read((char*)&__sc_v + (first), (const char*)__sc_p + (first), (bytes)); \
    __sc_v.field;                                                                           \
  })
#define __sc_bits_write(place, field, first, bytes, value)                                  \
  ({                                                                                        \
    __auto_type __sc_p = &(place);                                                          \
    __auto_type __sc_x = (value);                                                           \
    __typeof__(*__sc_p) __sc_v;                                                             \
    fairlead_splitc_read((char*)&__sc_v + (first), (const char*)__sc_p + (first), (bytes)); \
    __sc_v.field = __sc_x;                                                                  \
    fairlead_splitc_write((char*)__sc_p + (first), (char*)&__sc_v + (first), (bytes));      \
    __sc_v.field;                                                                           \
  })
#define __sc_bits_update(place, field, first, bytes, op, value)                             \
  ({                                                                                        \
    __auto_type __sc_p = &(place);                                                          \
    __auto_type __sc_x = (value);                                                           \
    __typeof__(*__sc_p) __sc_v;                                                             \
    fairlead_splitc_read((char*)&__sc_v + (first), (const char*)__sc_p + (first), (bytes)); \
    __sc_v.field op __sc_x;                                                                 \
    fairlead_splitc_write((char*)__sc_p + (first), (char*)&__sc_v + (first), (bytes));      \
    __sc_v.field;                                                                           \
  })
#define __sc_bits_update_after(place, field, first, bytes, op)                              \
  ({                                                                                        \
    __auto_type __sc_p = &(place);                                                          \
    __typeof__(*__sc_p) __sc_v;                                                             \
    fairlead_splitc_read((char*)&__sc_v + (first), (const char*)__sc_p + (first), (bytes)); \
    __auto_type __sc_old = __sc_v.field + 0;                                                \
    __sc_v.field op 1;                                                                      \
    fairlead_splitc_write((char*)__sc_p + (first), (char*)&__sc_v + (first), (bytes));      \
    __sc_old;                                                                               \
  })

/* Spread pointers. A step of less than all processors needs no division. */
__attribute__((__unused__)) static __inline__ void* __sc_step_bytes(const void* from, long blocks,
                                                                    unsigned long bytes) {
  const unsigned long bits = (unsigned long)from;
  const unsigned long rank = (bits >> 48) + (unsigned long)blocks;
  if (rank < fairlead_splitc_heaps.procs) {
    return (void*)((bits & 0xffffffffffffUL) | rank << 48);
  }
  return fairlead_splitc_step(from, blocks, bytes);
}
#define __sc_step(pointer, blocks)                                         \
  ({                                                                       \
    __auto_type __sc_p = (pointer);                                        \
    (__typeof__(__sc_p))__sc_step_bytes(__sc_p, (blocks), sizeof *__sc_p); \
  })
#define __sc_span(a, b)                                \
  ({                                                   \
    __auto_type __sc_p = (a);                          \
    fairlead_splitc_span(__sc_p, (b), sizeof *__sc_p); \
  })
#define __sc_walk(pointer, blocks)          \
  ({                                        \
    __auto_type __sc_q = &(pointer);        \
    *__sc_q = __sc_step(*__sc_q, (blocks)); \
  })
#define __sc_walk_after(pointer, blocks)    \
  ({                                        \
    __auto_type __sc_q = &(pointer);        \
    __auto_type __sc_old = *__sc_q;         \
    *__sc_q = __sc_step(*__sc_q, (blocks)); \
    __sc_old;                               \
  })
/* Those that lie in global places themselves. */
#define __sc_walk_there(place, blocks)                                   \
  ({                                                                     \
    __auto_type __sc_q = &(place);                                       \
    __typeof__(*__sc_q) __sc_w;                                          \
    fairlead_splitc_read((void*)&__sc_w, __sc_q, sizeof __sc_w);         \
    __sc_w = __sc_step(__sc_w, (blocks));                                \
    fairlead_splitc_write((void*)__sc_q, (void*)&__sc_w, sizeof __sc_w); \
    __sc_w;                                                              \
  })
#define __sc_walk_there_after(place, blocks)                             \
  ({                                                                     \
    __auto_type __sc_q = &(place);                                       \
    __typeof__(*__sc_q) __sc_w, __sc_old;                                \
    fairlead_splitc_read((void*)&__sc_w, __sc_q, sizeof __sc_w);         \
    __sc_old = __sc_w;                                                   \
    __sc_w = __sc_step(__sc_w, (blocks));                                \
    fairlead_splitc_write((void*)__sc_q, (void*)&__sc_w, sizeof __sc_w); \
    __sc_old;                                                            \
  })
/* The block of a spread array with 2, 3 or 4 indices left of `::`. */
#define __sc_many(a) ((long)(sizeof(a) / sizeof((a)[0])))
#define __sc_step_2(array, i, j)                                                       \
  ({                                                                                   \
    __auto_type __sc_p = (array);                                                      \
    (__typeof__(&__sc_p[0][0]))__sc_step_bytes(__sc_p, (i)*__sc_many(__sc_p[0]) + (j), \
                                               sizeof __sc_p[0][0]);                   \
  })
#define __sc_step_3(array, i, j, k)                                               \
  ({                                                                              \
    __auto_type __sc_p = (array);                                                 \
    (__typeof__(&__sc_p[0][0][0]))__sc_step_bytes(                                \
        __sc_p, ((i)*__sc_many(__sc_p[0]) + (j)) * __sc_many(__sc_p[0][0]) + (k), \
        sizeof __sc_p[0][0][0]);                                                  \
  })

/* Spread arrays: the first index left of `::` is `n`. */
#define __sc_pushed(blocks, block)                             \
  __attribute__((__cleanup__(fairlead_splitc_pop_variable))) = \
      fairlead_splitc_push((unsigned long)(blocks), sizeof(block))
#define __sc_auto_1(a, n) __sc_pushed((n), (a)[0])
#define __sc_auto_2(a, n) __sc_pushed((n)*__sc_many((a)[0]), (a)[0][0])
#define __sc_auto_3(a, n) __sc_pushed((n)*__sc_many((a)[0]) * __sc_many((a)[0][0]), (a)[0][0][0])
#define __sc_static(a, blocks, block)                                 \
  static void __sc_make_##a(void) {                                   \
    a = fairlead_splitc_make((unsigned long)(blocks), sizeof(block)); \
  }                                                                   \
  __attribute__((__constructor__)) static void __sc_add_##a(void) {   \
    static struct FairleadSplitcStatic __sc_one = {__sc_make_##a, 0}; \
    fairlead_splitc_add_static(&__sc_one);                            \
  }
#define __sc_static_1(a, n) __sc_static(a, (n), (a)[0])
#define __sc_static_2(a, n) __sc_static(a, (n)*__sc_many((a)[0]), (a)[0][0])
#define __sc_static_3(a, n) \
  __sc_static(a, (n)*__sc_many((a)[0]) * __sc_many((a)[0][0]), (a)[0][0][0])

__attribute__((__unused__)) static void fairlead_splitc_pop_variable(void* array) {
  fairlead_splitc_pop(*(void**)array);
}

/* What is converted between global and local pointers in assignments has been looked at. */
#pragma GCC diagnostic ignored "-Wincompatible-pointer-types"

#endif
#endif
