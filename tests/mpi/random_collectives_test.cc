// Random collectives: all ranks draw the same calls from a seed, each knows without MPI what must
// come of them. Between them they meet what tests by size and by call do not: elements of any size
// under any algorithm, types that lie differently on the two sides, items that run backwards or
// into each other, operations of the program, several calls under way at once, ended in any order.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/mpi/drawn_types.h"
#include "tests/mpi/mpi_worlds.h"

namespace fairlead::mpi_test {
namespace {

struct RandomCollectives : PerWorld {};
INSTANTIATE_MPI_TESTS(RandomCollectives);

// Operations on words: addition, and composing x -> m x + a, which does not commute.
Word add(Word left, Word right) { return left + right; }
Word compose(Word left, Word right) {
  const Word m = (left >> 16 | 1u) * (right >> 16 | 1u);
  return m << 16 | (((left & 0xffffu) * (right >> 16 | 1u) + right) & 0xffffu);
}
using OnWords = Word (*)(Word, Word);
template <OnWords kOperation>
void combine(void* in, void* inout, int* count, MPI_Datatype* type) {
  const Shape shape = Type::shape_of(*type);
  const auto words = static_cast<std::size_t>(*count) * static_cast<std::size_t>(shape.words());
  for (std::size_t i = 0; i < words; ++i) {
    Word& right = static_cast<Word*>(inout)[shape.place(i)];
    right = kOperation(static_cast<const Word*>(in)[shape.place(i)], right);
  }
}

struct Group {
  MPI_Comm comm;
  int rank;
  int size;
};

enum Kind {
  kBcast,
  kGather,
  kGatherv,
  kScatter,
  kScatterv,
  kAllgather,
  kAllgatherv,
  kAlltoall,
  kAlltoallv,
  kAlltoallw,
  kReduce,
  kAllreduce,
  kReduceScatter,
  kReduceScatterBlock,
  kScan,
  kExscan,
  kKinds
};
const char* const kNames[kKinds] = {"Bcast",          "Gather",
                                    "Gatherv",        "Scatter",
                                    "Scatterv",       "Allgather",
                                    "Allgatherv",     "Alltoall",
                                    "Alltoallv",      "Alltoallw",
                                    "Reduce",         "Allreduce",
                                    "Reduce_scatter", "Reduce_scatter_block",
                                    "Scan",           "Exscan"};

// One side of a call: a block for each member, or one.
struct Side {
  std::vector<Block> blocks;
  std::vector<std::unique_ptr<Type>> types;  // one, or one a member
  std::unique_ptr<Memory> memory;
  std::vector<int> counts;
  std::vector<int> displacements;
  std::vector<MPI_Datatype> handles;

  void* data() const { return memory != nullptr ? memory->data() : nullptr; }
  int count() const { return blocks.empty() ? 0 : blocks[0].count; }
  MPI_Datatype type() const { return types.empty() ? MPI_DATATYPE_NULL : types[0]->handle(); }
};

enum class Places { in_a_row, displaced, by_type };

// Blocks of so many items of so many words. Types are drawn by this rank alone.
Side draw_side(Prng& own, const std::vector<int>& items, int words, Places places) {
  Side made;
  const int all = static_cast<int>(items.size());
  const int most = items.empty() ? 0 : *std::max_element(items.begin(), items.end());
  // An item may be several of the type's, where every block allows it.
  int split = any_of(own, {1, 1, 2, 3, words});
  if (words % split != 0) split = 1;
  Shape shape;
  std::ptrdiff_t at = any_of(own, {0, 0, 5});
  for (int i = 0; i < all; ++i) {
    const int count = items[static_cast<std::size_t>(i)] * split;
    if (i == 0 || places == Places::by_type) {
      const int in_a_row = places == Places::in_a_row ? most * split * all : most * split;
      shape = draw_shape(own, words / split, in_a_row);
      made.types.push_back(std::make_unique<Type>(shape));
    }
    Block block{shape, count, 0};
    const int extent = std::abs(shape.extent);
    const int slack = (shape.span() + extent - 1) / extent;
    if (places == Places::in_a_row) {
      block.at = static_cast<std::ptrdiff_t>(i) * count * shape.extent;
    } else if (places == Places::displaced) {
      made.displacements.push_back(static_cast<int>(at));
      block.at = at * shape.extent;
      at += count + slack + below(own, 3);
    } else {
      const std::ptrdiff_t back = shape.extent < 0 ? std::max(0, count - 1) * -shape.extent : 0;
      block.at = at + back;
      made.displacements.push_back(static_cast<int>(block.at * static_cast<int>(sizeof(Word))));
      at += (count + slack + 1) * static_cast<std::ptrdiff_t>(extent) + shape.span();
    }
    made.counts.push_back(count);
    made.handles.push_back(made.types.back()->handle());
    made.blocks.push_back(block);
  }
  made.memory = std::make_unique<Memory>(made.blocks);
  return made;
}

// A call that is under way or was.
struct Call {
  std::string text;
  Side out;
  Side in;
  MPI_Op op = MPI_OP_NULL;
  bool owns_op = false;
  MPI_Request request = MPI_REQUEST_NULL;

  bool is_right(int rank) {
    for (Side* side : {&out, &in}) {
      if (side->memory != nullptr && !side->memory->is_as_expected()) {
        std::fprintf(stderr, "rank %d: %s buffer of %s\n", rank, side == &out ? "send" : "receive",
                     text.c_str());
        return false;
      }
    }
    return true;
  }
};

#define MPI_TEST_BEGIN(name, lower_name, ...) \
  (begun ? MPI_I##lower_name(__VA_ARGS__, &call.request) : MPI_##name(__VA_ARGS__))

class Drawing {
 public:
  Drawing(const Group& group, std::uint64_t key, std::size_t bytes_max)
      : group_(group), key_(key), shared_(key), own_(key_of({key, 1, rank_key()})) {
    kind_ = static_cast<Kind>(below(shared_, kKinds));
    begun_ = one_in(shared_, 2);
    root_ = below(shared_, group.size);
    in_place_ = one_in(shared_, 4) && kind_ != kBcast;
    words_ = any_of(
        shared_, {1, 1, 2, 3, 12, 1 + below(shared_, 400), 2500, 40000, 1 + below(shared_, 50000)});
    const int target = any_of(shared_, {0, 4, 56, 60, 1024, 8192, 8196, 32768, 32772, 65536, 131072,
                                        131076, 524288, 1048580, 4 * below(shared_, 50000)});
    const bool of_all = one_in(shared_, 2);
    const std::size_t bytes = std::min<std::size_t>(static_cast<std::size_t>(target), bytes_max) /
                              (of_all ? static_cast<std::size_t>(group.size) : 1);
    items_ = static_cast<int>(bytes / (static_cast<std::size_t>(words_) * sizeof(Word)));
    if (items_ == 0 && target > 0) items_ = below(shared_, 2);
  }

  std::unique_ptr<Call> make() {
    auto call = std::make_unique<Call>();
    call->text = std::string(begun_ ? "I" : "") + kNames[kind_] + " of " + std::to_string(items_) +
                 " x " + std::to_string(words_) + " words, root " + std::to_string(root_) +
                 (in_place_ ? ", in place" : "");
    if (kind_ >= kReduce) {
      make_reduction(*call);
    } else {
      make_move(*call);
    }
    return call;
  }
  void begin(Call& call) const {
    if (kind_ >= kReduce) {
      reduce(call);
    } else {
      move(call);
    }
  }
  bool begun() const { return begun_; }

 private:
  std::uint64_t rank_key() const { return static_cast<std::uint64_t>(group_.rank) + 1; }
  bool at_root() const { return group_.rank == root_; }

  // Items that `from` sends `to`.
  int items(int from, int to) const {
    const bool same = kind_ != kGatherv && kind_ != kScatterv && kind_ != kAllgatherv &&
                      kind_ != kAlltoallv && kind_ != kAlltoallw;
    if (same) return items_;
    // In place both ways are as long.
    const auto low = static_cast<std::uint64_t>(std::min(from, to));
    const auto high = static_cast<std::uint64_t>(std::max(from, to));
    return static_cast<int>(key_of({key_, low, high}) % static_cast<std::uint64_t>(items_ + 2));
  }
  // What it is.
  Words sent(int from, int to, int count) const {
    const auto words = static_cast<std::size_t>(count) * static_cast<std::size_t>(words_);
    return stream(
        key_of({key_, 3, static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to)}), words);
  }

  void make_move(Call& call);
  void move(Call& call) const;
  void make_reduction(Call& call);
  void reduce(Call& call) const;
  Words reduced(OnWords operation, int members, int count) const;

  Group group_;
  std::uint64_t key_;
  Prng shared_;  // draws the same at all members
  Prng own_;
  Kind kind_;
  bool begun_;
  int root_;
  bool in_place_;
  int words_;  // of an item
  int items_;
  std::vector<int> parts_;  // of reduce_scatter
};

void Drawing::make_move(Call& call) {
  const int me = group_.rank;
  const Places places =
      kind_ == kAlltoallw ? Places::by_type
      : kind_ == kGatherv || kind_ == kScatterv || kind_ == kAllgatherv || kind_ == kAlltoallv
          ? Places::displaced
          : Places::in_a_row;
  // The blocks of all at this rank, and whose they are.
  const auto all = [&](const std::function<int(int)>& size) {
    std::vector<int> sizes;
    for (int i = 0; i < group_.size; ++i) sizes.push_back(size(i));
    return draw_side(own_, sizes, words_, places);
  };
  const auto one = [&](int size) { return draw_side(own_, {size}, words_, Places::in_a_row); };
  const auto expect = [&](Side& side, int i, int from, int to) {
    side.memory->expect(side.blocks[static_cast<std::size_t>(i)], sent(from, to, items(from, to)));
  };
  const auto give = [&](Side& side, int i, int from, int to) {
    side.memory->give(side.blocks[static_cast<std::size_t>(i)], sent(from, to, items(from, to)));
  };
  switch (kind_) {
    case kBcast:
      call.in = one(items_);
      at_root() ? give(call.in, 0, root_, root_) : expect(call.in, 0, root_, root_);
      break;
    case kGather:
    case kGatherv:
      if (at_root()) {
        call.in = all([&](int i) { return items(i, root_); });
        if (in_place_) give(call.in, root_, root_, root_);
        for (int i = 0; i < group_.size; ++i) expect(call.in, i, i, root_);
      }
      if (!in_place_ || !at_root()) {
        call.out = one(items(me, root_));
        give(call.out, 0, me, root_);
      }
      break;
    case kScatter:
    case kScatterv:
      if (at_root()) {
        call.out = all([&](int i) { return items(root_, i); });
        for (int i = 0; i < group_.size; ++i) give(call.out, i, root_, i);
      }
      if (!in_place_ || !at_root()) {
        call.in = one(items(root_, me));
        expect(call.in, 0, root_, me);
      }
      break;
    case kAllgather:
    case kAllgatherv:
      call.in = all([&](int i) { return items(i, i); });
      if (in_place_) {
        give(call.in, me, me, me);
      } else {
        call.out = one(items(me, me));
        give(call.out, 0, me, me);
      }
      for (int i = 0; i < group_.size; ++i) expect(call.in, i, i, i);
      break;
    default:
      call.in = all([&](int i) { return items(i, me); });
      if (!in_place_) call.out = all([&](int i) { return items(me, i); });
      for (int i = 0; i < group_.size; ++i) give(in_place_ ? call.in : call.out, i, me, i);
      for (int i = 0; i < group_.size; ++i) expect(call.in, i, i, me);
  }
}

void Drawing::move(Call& call) const {
  const bool begun = begun_;
  const Side& out = call.out;
  const Side& in = call.in;
  const MPI_Comm comm = group_.comm;
  const bool here = in_place_ && (at_root() || (kind_ != kGather && kind_ != kGatherv));
  const void* const from = here ? MPI_IN_PLACE : out.data();
  void* const to = in_place_ && at_root() && (kind_ == kScatter || kind_ == kScatterv)
                       ? MPI_IN_PLACE
                       : in.data();
  switch (kind_) {
    case kBcast:
      MPI_TEST_BEGIN(Bcast, bcast, in.data(), in.count(), in.type(), root_, comm);
      break;
    case kGather:
      MPI_TEST_BEGIN(Gather, gather, from, out.count(), out.type(), to, in.count(), in.type(),
                     root_, comm);
      break;
    case kGatherv:
      MPI_TEST_BEGIN(Gatherv, gatherv, from, out.count(), out.type(), to, in.counts.data(),
                     in.displacements.data(), in.type(), root_, comm);
      break;
    case kScatter:
      MPI_TEST_BEGIN(Scatter, scatter, out.data(), out.count(), out.type(), to, in.count(),
                     in.type(), root_, comm);
      break;
    case kScatterv:
      MPI_TEST_BEGIN(Scatterv, scatterv, out.data(), out.counts.data(), out.displacements.data(),
                     out.type(), to, in.count(), in.type(), root_, comm);
      break;
    case kAllgather:
      MPI_TEST_BEGIN(Allgather, allgather, from, out.count(), out.type(), to, in.count(), in.type(),
                     comm);
      break;
    case kAllgatherv:
      MPI_TEST_BEGIN(Allgatherv, allgatherv, from, out.count(), out.type(), to, in.counts.data(),
                     in.displacements.data(), in.type(), comm);
      break;
    case kAlltoall:
      MPI_TEST_BEGIN(Alltoall, alltoall, from, out.count(), out.type(), to, in.count(), in.type(),
                     comm);
      break;
    case kAlltoallv:
      MPI_TEST_BEGIN(Alltoallv, alltoallv, from, out.counts.data(), out.displacements.data(),
                     out.type(), to, in.counts.data(), in.displacements.data(), in.type(), comm);
      break;
    default:
      MPI_TEST_BEGIN(Alltoallw, alltoallw, from, out.counts.data(), out.displacements.data(),
                     out.handles.data(), to, in.counts.data(), in.displacements.data(),
                     in.handles.data(), comm);
  }
}

// What the first `members` members' operands give, in their order.
Words Drawing::reduced(OnWords operation, int members, int count) const {
  Words all = sent(0, 0, count);
  for (int i = 1; i < members; ++i) {
    const Words next = sent(i, 0, count);
    for (std::size_t w = 0; w < all.size(); ++w) all[w] = operation(all[w], next[w]);
  }
  return all;
}

void Drawing::make_reduction(Call& call) {
  const int me = group_.rank;
  const bool scatters = kind_ == kReduceScatter || kind_ == kReduceScatterBlock;
  int count = items_;
  int before = 0;
  int mine = count;
  if (scatters) {
    int left = kind_ == kReduceScatter ? count : count / group_.size * group_.size;
    count = left;
    for (int i = 0; i < group_.size; ++i) {
      int part = count / group_.size;
      if (kind_ == kReduceScatter) {
        part = i == group_.size - 1 ? left : one_in(shared_, 4) ? 0 : below(shared_, left + 1);
      }
      if (i < me) before += part;
      parts_.push_back(part);
      left -= part;
    }
    mine = parts_[static_cast<std::size_t>(me)];
  }
  const bool commutes = one_in(shared_, 2);
  const OnWords operation = commutes ? add : compose;
  if (words_ == 1 && commutes && one_in(shared_, 2)) {
    call.op = MPI_SUM;
  } else {
    MPI_Op_create(commutes ? combine<add> : combine<compose>, commutes ? 1 : 0, &call.op);
    call.owns_op = true;
  }
  // One type for all, as the program's operation sees it; MPI's sees words.
  Prng same(shared_.next());
  const Shape shape = call.owns_op ? draw_shape(same, words_, count) : Shape();
  const auto side = [&](int items) {
    Side made;
    made.blocks.push_back({shape, items, 0});
    made.types.push_back(std::make_unique<Type>(shape));
    made.memory = std::make_unique<Memory>(made.blocks);
    return made;
  };
  const bool has_result = kind_ != kReduce || at_root();
  const bool here = in_place_ && has_result;
  if (has_result) call.in = side(here ? count : mine);
  if (!here) call.out = side(count);
  Side& given = here ? call.in : call.out;
  given.memory->give(given.blocks[0], sent(me, 0, count));
  if (!has_result) return;
  Memory& memory = *call.in.memory;
  const int members = kind_ == kScan ? me + 1 : kind_ == kExscan ? me : group_.size;
  if (members == 0) {
    memory.ignore(call.in.blocks[0]);
    return;
  }
  const Words all = reduced(operation, members, count);
  Block result = call.in.blocks[0];
  if (here && scatters) {
    // What was there in place beyond the result may be anything.
    const std::ptrdiff_t end = static_cast<std::ptrdiff_t>(mine) * shape.extent;
    memory.ignore({shape, count - mine, end});
  }
  result.count = mine;
  const auto first = static_cast<std::ptrdiff_t>(before) * words_;
  memory.expect(result, Words(all.begin() + first,
                              all.begin() + first + static_cast<std::ptrdiff_t>(mine) * words_));
}

void Drawing::reduce(Call& call) const {
  const bool begun = begun_;
  const MPI_Comm comm = group_.comm;
  const bool here = in_place_ && (kind_ != kReduce || at_root());
  const void* const from = here ? MPI_IN_PLACE : call.out.data();
  void* const to = call.in.data();
  const Side& side = here ? call.in : call.out;
  const int count = side.count();
  const MPI_Datatype type = side.type();
  switch (kind_) {
    case kReduce:
      MPI_TEST_BEGIN(Reduce, reduce, from, to, count, type, call.op, root_, comm);
      break;
    case kAllreduce:
      MPI_TEST_BEGIN(Allreduce, allreduce, from, to, count, type, call.op, comm);
      break;
    case kReduceScatter:
      MPI_TEST_BEGIN(Reduce_scatter, reduce_scatter, from, to, parts_.data(), type, call.op, comm);
      break;
    case kReduceScatterBlock:
      MPI_TEST_BEGIN(Reduce_scatter_block, reduce_scatter_block, from, to, parts_[0], type, call.op,
                     comm);
      break;
    case kScan:
      MPI_TEST_BEGIN(Scan, scan, from, to, count, type, call.op, comm);
      break;
    default:
      MPI_TEST_BEGIN(Exscan, exscan, from, to, count, type, call.op, comm);
  }
}

bool end_call(Call& call, int rank) {
  if (call.owns_op) MPI_Op_free(&call.op);
  return call.is_right(rank);
}

// Ends calls under way, in any order and by any call, until `keep` are left.
bool end_calls(Prng& own, std::vector<std::unique_ptr<Call>>& under_way, std::size_t keep,
               int rank) {
  bool good = true;
  while (under_way.size() > keep) {
    std::vector<MPI_Request> requests;
    for (const auto& call : under_way) requests.push_back(call->request);
    const int all = static_cast<int>(requests.size());
    const int one = below(own, all);
    const auto chosen = static_cast<std::size_t>(one);
    int index = one;
    int flag = 1;
    std::vector<int> indices(requests.size());
    switch (below(own, 5)) {
      case 0:
        MPI_Wait(&requests[chosen], MPI_STATUS_IGNORE);
        break;
      case 1:
        MPI_Test(&requests[chosen], &flag, MPI_STATUS_IGNORE);
        break;
      case 2:
        MPI_Waitany(all, requests.data(), &index, MPI_STATUS_IGNORE);
        break;
      case 3:
        MPI_Waitsome(all, requests.data(), &index, indices.data(), MPI_STATUSES_IGNORE);
        good &= MPI_TEST_CHECK(index >= 1 && index <= all, rank, index);
        break;
      default:
        MPI_Testall(all, requests.data(), &flag, MPI_STATUSES_IGNORE);
    }
    for (std::size_t i = requests.size(); i-- > 0;) {
      under_way[i]->request = requests[i];
      if (requests[i] != MPI_REQUEST_NULL) continue;
      good &= end_call(*under_way[i], rank);
      under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return good;
}

bool run_drawn(int rank, std::uint64_t seed, int calls, std::size_t bytes_max) {
  std::vector<Group> groups;
  const auto add_group = [&groups](MPI_Comm comm) {
    Group made{comm, 0, 0};
    MPI_Comm_rank(comm, &made.rank);
    MPI_Comm_size(comm, &made.size);
    groups.push_back(made);
  };
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  for (const MPI_Comm comm : {MPI_COMM_WORLD, reversed, half, MPI_COMM_SELF}) add_group(comm);
  std::vector<std::unique_ptr<Call>> under_way;
  Prng own(key_of({seed, 2, static_cast<std::uint64_t>(rank)}));
  bool good = true;
  for (int i = 0; i < calls && good; ++i) {
    const std::uint64_t key = key_of({seed, static_cast<std::uint64_t>(i)});
    const Group& group = groups[key % 7 < 4 ? key % 2 : key % groups.size()];
    Drawing drawing(group, key, bytes_max);
    std::unique_ptr<Call> call = drawing.make();
    drawing.begin(*call);
    if (drawing.begun()) {
      under_way.push_back(std::move(call));
    } else {
      good &= end_call(*call, rank);
    }
    good &= end_calls(own, under_way, static_cast<std::size_t>(below(own, 5)), rank);
    good &= MPI_TEST_CHECK(good, rank, i);
  }
  good &= end_calls(own, under_way, 0, rank);
  MPI_Comm_free(&reversed);
  MPI_Comm_free(&half);
  return good;
}

TEST_P(RandomCollectives, AreWhatTheirMembersKnow) {
  // Modelled worlds take longer for a byte.
  const bool is_real = GetParam() == "shm" || GetParam() == "udp" || GetParam() == "loop";
  const std::size_t bytes_max = is_real ? 1 << 20 : 150000;
  for (const unsigned ranks : {2u, 3u, 5u}) {
    for (const std::uint64_t seed : {1u, 2u}) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, seed " << seed);
      run_ranks(GetParam(), ranks,
                [seed, bytes_max](int rank, int) { return run_drawn(rank, seed, 30, bytes_max); });
    }
  }
}

// By messages where copies between memories would do, and by such copies where messages would.
TEST(RandomCollectivesOnOneNode, AreWhatTheirMembersKnowByEitherWay) {
  for (const char* const single_copy : {"0", "never"}) {
    const SingleCopy way(single_copy);
    for (const std::uint64_t seed : {5u, 6u}) {
      SCOPED_TRACE(testing::Message() << "single copy " << single_copy << ", seed " << seed);
      run_ranks("shm", 4, [seed](int rank, int) { return run_drawn(rank, seed, 40, 1 << 20); });
    }
  }
}

}  // namespace
}  // namespace fairlead::mpi_test
