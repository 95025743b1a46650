// Arguments of collective calls, checked: what several of them have.
#pragma once
#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "fairlead/systems/mpi/call.h"
#include "fairlead/systems/mpi/collectives/collectives.h"
#include "fairlead/systems/mpi/datatypes/derived_type.h"
#include "fairlead/systems/mpi/operation.h"

namespace fairlead::mpi {

// A buffer of the program, or an error raised.
struct Buffer {
  std::uint64_t bytes = 0;
  int error = MPI_SUCCESS;
  const void* at = nullptr;
  std::uint64_t count = 0;
  const TypeBody* type = nullptr;  // nullptr: the elements lie in a row

  // The data of so many buffers one behind the other.
  Data data(int times = 1) const {
    const auto all = static_cast<std::uint64_t>(times);
    if (type == nullptr) [[likely]]
      return {at, bytes * all, nullptr};
    return data_of(*type, at, count * all);
  }
};

// As buffer_of(), for types whose bytes may lie anywhere.
[[gnu::cold, gnu::noinline]] Buffer unusual_buffer(const Call& call, const Comm* comm,
                                                   const void* buffer, MPI_Count count,
                                                   MPI_Datatype datatype, const char* which);

inline Buffer buffer_of(const Call& call, const Comm* comm, const void* buffer, MPI_Count count,
                        MPI_Datatype datatype, const char* which) {
  const std::uint64_t element = size_of_type(datatype);
  if (element == 0 || count < 0 || buffer == MPI_IN_PLACE || (buffer == nullptr && count > 0))
      [[unlikely]] {
    return unusual_buffer(call, comm, buffer, count, datatype, which);
  }
  return {static_cast<std::uint64_t>(count) * element, MPI_SUCCESS, buffer,
          static_cast<std::uint64_t>(count), nullptr};
}

// The bytes of a buffer in a row, as collectives move them: the program's own memory, or where they
// do not lie so a copy for as long as the Row lives, which is a call or a schedule.
class Row {
 public:
  Row(const Call& call, const Data& data)
      : engine_(call.engine()), data_(data), layout_(data.layout) {
    if (data.layout != nullptr) [[unlikely]]
      copy_ = std::make_unique_for_overwrite<std::byte[]>(data.size);
  }
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;

  bool is_copy() const { return copy_ != nullptr; }
  void* at() const { return copy_ != nullptr ? copy_.get() : const_cast<void*>(data_.at); }
  // Takes what the program has there, and gives it what has come.
  void load() {
    if (copy_ != nullptr) [[unlikely]]
      move(true);
  }
  void store() {
    if (copy_ != nullptr) [[unlikely]]
      move(false);
  }

 private:
  [[gnu::cold, gnu::noinline]] void move(bool from_program);

  Engine& engine_;
  Data data_;
  LayoutHold layout_;
  std::unique_ptr<std::byte[]> copy_;
};

// One block a member, at places of its own: the arrays of one side of a call.
struct Arrays {
  const void* buffer;
  Counts counts;
  Counts displacements;
  const MPI_Datatype* types;  // one a rank, or
  MPI_Datatype type;          // of all
  const char* which;
};
// MPI_SUCCESS, or an error raised. `members`: how many blocks there are.
int check_arrays(const Call& call, const Comm* comm, const Arrays& of, int members);
inline int check_arrays(const Call& call, const Comm* comm, const Arrays& of) {
  return check_arrays(call, comm, of, comm->size);
}

// The blocks as collectives move them; those whose bytes do not lie in a row are copies.
class RowBlocks {
 public:
  RowBlocks(const Call& call, const Arrays& of, int members);
  RowBlocks(const RowBlocks&) = delete;
  RowBlocks& operator=(const RowBlocks&) = delete;

  bool is_copy() const { return !sizes_.empty(); }
  Blocks blocks() const {
    if (sizes_.empty()) [[likely]]
      return in_place();
    return {sizes_.data(), Counts(sizes_.data()), Counts(places_.data()), MPI_BYTE};
  }
  void load() {
    for (std::size_t i = 0; i < data_.size(); ++i) load(static_cast<int>(i));
  }
  void load(int member);
  void store() {
    for (std::size_t i = 0; i < data_.size(); ++i) store(static_cast<int>(i));
  }
  void store(int member);

 private:
  Blocks in_place() const {
    return of_.types != nullptr ? Blocks(of_.buffer, of_.counts, of_.displacements, of_.types)
                                : Blocks(of_.buffer, of_.counts, of_.displacements, of_.type);
  }
  void* copy_of(std::size_t member) const { return copies_.get() + offsets_[member]; }

  Engine& engine_;
  Arrays of_;
  // Empty where every type is predefined and its elements lie in a row. Places are from sizes_ on.
  std::vector<MPI_Count> sizes_;
  std::vector<MPI_Count> places_;
  std::vector<Data> data_;
  std::deque<LayoutHold> layouts_;
  std::vector<std::uint64_t> offsets_;
  std::unique_ptr<std::byte[]> copies_;
};

// What this rank sends and what it receives must be of one size.
int check_same(const Call& call, const Comm* comm, std::uint64_t sent, std::uint64_t received);

// The operands of a reduction, or an error raised. Types that a program made are reduced by its
// operations, on images: elements with their gaps, `element` bytes from one to the next.
struct Reduction {
  Operand operand{};
  int error = MPI_SUCCESS;
  const TypeBody* type = nullptr;  // nullptr: the program's memory is such an image
};
// As reduction_of(), where a type or an operation is the program's, or something is wrong.
[[gnu::cold, gnu::noinline]] Reduction unusual_reduction(const Call& call, const Comm* comm,
                                                         const Buffer& checked,
                                                         MPI_Datatype datatype, MPI_Op op);

inline Reduction reduction_of(const Call& call, const Comm* comm, const void* buffer,
                              MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                              const char* which) {
  const Buffer checked = buffer_of(call, comm, buffer, count, datatype, which);
  if (checked.error == MPI_SUCCESS && checked.type == nullptr) [[likely]] {
    if (const Combine found = find_combine(op, datatype); found != nullptr) {
      return {{found, checked.count, size_of_type(datatype)}, MPI_SUCCESS};
    }
  }
  return unusual_reduction(call, comm, checked, datatype, op);
}

// The image of `count` elements at `buffer`: the program's memory, or a copy for as long as the
// Image lives, which leaves what lies in the gaps as it is.
class Image {
 public:
  Image(const Reduction& of, const void* buffer, std::uint64_t count)
      : layout_(of.type == nullptr ? nullptr : of.type->layout),
        hold_(layout_),
        element_(of.operand.element),
        shift_(of.operand.shift),
        buffer_(buffer),
        count_(count) {
    if (of.type != nullptr) [[unlikely]]
      copy_ = std::make_unique<std::byte[]>(count * of.operand.element);
  }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  bool is_copy() const { return copy_ != nullptr; }
  void* at() const { return copy_ != nullptr ? copy_.get() : const_cast<void*>(buffer_); }
  void load() {
    if (copy_ != nullptr) [[unlikely]]
      move(true);
  }
  void store() {
    if (copy_ != nullptr) [[unlikely]]
      move(false);
  }

 private:
  [[gnu::cold, gnu::noinline]] void move(bool from_program);

  const Layout* layout_;
  LayoutHold hold_;
  std::uint64_t element_;
  std::int64_t shift_;
  const void* buffer_;
  std::uint64_t count_;
  std::unique_ptr<std::byte[]> copy_;
};

}  // namespace fairlead::mpi
