// Partitioned communication (partitioned.h): the two kinds of requests, and the calls.
#include <algorithm>
#include <memory>
#include <vector>

#include "fairlead/systems/mpi/api_requests.h"
#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/datatypes/cursor.h"
#include "fairlead/systems/mpi/extras.h"
#include "fairlead/systems/mpi/info.h"
#include "fairlead/systems/mpi/message_arguments.h"
#include "fairlead/systems/mpi/partitioned.h"
#include "fairlead/systems/mpi/task.h"

namespace fairlead::mpi::api {
namespace {

// One side of a pair.
class Partitioned : public Task, public Driven {
 public:
  ~Partitioned() override {
    if (!settle_offer()) process_.extras().partitioned.keep(std::move(offering_));
  }
  int cancel(const Call& call) override {
    return call.fail(request().comm, MPI_ERR_REQUEST, "partitioned messages are not cancelled");
  }
  std::uint32_t partitions() const { return partitions_; }
  bool active() { return request().state == State::under_way; }

 protected:
  // `side` is that of all partitions together.
  Partitioned(Process& process, const Side& side, int partitions)
      : Task(process, RequestKind::persistent),
        side_(side),
        partitions_(static_cast<std::uint32_t>(partitions)),
        bytes_(partitions_ == 0 ? 0 : side.data.size / partitions_),
        layout_(side.data.layout) {
    use(*side.comm);
    request().envelope = side.envelope;
    process.extras().partitioned.sweep(process.engine());
    if (side.nobody) return;
    offering_ = std::make_unique<PartitionedOffering>();
    offering_->comm = side.comm;
  }

  // Where an offer or a partition goes, by `tag`.
  Envelope envelope(std::int32_t tag) const {
    return {side_.envelope.context | kScheduleContext, side_.envelope.peer, tag};
  }
  static std::int32_t tag_of(const PartitionedOffer& offer, std::size_t partition) {
    return offer.tag - static_cast<std::int32_t>(partition);
  }
  // The offer has gone or come, or there is none.
  bool settle_offer() {
    if (offering_ == nullptr || offering_->request == nullptr) return true;
    if (!offering_->request->done()) return false;
    process_.engine().finish(std::exchange(offering_->request, nullptr));
    return true;
  }
  // Where the bytes at `offset` of the packed data begin, which are whole elements of the layout,
  // where there is one.
  const std::byte* at(std::uint64_t offset) const {
    const auto* const first = static_cast<const std::byte*>(side_.data.at);
    if (side_.data.layout == nullptr) return first + offset;
    const Layout& layout = *side_.data.layout;
    return first + static_cast<std::int64_t>(offset / layout.size()) * layout.extent();
  }

  const Side side_;
  const std::uint32_t partitions_;
  const std::uint64_t bytes_;  // of a partition
  std::unique_ptr<PartitionedOffering> offering_;
  std::vector<Request*> messages_;  // of the sender's partitions; nullptr: sent
  std::size_t next_ = 0;            // those before it are done

 private:
  const LayoutHold layout_;
};

class PartitionedSend final : public Partitioned {
 public:
  PartitionedSend(Process& process, const Side& side, int partitions)
      : Partitioned(process, side, partitions) {
    if (side.nobody) return;
    offering_->offer = {bytes_, partitions_, process.extras().partitioned.take_tags(partitions_)};
    offering_->request = process.engine().isend(&offering_->offer, sizeof(PartitionedOffer),
                                                envelope(side.envelope.tag), false);
  }

  int start(const Call&) override {
    messages_.assign(partitions_, nullptr);
    ready_.assign(partitions_, false);
    unready_ = partitions_;
    next_ = 0;
    request().state = unready_ == 0 ? State::done : State::under_way;
    return MPI_SUCCESS;
  }

  bool is_ready(std::uint32_t partition) const { return ready_[partition]; }
  void ready(std::uint32_t partition) {
    ready_[partition] = true;
    if (!side_.nobody) send(partition);
    if (--unready_ == 0) process_.engine().drive(*this);
  }

  Step advance() override {
    const std::size_t before = next_;
    for (; next_ < messages_.size(); ++next_) {
      Request* const message = messages_[next_];
      if (message == nullptr) continue;
      if (!message->done()) return next_ == before ? Step::none : Step::moved;
      process_.engine().finish(message);
    }
    request().state = State::done;
    return Step::over;
  }

 private:
  void send(std::uint32_t partition) {
    Engine& engine = process_.engine();
    const Layout* const layout = side_.data.layout;
    const std::byte* const from = at(partition * bytes_);
    const Envelope to = envelope(tag_of(offering_->offer, partition));
    const bool sent = layout == nullptr && (engine.send_shortly(from, bytes_, to) ||
                                            engine.send_small(from, bytes_, to, lci::kNoBlock));
    if (!sent) messages_[partition] = engine.isend(from, bytes_, to, false, layout);
  }

  std::vector<bool> ready_;
  std::uint32_t unready_ = 0;
};

class PartitionedReceive final : public Partitioned {
 public:
  PartitionedReceive(Process& process, const Side& side, int partitions)
      : Partitioned(process, side, partitions) {
    if (side.nobody) return;
    request().is_send = false;  // its status tells of what has come
    request().capacity = side.data.size;
    const Envelope from = envelope(side.envelope.tag);
    offering_->request = process.engine().irecv(&offering_->offer, sizeof(PartitionedOffer),
                                                from.context, from.peer, from.tag);
  }

  int start(const Call&) override {
    next_ = 0;
    receives_ = false;
    request().error = MPI_SUCCESS;
    request().state = side_.nobody ? State::done : State::under_way;
    if (!side_.nobody) process_.engine().drive(*this);
    return MPI_SUCCESS;
  }

  int tell(const Call&, MPI_Status& status) override {
    if (side_.nobody) set_empty(&status, MPI_PROC_NULL);
    return request().error;
  }

  Step advance() override {
    const std::size_t before = next_;
    const bool received = receives_;
    if (!receives_ && !begin()) return Step::none;
    for (; next_ < messages_.size() && messages_[next_]->done(); ++next_) land(next_);
    if (next_ < messages_.size()) {
      return next_ == before && received ? Step::none : Step::moved;
    }
    for (Request* const message : messages_) process_.engine().finish(message);
    const PartitionedOffer& offer = offering_->offer;
    request().size = offer.bytes * offer.partitions;
    if (request().size > request().capacity) request().error = MPI_ERR_TRUNCATE;
    request().state = State::done;
    return Step::over;
  }

  Request* awaited() const override {
    if (!receives_) return offering_->request;
    return next_ < messages_.size() ? messages_[next_] : nullptr;
  }

  // Whether the partition of an active request has come. Then it is where it belongs.
  bool arrived(std::uint32_t partition) {
    if (!receives_) return false;
    const std::uint64_t each = offering_->offer.bytes;
    std::size_t first = 0;
    std::size_t end = messages_.size();
    if (bytes_ != 0 && each != 0) {
      first = std::min(end, std::size_t{partition * bytes_ / each});
      end = std::min(end, std::size_t{((partition + std::uint64_t{1}) * bytes_ + each - 1) / each});
    }
    for (std::size_t i = first; i < end; ++i) {
      if (i >= next_ && !messages_[i]->done()) return false;
    }
    for (std::size_t i = std::max(first, next_); i < end; ++i) land(i);
    return true;
  }

 private:
  // Receives what the offer tells of. False: the offer is not there yet.
  bool begin() {
    if (!settle_offer()) return false;
    receives_ = true;
    const PartitionedOffer& offer = offering_->offer;
    const Layout* layout = side_.data.layout;
    const std::uint64_t all = side_.data.size;
    // A message that ends within an element comes to memory of its own first.
    if (layout != nullptr && offer.bytes % layout->size() != 0) {
      layout = nullptr;
      if (apart_ == nullptr) apart_ = std::make_unique<std::byte[]>(all);
      landed_.assign(offer.partitions, false);
    }
    messages_.clear();
    for (std::size_t i = 0; i < offer.partitions; ++i) {
      const std::uint64_t offset = std::min(all, i * offer.bytes);
      const Envelope from = envelope(tag_of(offer, i));
      // A receive's buffer is one that may be written.
      auto* const to = apart_ != nullptr ? &apart_[offset] : const_cast<std::byte*>(at(offset));
      messages_.push_back(process_.engine().irecv(to, std::min(all - offset, offer.bytes),
                                                  from.context, from.peer, from.tag, nullptr,
                                                  layout));
    }
    return true;
  }
  // The message has come, and so it goes where it belongs.
  void land(std::size_t message) {
    if (apart_ == nullptr || landed_[message]) return;
    landed_[message] = true;
    const std::uint64_t all = side_.data.size;
    const std::uint64_t offset = std::min(all, message * offering_->offer.bytes);
    const std::uint64_t size = std::min(all - offset, offering_->offer.bytes);
    Cursor(*side_.data.layout, side_.data.at, offset).unpack(&apart_[offset], size);
    process_.engine().charge_copy(0, size, all);
  }

  bool receives_ = false;
  std::unique_ptr<std::byte[]> apart_;
  std::vector<bool> landed_;
};

template <class Kind>
int make(const Call& call, const void* buf, int partitions, MPI_Count count, MPI_Datatype datatype,
         int peer, int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  MPI_Count all = 0;
  const bool fits =
      count >= 0 && partitions >= 0 && !__builtin_mul_overflow(count, MPI_Count{partitions}, &all);
  Side side{};
  // Neither kind has wildcards. A negative count is told of here.
  const bool somebody = describe_send(call, side, buf, fits ? all : std::min(count, MPI_Count{0}),
                                      datatype, peer, tag, comm);
  if (!somebody && side.error != MPI_SUCCESS) return side.error;
  if (partitions < 0) {
    return call.fail(side.comm, MPI_ERR_ARG,
                     fmt::format("partitions is {}, which is negative", partitions));
  }
  if (!fits) {
    return call.fail(side.comm, MPI_ERR_COUNT,
                     fmt::format("{} partitions of {} elements are too many", partitions, count));
  }
  if (!is_info(info)) {
    return call.fail(side.comm, MPI_ERR_INFO, "info is no info object, or was freed");
  }
  if (const int error = call.check_output(side.comm, request, "request")) return error;
  *request = (new Kind(call.process(), side, partitions))->handle();
  return MPI_SUCCESS;
}

// nullptr: the handle is of no partitioned request of that kind; an error was raised.
template <class Kind>
Kind* find(const Call& call, MPI_Request handle, int* error) {
  *error = check_requests(call, 1, &handle);
  if (*error != MPI_SUCCESS) return nullptr;
  Kind* const found = handle == MPI_REQUEST_NULL
                          ? nullptr
                          : dynamic_cast<Kind*>(reinterpret_cast<Request*>(handle)->task);
  if (found == nullptr) {
    *error = call.fail(nullptr, MPI_ERR_REQUEST, "the request is not partitioned of that kind");
  }
  return found;
}

int check_partition(const Call& call, Partitioned& of, int partition) {
  if (partition >= 0 && static_cast<std::uint32_t>(partition) < of.partitions()) {
    return MPI_SUCCESS;
  }
  return call.fail(of.request().comm, MPI_ERR_ARG,
                   fmt::format("partition is {}, of {} from 0 on", partition, of.partitions()));
}

// All of `count` partitions, which `partition(i)` tells, or none.
template <class Partition>
int make_ready(const Call& call, MPI_Request request, std::int64_t count,
               const Partition& partition) {
  int error = MPI_SUCCESS;
  auto* const send = find<PartitionedSend>(call, request, &error);
  if (send == nullptr) return error;
  for (std::int64_t i = 0; i < count; ++i) {
    if (const int wrong = check_partition(call, *send, partition(i))) return wrong;
    if (send->active() && !send->is_ready(static_cast<std::uint32_t>(partition(i)))) continue;
    return call.fail(
        send->request().comm, MPI_ERR_REQUEST,
        fmt::format("the request is not started, or partition {} is ready already", partition(i)));
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const auto number = static_cast<std::uint32_t>(partition(i));
    if (!send->is_ready(number)) send->ready(number);
  }
  return MPI_SUCCESS;
}

}  // namespace

int psend_init(const void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest,
               int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return make<PartitionedSend>(Call("MPI_Psend_init"), buf, partitions, count, datatype, dest, tag,
                               comm, info, request);
}

int precv_init(void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
               MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return make<PartitionedReceive>(Call("MPI_Precv_init"), buf, partitions, count, datatype, dest,
                                  tag, comm, info, request);
}

int pready(int partition, MPI_Request request) {
  return make_ready(Call("MPI_Pready"), request, 1, [&](std::int64_t) { return partition; });
}

int pready_range(int partition_low, int partition_high, MPI_Request request) {
  const Call call("MPI_Pready_range");
  if (partition_low < 0 || partition_low > partition_high) {
    return call.fail(
        nullptr, MPI_ERR_ARG,
        fmt::format("{} to {} is no range of partitions", partition_low, partition_high));
  }
  // The last one alone first: a range that is too long is not walked.
  return make_ready(call, request, std::int64_t{partition_high} - partition_low + 1,
                    [&](std::int64_t i) { return static_cast<int>(partition_high - i); });
}

int pready_list(int length, const int array_of_partitions[], MPI_Request request) {
  const Call call("MPI_Pready_list");
  if (length < 0) {
    return call.fail(nullptr, MPI_ERR_ARG, fmt::format("length is {}, which is negative", length));
  }
  if (length > 0 && array_of_partitions == nullptr) {
    return call.fail(nullptr, MPI_ERR_ARG, "array_of_partitions is a null pointer");
  }
  return make_ready(call, request, length, [&](std::int64_t i) { return array_of_partitions[i]; });
}

int parrived(MPI_Request request, int partition, int* flag) {
  const Call call("MPI_Parrived");
  int error = MPI_SUCCESS;
  auto* const receive = find<PartitionedReceive>(call, request, &error);
  if (receive == nullptr) return error;
  if ((error = check_partition(call, *receive, partition)) != MPI_SUCCESS) return error;
  if ((error = call.check_output(receive->request().comm, flag, "flag")) != MPI_SUCCESS) {
    return error;
  }
  const auto number = static_cast<std::uint32_t>(partition);
  if (receive->active() && !receive->arrived(number)) call.engine().poll();
  *flag = !receive->active() || receive->arrived(number);
  return MPI_SUCCESS;
}

}  // namespace fairlead::mpi::api
