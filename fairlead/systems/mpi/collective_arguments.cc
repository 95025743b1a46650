#include "fairlead/systems/mpi/collective_arguments.h"

#include <algorithm>

#include "fairlead/systems/mpi/datatypes/cursor.h"
#include "fairlead/systems/mpi/operation.h"

namespace fairlead::mpi {
namespace {

const void* moved_by(const void* from, std::int64_t bytes) {
  return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(from) +
                                       static_cast<std::uintptr_t>(bytes));
}

// The predefined type that elements of `type` are, byte for byte; MPI_DATATYPE_NULL: none.
MPI_Datatype same_as(const TypeBody& type) {
  if (type.named != MPI_DATATYPE_NULL) return type.named;
  const bool is_one = type.elements() == 1 && type.map.at == 0 && type.layout->is_contiguous(2);
  return is_one ? type.map.node->basic : MPI_DATATYPE_NULL;
}

}  // namespace

Buffer unusual_buffer(const Call& call, const Comm* comm, const void* buffer, MPI_Count count,
                      MPI_Datatype datatype, const char* which) {
  if (const int error = call.check_data(comm, buffer, count, datatype, which)) return {0, error};
  const TypeBody& type = *find_body(datatype);
  const auto elements = static_cast<std::uint64_t>(count);
  return {elements * type.size(), MPI_SUCCESS, buffer, elements, &type};
}

void Row::move(bool from_program) {
  if (from_program) {
    pack(data_, copy_.get());
  } else {
    unpack(copy_.get(), data_);
  }
  engine_.charge_copy(0, data_.size, data_.size);
}

int check_arrays(const Call& call, const Comm* comm, const Arrays& of, int members) {
  if (members > 0 && (of.counts.is_null() || of.displacements.is_null())) {
    return call.fail(comm, MPI_ERR_ARG,
                     fmt::format("{}counts or {}displs is a null pointer", of.which, of.which));
  }
  for (int i = 0; i < members; ++i) {
    const MPI_Datatype type = of.types != nullptr ? of.types[i] : of.type;
    // Blocks may lie at addresses: a null pointer is one.
    const void* const buffer = of.buffer == MPI_IN_PLACE ? MPI_IN_PLACE : &of;
    if (of.counts[i] < 0 || size_of_type(type) == 0 || buffer == MPI_IN_PLACE) [[unlikely]] {
      if (const int error = call.check_data(comm, buffer, of.counts[i], type, of.which)) {
        return error;
      }
    }
  }
  return MPI_SUCCESS;
}

RowBlocks::RowBlocks(const Call& call, const Arrays& of, int members)
    : engine_(call.engine()), of_(of) {
  const auto all = static_cast<std::size_t>(members);
  const auto type_of = [&](std::size_t i) { return of.types != nullptr ? of.types[i] : of.type; };
  std::size_t usual = 0;
  while (usual < all && size_of_type(type_of(usual)) != 0) ++usual;
  if (usual == all) [[likely]]
    return;
  sizes_.resize(all);
  places_.resize(all);
  offsets_.resize(all);
  std::uint64_t copied = 0;
  for (std::size_t i = 0; i < all; ++i) {
    const TypeBody& type = *find_body(type_of(i));
    const std::int64_t unit = of.types != nullptr ? 1 : type.extent();
    const std::uint64_t by =
        static_cast<std::uint64_t>(of.displacements[i]) * static_cast<std::uint64_t>(unit);
    const void* const at = moved_by(of.buffer, static_cast<std::int64_t>(by));
    data_.push_back(data_of(type, at, static_cast<std::uint64_t>(of.counts[i])));
    layouts_.emplace_back(data_[i].layout);
    sizes_[i] = static_cast<MPI_Count>(data_[i].size);
    offsets_[i] = copied;
    if (data_[i].layout != nullptr) copied += data_[i].size;
  }
  copies_ = std::make_unique_for_overwrite<std::byte[]>(copied);
  const auto base = reinterpret_cast<std::uintptr_t>(sizes_.data());
  for (std::size_t i = 0; i < all; ++i) {
    const void* const at = data_[i].layout != nullptr ? copy_of(i) : data_[i].at;
    places_[i] = static_cast<MPI_Count>(reinterpret_cast<std::uintptr_t>(at) - base);
  }
}

void RowBlocks::load(int member) {
  const auto i = static_cast<std::size_t>(member);
  if (i >= data_.size() || data_[i].layout == nullptr) return;
  pack(data_[i], copy_of(i));
  engine_.charge_copy(0, data_[i].size, data_[i].size);
}

void RowBlocks::store(int member) {
  const auto i = static_cast<std::size_t>(member);
  if (i >= data_.size() || data_[i].layout == nullptr) return;
  unpack(copy_of(i), data_[i]);
  engine_.charge_copy(0, data_[i].size, data_[i].size);
}

int check_same(const Call& call, const Comm* comm, std::uint64_t sent, std::uint64_t received) {
  if (sent == received) return MPI_SUCCESS;
  return call.fail(comm, MPI_ERR_COUNT,
                   fmt::format("sendcount and recvcount do not agree: a block of {} bytes is sent, "
                               "one of {} bytes received",
                               sent, received));
}

Reduction unusual_reduction(const Call& call, const Comm* comm, const Buffer& checked,
                            MPI_Datatype datatype, MPI_Op op) {
  if (checked.error != MPI_SUCCESS) return {{}, checked.error};
  const std::uint64_t elements = checked.count;
  const TypeBody* const type = checked.type;
  const MPI_Datatype same = type == nullptr ? datatype : same_as(*type);
  const std::uint64_t element = same == MPI_DATATYPE_NULL ? 0 : find_type(same)->size_bytes;
  if (Combine found = find_combine(op, same); found != nullptr) {
    return {{found, elements, element}, MPI_SUCCESS};
  }
  if (const UserOperation* user = Objects<UserOperation>::find(op); user != nullptr) {
    if (element != 0) return {{nullptr, elements, element, user, datatype}, MPI_SUCCESS};
    if (type->size() == 0) return {{nullptr, 0, 1, user, datatype}, MPI_SUCCESS};
    const Span& span = type->true_span;
    const bool regular = span.lb >= 0 && span.ub <= type->extent();
    constexpr std::int64_t kAligned = 16;
    const std::int64_t image =
        regular ? type->extent() : (span.extent() + kAligned - 1) / kAligned * kAligned;
    const Operand operand{nullptr, elements, static_cast<std::uint64_t>(image),
                          user,    datatype, regular ? 0 : span.lb,
                          !regular};
    const bool in_place = regular && type->layout->is_contiguous(2) && span.lb == 0;
    return {operand, MPI_SUCCESS, in_place ? nullptr : type};
  }
  const char* name = operation_name(op);
  const Datatype* const known = find_type(same);
  const std::string what =
      name == nullptr ? std::string("op is no operation of this library")
                      : fmt::format("op is {}, which is not defined on {}", name,
                                    known != nullptr ? known->name : "types of several elements");
  return {{}, call.fail(comm, MPI_ERR_OP, what)};
}

// Element by element: in the image they may lie at other distances.
void Image::move(bool from_program) {
  const Layout& layout = *layout_;
  const std::uint64_t size = layout.size();
  std::vector<std::byte> row(size);
  for (std::uint64_t i = 0; i < count_; ++i) {
    Cursor theirs(layout, buffer_, i * size);
    Cursor own(layout, moved_by(copy_.get() + i * element_, -shift_));
    Cursor& from = from_program ? theirs : own;
    Cursor& to = from_program ? own : theirs;
    from.pack(row.data(), size);
    to.unpack(row.data(), size);
  }
}

}  // namespace fairlead::mpi
