#include <cstring>

#include "fairlead/base/check.h"
#include "fairlead/systems/panda/panda.h"
#include "fairlead/systems/panda/received.h"

namespace fairlead::panda {

Message::Message(std::span<const Piece> pieces) {
  for (const Piece& piece : pieces) add(piece.data, piece.size);
}

Message::Message(const void* data, std::size_t size) { add(data, size); }

void Message::push(const void* header, std::size_t size) {
  FAIRLEAD_CHECK(header_bytes_ + size <= kHeaderBytesMax, "{} bytes of headers, {} more",
                 header_bytes_, size);
  header_bytes_ += static_cast<std::uint32_t>(size);
  if (size > 0) std::memcpy(header_ + kHeaderBytesMax - header_bytes_, header, size);
}

void Message::drop(std::size_t size) {
  FAIRLEAD_CHECK(size <= header_bytes_, "{} bytes of headers, {} dropped", header_bytes_, size);
  header_bytes_ -= static_cast<std::uint32_t>(size);
}

void Message::add(const void* data, std::size_t size) {
  if (size == 0) return;
  FAIRLEAD_CHECK(piece_count_ < kPiecesMax, "more than {} pieces", kPiecesMax);
  pieces_[piece_count_++] = {data, size};
  data_bytes_ += size;
}

Incoming::Incoming(Incoming&& other) noexcept : received_(other.received_) {
  other.received_ = nullptr;
}

Incoming& Incoming::operator=(Incoming&& other) noexcept {
  if (this == &other) return *this;
  clear();
  received_ = other.received_;
  other.received_ = nullptr;
  return *this;
}

Rank Incoming::source() const {
  FAIRLEAD_CHECK(received_ != nullptr, "no message");
  return received_->source;
}

std::size_t Incoming::size() const { return received_ == nullptr ? 0 : received_->left; }

void Incoming::pop(void* to, std::size_t size) {
  if (size == 0) return;
  FAIRLEAD_CHECK(received_ != nullptr, "no message");
  received_->pool->pop(*received_, to, size);
}

std::span<const std::byte> Incoming::front() const {
  return received_ == nullptr ? std::span<const std::byte>{} : received_->pool->front(*received_);
}

void Incoming::skip(std::size_t size) {
  if (size == 0) return;
  FAIRLEAD_CHECK(received_ != nullptr, "no message");
  received_->pool->skip(*received_, size);
}

std::span<const std::byte> Incoming::block() const {
  return received_ == nullptr ? std::span<const std::byte>{} : received_->pool->block(*received_);
}

void Incoming::clear() {
  if (received_ == nullptr) return;
  received_->pool->give(received_);
  received_ = nullptr;
}

}  // namespace fairlead::panda
