#include "fairlead/systems/mpi/windows/elements.h"

#include <algorithm>
#include <cstring>

#include "fairlead/systems/mpi/datatypes/cursor.h"

namespace fairlead::mpi {
namespace {

// Fiber stacks are short.
constexpr std::uint64_t kRowBytes = 4096;

// The types that a type was made from agree, or not.
MPI_Datatype agreed(const TypeBody& type) {
  if (type.named != MPI_DATATYPE_NULL) return type.named;
  MPI_Datatype all = MPI_DATATYPE_NULL;
  for (const TypeRef& each : type.contents.types) {
    const MPI_Datatype one = agreed(*each);
    if (one == MPI_DATATYPE_NULL || (all != MPI_DATATYPE_NULL && one != all)) {
      return MPI_DATATYPE_NULL;
    }
    all = one;
  }
  return all;
}

std::uint64_t runs_of(const LayoutNode& node) {
  switch (node.kind) {
    case LayoutNode::Kind::run:
      return 1;
    case LayoutNode::Kind::repeat:
      return node.count * runs_of(*node.child);
    case LayoutNode::Kind::list:
      break;
  }
  if (node.block != 0) return node.parts.size();
  std::uint64_t runs = 0;
  for (const LayoutNode::Part& part : node.parts) {
    runs += part.node == nullptr ? 1 : runs_of(*part.node);
  }
  return runs;
}

// Gathers pieces until there is no room.
class PieceMaker {
 public:
  PieceMaker(const StepRoom& room, std::uint64_t spacing, std::vector<WindowPiece>* pieces)
      : room_(room), spacing_(spacing), pieces_(pieces) {
    pieces_->clear();
  }
  bool full() const { return full_; }
  std::uint64_t elements() const { return elements_; }
  void add(std::uint64_t offset, std::uint64_t count) {
    if (full_) return;
    const bool goes_on =
        !pieces_->empty() && offset == pieces_->back().offset + pieces_->back().count * spacing_;
    const std::size_t begins = goes_on ? 0 : room_.per_piece;
    const std::size_t left = room_.bytes - used_;
    std::uint64_t fits = room_.elements - elements_;
    if (left < begins || (!goes_on && pieces_->size() == room_.pieces)) {
      fits = 0;
    } else if (room_.per_element != 0) {
      fits = std::min<std::uint64_t>(fits, (left - begins) / room_.per_element);
    }
    full_ = fits < count;
    const std::uint64_t taken = std::min(fits, count);
    if (taken == 0) return;
    used_ += begins + taken * room_.per_element;
    elements_ += taken;
    if (goes_on) {
      pieces_->back().count += taken;
    } else {
      pieces_->push_back({offset, taken});
    }
  }

 private:
  const StepRoom& room_;
  const std::uint64_t spacing_;
  std::vector<WindowPiece>* const pieces_;
  std::size_t used_ = 0;
  std::uint64_t elements_ = 0;
  bool full_ = false;
};

const void* address_of(std::uint64_t offset) { return reinterpret_cast<const void*>(offset); }

}  // namespace

MPI_Datatype only_basic(const TypeBody& type) {
  const MPI_Datatype all = agreed(type);
  // Blocks of no elements may have any type.
  return all == MPI_DATATYPE_NULL && type.map.node != nullptr ? type.map.node->basic : all;
}

ElementForm ElementForm::of(MPI_Datatype predefined) {
  ElementForm form;
  form.spacing = form.packed = spacing_of_type(predefined);
  if (form.spacing == 0 || size_of_type(predefined) != 0) return form;
  form.gapped = find_body(predefined)->layout;
  form.packed = form.gapped->size();
  return form;
}

void ElementBuffer::load(const ElementForm& form, std::uint64_t first, std::uint64_t count,
                         std::byte* row) const {
  if (layout == nullptr) {
    std::memcpy(row, at + first * form.spacing, count * form.spacing);
    return;
  }
  Cursor cursor(*layout, at, first * form.packed);
  if (form.gapped == nullptr) return cursor.pack(row, count * form.packed);
  std::vector<std::byte> packed(count * form.packed);
  cursor.pack(packed.data(), packed.size());
  Cursor(*form.gapped, row).unpack(packed.data(), packed.size());
}

void ElementBuffer::store(const ElementForm& form, std::uint64_t first, std::uint64_t count,
                          const std::byte* row) const {
  if (layout == nullptr) {
    std::memcpy(at + first * form.spacing, row, count * form.spacing);
    return;
  }
  Cursor cursor(*layout, at, first * form.packed);
  if (form.gapped == nullptr) return cursor.unpack(row, count * form.packed);
  std::vector<std::byte> packed(count * form.packed);
  Cursor(*form.gapped, row).pack(packed.data(), packed.size());
  cursor.unpack(packed.data(), packed.size());
}

std::uint64_t next_pieces(const TargetElements& target, const ElementForm& form,
                          std::uint64_t first, const StepRoom& room,
                          std::vector<WindowPiece>* pieces) {
  PieceMaker maker(room, form.spacing, pieces);
  const std::uint64_t rest = target.count - first;
  if (target.layout == nullptr) {
    maker.add(target.offset + first * form.spacing, rest);
    return maker.elements();
  }
  const auto offset_of = [](const std::byte* at) { return reinterpret_cast<std::uintptr_t>(at); };
  Cursor cursor(*target.layout, address_of(target.offset), first * form.packed);
  if (form.gapped != nullptr) {
    // An element is no run: where it begins is where its first byte is.
    for (std::uint64_t i = first; i < target.count && !maker.full(); ++i) {
      Cursor(*target.layout, address_of(target.offset), i * form.packed)
          .each_run(1, [&](const std::byte* at, std::uint64_t) { maker.add(offset_of(at), 1); });
    }
    return maker.elements();
  }
  // A step looks at no more than about what can fit.
  const std::uint64_t look = std::max<std::uint64_t>(
      1, std::min(room.elements, room.bytes / std::max<std::size_t>(1, room.per_element)));
  for (std::uint64_t left = std::min(rest, look); left > 0 && !maker.full();) {
    const std::uint64_t part = std::min(left, kRowBytes / form.packed);
    cursor.each_run(part * form.packed, [&](const std::byte* at, std::uint64_t bytes) {
      maker.add(offset_of(at), bytes / form.packed);
    });
    left -= part;
  }
  return maker.elements();
}

void copy_data(const Data& to, const Data& from) {
  if (from.layout == nullptr) {
    if (to.layout == nullptr) {
      std::memmove(const_cast<void*>(to.at), from.at, from.size);
    } else {
      Cursor(*to.layout, to.at).unpack(from.at, from.size);
    }
    return;
  }
  if (to.layout == nullptr) {
    Cursor(*from.layout, from.at).pack(const_cast<void*>(to.at), from.size);
    return;
  }
  std::byte row[kRowBytes];
  Cursor in(*from.layout, from.at);
  Cursor out(*to.layout, to.at);
  for (std::uint64_t left = from.size; left > 0;) {
    const std::uint64_t part = std::min(left, kRowBytes);
    in.pack(row, part);
    out.unpack(row, part);
    left -= part;
  }
}

std::uint64_t run_length(const Layout& layout) {
  return layout.size() / std::max<std::uint64_t>(1, runs_of(layout.node()));
}

}  // namespace fairlead::mpi
