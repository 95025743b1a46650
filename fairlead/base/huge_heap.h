// Heap in huge pages, for a program that is about to fill much of it with small objects.
#pragma once
#include <cstddef>

namespace fairlead {

// The next `bytes` of the calling thread's heap, objects of up to 32 MiB among them, come in huge
// pages where C library and kernel have such (madvise): a first touch of 2 MiB costs little more
// than one of 4 KiB, and look-ups of addresses miss less. Where not, nothing changes. Memory is
// taken when it is touched, as ever, but from now on the heap gives none back to the system before
// the process ends.
void expect_heap(std::size_t bytes);

}  // namespace fairlead
