// What is behind a datatype's handle. A body says what a type is and never changes: a handle made
// by a program has one, and so have the types made from it and the messages under way, which
// outlive the handle. Predefined types have bodies, too, made for all ranks when one asks.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fairlead/systems/mpi/attributes.h"
#include "fairlead/systems/mpi/datatype.h"
#include "fairlead/systems/mpi/datatypes/layout.h"
#include "fairlead/systems/mpi/objects.h"

namespace fairlead::mpi {

struct TypeBody;
using TypeRef = std::shared_ptr<const TypeBody>;

// From where to where data lies, in bytes from the element's address.
struct Span {
  std::int64_t lb = 0;
  std::int64_t ub = 0;
  std::int64_t extent() const { return ub - lb; }
};

// How a type was made (MPI_Type_get_contents). Arguments that do not fit an int lie in `counts`, as
// the `_c` form tells them.
struct Contents {
  int combiner = MPI_COMBINER_NAMED;
  bool large = false;
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Count> counts;
  std::vector<TypeRef> types;
};

struct TypeBody {
  TypeBody() = default;
  TypeBody(const TypeBody&) = delete;
  TypeBody& operator=(const TypeBody&) = delete;
  ~TypeBody();

  std::uint64_t size() const { return layout->size(); }
  std::int64_t extent() const { return span.extent(); }
  // Basic elements of one element.
  std::uint64_t elements() const { return map.node == nullptr ? 0 : map.node->elements; }

  MPI_Datatype named = MPI_DATATYPE_NULL;  // the predefined type that this is
  const Layout* layout = nullptr;          // never nullptr once made
  Placed map;                              // the basic elements in their order
  Span span;
  Span true_span;            // of the bytes alone
  bool explicit_lb = false;  // a lower bound was told (MPI_Type_create_resized), so that no other
  bool explicit_ub = false;  // counts where the type is part of a struct
  std::uint32_t alignment = 1;  // of its basic elements, the largest
  Contents contents;
};

struct DerivedType : Object {
  TypeRef body;
  bool committed = false;
  bool fixed = false;  // not the program's to free
  std::string name;
  std::vector<Attribute> attributes;
};

// The handle that a program made, or nullptr.
inline DerivedType* find_derived(MPI_Datatype handle) { return Objects<DerivedType>::find(handle); }

// The body of any datatype, committed or not; nullptr: the handle is none.
const TypeBody* find_body(MPI_Datatype handle);
// The body as a reference that keeps it.
TypeRef take_body(MPI_Datatype handle);
// The predefined type may be used in messages, or the type is committed.
inline bool is_committed(MPI_Datatype handle) {
  const DerivedType* const made = find_derived(handle);
  return made == nullptr || made->committed;
}

// Elements of a buffer as the engine moves them. Without `layout` the bytes lie in a row.
struct Data {
  const void* at = nullptr;
  std::uint64_t size = 0;  // packed bytes
  const Layout* layout = nullptr;
};
// `count` elements of `body` at `buffer`.
Data data_of(const TypeBody& body, const void* buffer, std::uint64_t count);
// The bytes of `data` in a row, and from a row of as many to their places.
void pack(const Data& data, void* to);
void unpack(const void* from, const Data& data);
std::vector<std::byte> packed(const Data& data);

}  // namespace fairlead::mpi
