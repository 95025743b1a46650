// Pages of memory that are mapped a second time, and ranges of whole pages.
#pragma once
#include <cstddef>
#include <span>

namespace fairlead {

// Maps the pages of `memory`, which are shared ones, once more: at `at`, in place of whatever is
// there, or anywhere if that is nullptr. Returns where; nullptr with errno: the kernel refused.
void* map_again(void* memory, std::size_t bytes, void* at);

// The whole pages in which `part` lies.
std::span<std::byte> whole_pages(std::span<std::byte> part);

// Moves private memory onto `shared`, fresh shared pages of the same number of bytes: the content
// goes there, and `pages`, which are whole ones, is another mapping of them from then on. Pages
// that nobody has written take no memory there either. False with errno: the kernel refused, and
// `pages` are as before.
bool move_onto(std::byte* shared, std::span<std::byte> pages);

}  // namespace fairlead
