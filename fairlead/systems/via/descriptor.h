// Descriptors as the provider reads them. They lie in the program's memory, which is not believed:
// each field is read once, and each segment is looked up where its bytes are moved.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "fairlead/systems/via/memory.h"

namespace fairlead::via {

constexpr std::uint32_t kSegmentsMax = 252;
constexpr std::uint32_t kTransferMax = 8u << 20;  // bytes of one descriptor; wire.h has 24 bits

// What a descriptor said when it was posted.
struct Shape {
  std::uint16_t control = 0;
  std::uint16_t segments = 0;
  std::uint32_t immediate = 0;
  std::uint32_t bytes = 0;       // of its data segments; the largest number: more than that
  VIP_ADDRESS_SEGMENT remote{};  // of RDMA

  std::uint16_t op() const { return control & VIP_CONTROL_OP_MASK; }
  bool is_rdma() const { return op() != VIP_CONTROL_OP_SENDRECV; }
  bool is_read() const { return op() == VIP_CONTROL_OP_RDMAREAD; }
  bool has_immediate() const { return (control & VIP_CONTROL_IMMEDIATE) != 0; }
  std::size_t first_data() const { return is_rdma() ? 1 : 0; }
};

inline const VIP_DESCRIPTOR_SEGMENT* segments_of(const VIP_DESCRIPTOR* descriptor) {
  return reinterpret_cast<const VIP_DESCRIPTOR_SEGMENT*>(
      reinterpret_cast<const std::byte*>(descriptor) + sizeof(VIP_CONTROL_SEGMENT));
}
inline VIP_DATA_SEGMENT data_segment(const VIP_DESCRIPTOR* descriptor, std::size_t i) {
  VIP_DATA_SEGMENT made;
  std::memcpy(&made, segments_of(descriptor) + i, sizeof made);
  return made;
}

// The descriptor's extent by its own count; what is beyond kSegmentsMax is never looked at.
inline std::size_t extent(std::uint32_t segments) {
  return sizeof(VIP_CONTROL_SEGMENT) +
         std::min(segments, kSegmentsMax) * sizeof(VIP_DESCRIPTOR_SEGMENT);
}

// Reads it; its memory was looked up. Status bits: 0, or VIP_STATUS_FORMAT_ERROR.
inline std::uint32_t read_shape(const VIP_DESCRIPTOR* descriptor, std::uint16_t segments,
                                bool is_receive, Shape& shape) {
  VIP_CONTROL_SEGMENT control;
  std::memcpy(&control, descriptor, sizeof control);
  shape.control = control.Control;
  shape.segments = segments;
  shape.immediate = control.ImmediateData;
  shape.bytes = 0;
  const bool good =
      segments <= kSegmentsMax && (control.Control & VIP_CONTROL_RESERVED) == 0 &&
      shape.op() != VIP_CONTROL_OP_RESERVED &&
      (is_receive
           ? !shape.is_rdma() && !shape.has_immediate()
           : !shape.is_rdma() || (segments > 0 && !(shape.is_read() && shape.has_immediate())));
  if (!good) return VIP_STATUS_FORMAT_ERROR;
  if (shape.is_rdma()) std::memcpy(&shape.remote, segments_of(descriptor), sizeof shape.remote);
  std::uint64_t bytes = 0;
  for (std::size_t i = shape.first_data(); i < segments; ++i) {
    bytes += data_segment(descriptor, i).Length;
  }
  shape.bytes = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(bytes, std::numeric_limits<std::uint32_t>::max()));
  return 0;
}

// Calls f(address, size) for the bytes [offset, offset + bytes) of the data segments, each of which
// is looked up; f returns whether it wants more. Status bits: 0, VIP_STATUS_PROTECTION_ERROR, or
// VIP_STATUS_FORMAT_ERROR where the segments are no longer what they were.
template <class F>
std::uint32_t for_bytes(const Memory& memory, const void* ptag, const VIP_DESCRIPTOR* descriptor,
                        const Shape& shape, std::uint64_t offset, std::uint64_t bytes, F&& f) {
  for (std::size_t i = shape.first_data(); i < shape.segments && bytes > 0; ++i) {
    const VIP_DATA_SEGMENT segment = data_segment(descriptor, i);
    if (offset >= segment.Length) {
      offset -= segment.Length;
      continue;
    }
    if (!memory.permits(segment.Handle, segment.Data.AddressBits, segment.Length, ptag)) {
      return VIP_STATUS_PROTECTION_ERROR;
    }
    const std::uint64_t part = std::min<std::uint64_t>(bytes, segment.Length - offset);
    auto* const at = reinterpret_cast<std::byte*>(segment.Data.AddressBits) + offset;
    if (!f(at, static_cast<std::size_t>(part))) return 0;
    offset = 0;
    bytes -= part;
  }
  return bytes == 0 ? 0 : VIP_STATUS_FORMAT_ERROR;
}

}  // namespace fairlead::via
