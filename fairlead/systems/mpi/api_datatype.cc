// Making datatypes from datatypes: arguments checked, then datatypes/making.h.
#include <climits>
#include <utility>
#include <vector>

#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/datatypes/arguments_of_types.h"
#include "fairlead/systems/mpi/datatypes/making.h"
#include "fairlead/systems/mpi/datatypes/type_attributes.h"

namespace fairlead::mpi::api {
namespace {

// The new type's handle, or the error that it cannot be.
int give(const Call& call, TypeRef made, MPI_Datatype* newtype) {
  if (made == nullptr) {
    return call.fail(nullptr, MPI_ERR_ARG,
                     "the type would have more bytes or reach further than 63 bits can tell, or "
                     "nest too deep");
  }
  *newtype = call.process().types().add(std::move(made));
  return MPI_SUCCESS;
}

int check_count(const Call& call, const char* which, MPI_Count count) {
  if (count >= 0) return MPI_SUCCESS;
  return call.fail(nullptr, MPI_ERR_COUNT,
                   fmt::format("{} is {}, which is negative", which, count));
}

// What most constructors have.
int check_basis(const Call& call, MPI_Count count, MPI_Datatype oldtype,
                const MPI_Datatype* newtype) {
  if (const int error = check_count(call, "count", count)) return error;
  if (const int error = check_type(call, oldtype, "oldtype")) return error;
  return call.check_output(nullptr, newtype, "newtype");
}

int check_lengths(const Call& call, MPI_Count count, const Counts& lengths) {
  if (count > 0 && lengths.is_null()) {
    return call.fail(nullptr, MPI_ERR_ARG, "array_of_blocklengths is a null pointer");
  }
  for (MPI_Count i = 0; i < count; ++i) {
    if (const int error = check_count(call, "a block length", lengths[static_cast<std::size_t>(i)]))
      return error;
  }
  return MPI_SUCCESS;
}

// Displacements as the constructors take them: in extents of the old type, or in bytes.
class Places {
 public:
  Places(Counts elements, std::int64_t extent) : counts_(elements), unit_(extent) {}
  explicit Places(const MPI_Count* bytes) : counts_(bytes), unit_(1) {}

  bool is_null() const { return counts_.is_null(); }
  MPI_Count told(MPI_Count i) const { return counts_[static_cast<std::size_t>(i)]; }
  // False: it does not fit.
  bool bytes(MPI_Count i, std::int64_t* at) const {
    return !__builtin_mul_overflow(static_cast<std::int64_t>(told(i)), unit_, at);
  }

 private:
  Counts counts_;
  std::int64_t unit_;
};

// The arguments of a constructor with a list of blocks.
struct List {
  int combiner;
  MPI_Count count;
  const Counts* lengths;  // nullptr: all have `length`
  MPI_Count length;
  Places places;
  bool in_bytes;  // places are addresses to MPI_Type_get_contents
  MPI_Count length_of(MPI_Count i) const {
    return lengths != nullptr ? (*lengths)[static_cast<std::size_t>(i)] : length;
  }
};

Contents contents_of(const List& list, std::vector<TypeRef> types) {
  ContentsMaker made(list.combiner);
  made.count(list.count);
  if (list.lengths == nullptr) made.count(list.length);
  for (MPI_Count i = 0; list.lengths != nullptr && i < list.count; ++i) {
    made.count(list.length_of(i));
  }
  for (MPI_Count i = 0; i < list.count; ++i) {
    if (list.in_bytes) {
      made.address(list.places.told(i));
    } else {
      made.count(list.places.told(i));
    }
  }
  return made.finish(std::move(types));
}

// Makes a type of blocks that have `type`, or (a struct) types[i].
int make_list(const Call& call, const List& list, const TypeRef& type, const MPI_Datatype* types,
              MPI_Datatype* newtype) {
  if (list.count > 0 && list.places.is_null()) {
    return call.fail(nullptr, MPI_ERR_ARG, "array_of_displacements is a null pointer");
  }
  std::vector<Block> blocks(static_cast<std::size_t>(list.count));
  std::vector<TypeRef> kept;
  if (types == nullptr) kept.push_back(type);
  for (MPI_Count i = 0; i < list.count; ++i) {
    if (types != nullptr) kept.push_back(take_body(types[i]));
    Block& block = blocks[static_cast<std::size_t>(i)];
    block = {0, list.length_of(i), kept.back().get()};
    if (!list.places.bytes(i, &block.at)) return give(call, nullptr, newtype);
  }
  Contents contents = contents_of(list, std::move(kept));
  return give(call, make_blocks(blocks, types != nullptr, std::move(contents)), newtype);
}

}  // namespace

int type_contiguous(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  const Call call("MPI_Type_contiguous");
  if (const int error = check_basis(call, count, oldtype, newtype)) return error;
  const TypeRef old = take_body(oldtype);
  ContentsMaker contents(MPI_COMBINER_CONTIGUOUS);
  contents.count(count);
  const Block block{0, count, old.get()};
  return give(call, make_blocks({&block, 1}, false, contents.finish({old})), newtype);
}

int type_vector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
                MPI_Datatype* newtype) {
  const Call call("MPI_Type_vector");
  if (const int error = check_basis(call, count, oldtype, newtype)) return error;
  if (const int error = check_count(call, "blocklength", blocklength)) return error;
  const TypeRef old = take_body(oldtype);
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::int64_t>(stride), old->extent(), &bytes)) {
    return give(call, nullptr, newtype);
  }
  ContentsMaker contents(MPI_COMBINER_VECTOR);
  contents.count(count).count(blocklength).count(stride);
  return give(call, make_vector(*old, count, blocklength, bytes, contents.finish({old})), newtype);
}

int type_create_hvector(MPI_Count count, MPI_Count blocklength, MPI_Count stride,
                        MPI_Datatype oldtype, MPI_Datatype* newtype) {
  const Call call("MPI_Type_create_hvector");
  if (const int error = check_basis(call, count, oldtype, newtype)) return error;
  if (const int error = check_count(call, "blocklength", blocklength)) return error;
  const TypeRef old = take_body(oldtype);
  ContentsMaker contents(MPI_COMBINER_HVECTOR);
  contents.count(count).count(blocklength).address(stride);
  return give(call, make_vector(*old, count, blocklength, stride, contents.finish({old})), newtype);
}

int type_indexed(MPI_Count count, Counts array_of_blocklengths, Counts array_of_displacements,
                 MPI_Datatype oldtype, MPI_Datatype* newtype) {
  const Call call("MPI_Type_indexed");
  if (const int error = check_basis(call, count, oldtype, newtype)) return error;
  if (const int error = check_lengths(call, count, array_of_blocklengths)) return error;
  const TypeRef old = take_body(oldtype);
  return make_list(call,
                   {MPI_COMBINER_INDEXED, count, &array_of_blocklengths, 0,
                    Places(array_of_displacements, old->extent()), false},
                   old, nullptr, newtype);
}

int type_create_hindexed(MPI_Count count, Counts array_of_blocklengths,
                         const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                         MPI_Datatype* newtype) {
  const Call call("MPI_Type_create_hindexed");
  if (const int error = check_basis(call, count, oldtype, newtype)) return error;
  if (const int error = check_lengths(call, count, array_of_blocklengths)) return error;
  return make_list(call,
                   {MPI_COMBINER_HINDEXED, count, &array_of_blocklengths, 0,
                    Places(array_of_displacements), true},
                   take_body(oldtype), nullptr, newtype);
}

int type_create_indexed_block(MPI_Count count, MPI_Count blocklength, Counts array_of_displacements,
                              MPI_Datatype oldtype, MPI_Datatype* newtype) {
  const Call call("MPI_Type_create_indexed_block");
  if (const int error = check_basis(call, count, oldtype, newtype)) return error;
  if (const int error = check_count(call, "blocklength", blocklength)) return error;
  const TypeRef old = take_body(oldtype);
  return make_list(call,
                   {MPI_COMBINER_INDEXED_BLOCK, count, nullptr, blocklength,
                    Places(array_of_displacements, old->extent()), false},
                   old, nullptr, newtype);
}

int type_create_hindexed_block(MPI_Count count, MPI_Count blocklength,
                               const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                               MPI_Datatype* newtype) {
  const Call call("MPI_Type_create_hindexed_block");
  if (const int error = check_basis(call, count, oldtype, newtype)) return error;
  if (const int error = check_count(call, "blocklength", blocklength)) return error;
  return make_list(call,
                   {MPI_COMBINER_HINDEXED_BLOCK, count, nullptr, blocklength,
                    Places(array_of_displacements), true},
                   take_body(oldtype), nullptr, newtype);
}

int type_create_struct(MPI_Count count, Counts array_of_blocklengths,
                       const MPI_Count array_of_displacements[],
                       const MPI_Datatype array_of_types[], MPI_Datatype* newtype) {
  const Call call("MPI_Type_create_struct");
  if (const int error = check_count(call, "count", count)) return error;
  if (const int error = check_lengths(call, count, array_of_blocklengths)) return error;
  if (const int error = call.check_output(nullptr, newtype, "newtype")) return error;
  if (count > 0 && array_of_types == nullptr) {
    return call.fail(nullptr, MPI_ERR_ARG, "array_of_types is a null pointer");
  }
  for (MPI_Count i = 0; i < count; ++i) {
    if (const int error = check_type(call, array_of_types[i], "a type of array_of_types")) {
      return error;
    }
  }
  static const MPI_Datatype kNone = MPI_DATATYPE_NULL;
  return make_list(
      call,
      {MPI_COMBINER_STRUCT, count, &array_of_blocklengths, 0, Places(array_of_displacements), true},
      nullptr, count > 0 ? array_of_types : &kNone, newtype);
}

int type_create_resized(MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent,
                        MPI_Datatype* newtype) {
  const Call call("MPI_Type_create_resized");
  if (const int error = check_basis(call, 0, oldtype, newtype)) return error;
  const TypeRef old = take_body(oldtype);
  ContentsMaker contents(MPI_COMBINER_RESIZED);
  contents.address(lb).address(extent);
  return give(call, make_resized(*old, lb, extent, contents.finish({old})), newtype);
}

int type_dup(MPI_Datatype oldtype, MPI_Datatype* newtype) {
  const Call call("MPI_Type_dup");
  if (const int error = check_basis(call, 0, oldtype, newtype)) return error;
  const TypeRef old = take_body(oldtype);
  TypeRef made = make_copy(*old, ContentsMaker(MPI_COMBINER_DUP).finish({old}));
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  if (const int error = give(call, std::move(made), &copy)) return error;
  find_derived(copy)->committed = is_committed(oldtype);
  if (const int error = copy_type_attributes(call, oldtype, copy)) {
    call.process().types().types.free(find_derived(copy));
    return call.fail(nullptr, error, "the copy function of an attribute failed");
  }
  *newtype = copy;
  return MPI_SUCCESS;
}

int type_free(MPI_Datatype* datatype) {
  const Call call("MPI_Type_free");
  if (const int error = call.check_output(nullptr, datatype, "datatype")) return error;
  if (const int error = check_type(call, *datatype, "datatype")) return error;
  DerivedType* const made = find_derived(*datatype);
  if (made == nullptr || made->fixed) {
    return call.fail(nullptr, MPI_ERR_TYPE, "datatype is predefined and cannot be freed");
  }
  if (const int error = delete_type_attributes(call, *datatype)) {
    return call.fail(nullptr, error, "the delete function of an attribute failed");
  }
  made->body.reset();
  call.process().types().types.free(made);
  *datatype = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

int type_commit(MPI_Datatype* datatype) {
  const Call call("MPI_Type_commit");
  if (const int error = call.check_output(nullptr, datatype, "datatype")) return error;
  if (const int error = check_type(call, *datatype, "datatype")) return error;
  if (DerivedType* const made = find_derived(*datatype); made != nullptr) made->committed = true;
  return MPI_SUCCESS;
}

}  // namespace fairlead::mpi::api
