/* A client of AMUDP's interface, as GASNet's udp-conduit is one. By its first argument:
 *   all        every form of request and reply, up to the largest, with gatherings and barriers
 *   flood      long requests faster than their long replies can go
 *   exit R C   rank R ends the job with code C while the others poll
 *   die R      rank R is killed while the others poll
 *   uneven     rank 0 gathers more than the others
 *   gone R C   rank R leaves in order while the next one sends to it; the one after that ends the
 *              job with code C 300 ms later (C -1: never)
 *   early R    rank R returns from main without the end of the job
 */
#include <amudp_spmd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kShort = 1, kMedium, kLong, kShortBack, kMediumBack, kLongBack };
enum { kBytes = 65000, kFlood = 50 };

static eb_t bundle;
static ep_t endpoint;
static int rank, ranks;
static int came, answers, before, after;
static unsigned char* segment; /* kBytes for what each rank sends, then for what each answers */
static unsigned char payload[kBytes];

static void need(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "rank %d: not so: %s\n", rank, what);
  AMUDP_SPMDExit(99);
}
static unsigned char byte_of(int sender, size_t at) {
  return (unsigned char)((size_t)sender * 37 + at * 11);
}
static void fill(int sender) {
  for (size_t i = 0; i < kBytes; ++i) payload[i] = byte_of(sender, i);
}
static void need_bytes(const unsigned char* data, size_t bytes, int sender, const char* what) {
  for (size_t i = 0; i < bytes; ++i) {
    if (data[i] != byte_of(sender, i)) need(0, what);
  }
}
static int source_of(void* token) {
  int source = -1;
  need(AMUDP_GetSourceId(token, &source) == AM_OK, "a token knows its source");
  return source;
}

/* The calls take lists; a client has functions like these. */
static int request(int to, handler_t handler, int argc, ...) {
  va_list args;
  va_start(args, argc);
  const int sent = AMUDP_RequestVA(endpoint, (amudp_node_t)to, handler, argc, args);
  va_end(args);
  return sent;
}
static int request_medium(int to, handler_t handler, size_t bytes, int argc, ...) {
  va_list args;
  va_start(args, argc);
  const int sent =
      AMUDP_RequestIVA(endpoint, (amudp_node_t)to, handler, payload, bytes, argc, args);
  va_end(args);
  return sent;
}
static int request_long(int to, handler_t handler, size_t bytes, void* at, int argc, ...) {
  va_list args;
  va_start(args, argc);
  const int sent = AMUDP_RequestXferVA(endpoint, (amudp_node_t)to, handler, payload, bytes,
                                       (uintptr_t)at, 0, argc, args);
  va_end(args);
  return sent;
}
static int reply(void* token, handler_t handler, int argc, ...) {
  va_list args;
  va_start(args, argc);
  const int sent = AMUDP_ReplyVA(token, handler, argc, args);
  va_end(args);
  return sent;
}
static int reply_medium(void* token, handler_t handler, size_t bytes, int argc, ...) {
  va_list args;
  va_start(args, argc);
  const int sent = AMUDP_ReplyIVA(token, handler, payload, bytes, argc, args);
  va_end(args);
  return sent;
}
static int reply_long(void* token, handler_t handler, size_t bytes, uintptr_t at, int argc, ...) {
  va_list args;
  va_start(args, argc);
  const int sent = AMUDP_ReplyXferVA(token, handler, payload, bytes, at, argc, args);
  va_end(args);
  return sent;
}

static void on_short(void* token, int a, int b) {
  handler_t handler = 0;
  amudp_category_t category = amudp_Long;
  int is_request = 0;
  need(AMUDP_GetTokenInfo(token, &handler, &category, &is_request) == AM_OK && handler == kShort &&
           category == amudp_Short && is_request == 1,
       "a token knows its message");
  need(request(rank, kShort, 2, 0, 0) != AM_OK, "a request in a handler is refused");
  ++came;
  need(reply(token, kShortBack, 1, a + b) == AM_OK, "a short reply goes");
  need(reply(token, kShortBack, 1, a + b) != AM_OK, "a second reply is refused");
}
static void on_medium(void* token, void* data, size_t bytes, int expected) {
  need(bytes == (size_t)expected, "a medium request has its size");
  need_bytes(data, bytes, source_of(token), "a medium request has its bytes");
  ++came;
  need(reply_medium(token, kMediumBack, bytes, 1, expected) == AM_OK, "a medium reply goes");
}
/* The last two arguments: where the answer goes, in the sender's memory. */
static void on_long(void* token, void* data, size_t bytes, int low, int high) {
  const uintptr_t back = (uintptr_t)(uint32_t)low | (uintptr_t)(uint32_t)high << 32;
  need((unsigned char*)data == segment + (size_t)source_of(token) * kBytes,
       "a transfer has its place");
  need_bytes(data, bytes, source_of(token), "a transfer has its bytes");
  ++came;
  need(reply_long(token, kLongBack, bytes, back, 0) == AM_OK, "a long reply goes");
}
static void on_short_back(void* token, int sum) {
  (void)token;
  need(sum == 42, "a short reply has its argument");
  ++answers;
}
static void on_medium_back(void* token, void* data, size_t bytes, int expected) {
  need(bytes == (size_t)expected, "a medium reply has its size");
  need_bytes(data, bytes, source_of(token), "a medium reply has its bytes");
  ++answers;
}
static void on_long_back(void* token, void* data, size_t bytes) {
  const int source = source_of(token);
  need((unsigned char*)data == segment + (size_t)(ranks + source) * kBytes,
       "an answer has its place");
  need_bytes(data, bytes, source, "a long reply has its bytes");
  ++answers;
}

static void count_before(amudp_category_t category, int is_request, int handler, void* token,
                         void* data, size_t bytes, int argc, uint32_t* args) {
  (void)category, (void)is_request, (void)handler, (void)token, (void)data, (void)bytes, (void)argc,
      (void)args;
  ++before;
}
static void count_after(amudp_category_t category, int is_request) {
  (void)category, (void)is_request;
  ++after;
}

/* What each rank has to tell the others: where its segment lies. */
static unsigned char** gather_segments(void) {
  unsigned char** all = calloc((size_t)ranks, sizeof *all);
  need(AMUDP_SPMDAllGather(&segment, all, sizeof segment) == AM_OK, "addresses are gathered");
  need(all[rank] == segment, "a gathering is in the order of the ranks");
  return all;
}
static void gather_sizes(void) {
  static const size_t sizes[] = {1, 5, 4096, 100001};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
    unsigned char* mine = malloc(sizes[s]);
    unsigned char* all = malloc(sizes[s] * (size_t)ranks);
    for (size_t i = 0; i < sizes[s]; ++i) mine[i] = byte_of(rank, i);
    need(AMUDP_SPMDAllGather(mine, all, sizes[s]) == AM_OK, "bytes are gathered");
    for (int r = 0; r < ranks; ++r) {
      need_bytes(all + (size_t)r * sizes[s], sizes[s], r, "a gathering has its bytes");
    }
    free(mine);
    free(all);
  }
}
static void meet(void) { need(AMUDP_SPMDBarrier() == AM_OK, "a barrier ends"); }
static void poll_until(int requests, int replies) {
  for (;;) {
    need(AM_Poll(bundle) == AM_OK, "a poll works");
    if (came >= requests && answers >= replies) return;
    need(AM_WaitSema(bundle) == AM_OK, "messages come");
  }
}

static void send_long(unsigned char** segments, int to, size_t bytes) {
  const uintptr_t back = (uintptr_t)(segment + (size_t)(ranks + to) * kBytes);
  need(request_long(to, kLong, bytes, segments[to] + (size_t)rank * kBytes, 2, (int)(uint32_t)back,
                    (int)(uint32_t)(back >> 32)) == AM_OK,
       "a long request goes");
}

static void all_forms(unsigned char** segments) {
  need(AMUDP_SetHandlerCallbacks(endpoint, count_before, count_after) == AM_OK,
       "handlers are watched");
  meet();
  static const size_t sizes[] = {0, 1, 4000, 9000, kBytes};
  enum { kSizes = sizeof sizes / sizeof *sizes };
  for (int to = 0; to < ranks; ++to) {
    need(request(to, kShort, 2, 40, 2) == AM_OK, "a short request goes");
    for (int s = 0; s < kSizes; ++s) {
      need(request_medium(to, kMedium, sizes[s], 1, (int)sizes[s]) == AM_OK,
           "a medium request goes");
      send_long(segments, to, sizes[s]);
    }
  }
  const int messages = ranks * (1 + 2 * kSizes);
  poll_until(messages, messages);
  meet();
  need(before == after && before == 2 * messages, "each handler was watched");
  amudp_stats_t stats = AMUDP_initial_stats;
  need(AMUDP_GetEndpointStatistics(endpoint, &stats) == AM_OK, "there are counts");
  need(stats.RequestsSent[amudp_Long] == (uint64_t)ranks * kSizes, "requests are counted");
  need(stats.RepliesSent[amudp_Short] == (uint64_t)ranks, "replies are counted");
  need(request_medium(0, kMedium, kBytes + 1, 0) == AM_ERR_BAD_ARG, "65,001 bytes are too many");
  en_t name, other;
  need(AM_GetTranslationName(endpoint, 0, &name) == AM_OK &&
           AM_GetTranslationName(endpoint, ranks - 1, &other) == AM_OK &&
           AMUDP_enEqual(name, name) && AMUDP_enEqual(name, other) == (ranks == 1),
       "names are different");
}

static void flood(unsigned char** segments) {
  for (int i = 0; i < kFlood; ++i) {
    for (int to = 0; to < ranks; ++to) send_long(segments, to, kBytes);
  }
  poll_until(kFlood * ranks, kFlood * ranks);
}

/* Three ranks: one leaves, the next sends to it, the third ends the job meanwhile. */
static int one_is_gone(int leaver, int code) {
  meet();
  if (rank == leaver) return AM_Terminate() == AM_OK ? 0 : 96;
  /* So few requests that none waits for room. */
  const struct timespec pause = {0, 20 * 1000 * 1000};
  for (int i = 0; i < 15; ++i) {
    if (rank == (leaver + 1) % ranks) (void)request(leaver, kShort, 2, 40, 2);
    (void)AM_Poll(bundle);
    nanosleep(&pause, NULL);
  }
  if (rank == (leaver + 2) % ranks && code >= 0) AMUDP_SPMDExit(code);
  for (;;) (void)AM_Poll(bundle);
}

static void say_code(int code) {
  if (rank == 0) printf("rank 0 ends with %d\n", code), fflush(stdout);
}

int main(int argc, char** argv) {
  if (!AMUDP_SPMDIsWorker(argv)) {
    const int count = argc > 1 ? atoi(argv[1]) : 0;
    char* words[] = {argv[0], "all", NULL};
    char** its = words;
    int words_count = 2;
    AMUDP_SPMDStartup(&words_count, &its, count, 0, AMUDP_Spawnfn_Desc[0].fnptr, NULL, &bundle,
                      &endpoint);
    return 98;
  }
  uint64_t job = 0;
  if (AMUDP_SPMDStartup(&argc, &argv, 0, 0, NULL, &job, &bundle, &endpoint) != AM_OK) return 97;
  rank = AMUDP_SPMDMyProc();
  ranks = AMUDP_SPMDNumProcs();
  const char* what = argc > 1 ? argv[1] : "all";
  segment = malloc((size_t)ranks * 2 * kBytes);
  fill(rank);
  AMUDP_SPMDSetExitCallback(say_code);
  AM_SetHandler(endpoint, kShort, on_short);
  AM_SetHandler(endpoint, kMedium, on_medium);
  AM_SetHandler(endpoint, kLong, on_long);
  AM_SetHandler(endpoint, kShortBack, on_short_back);
  AM_SetHandler(endpoint, kMediumBack, on_medium_back);
  AM_SetHandler(endpoint, kLongBack, on_long_back);
  need(AM_SetSeg(endpoint, NULL, (uintptr_t)-1) == AM_OK, "all of memory is the segment");
  unsigned char** segments = gather_segments();
  need(job != 0, "the job has a number");
  if (strcmp(what, "all") == 0) {
    gather_sizes();
    all_forms(segments);
  } else if (strcmp(what, "flood") == 0) {
    flood(segments);
  } else if (strcmp(what, "uneven") == 0) {
    unsigned char few[4] = {0}, many[1024];
    AMUDP_SPMDAllGather(rank == 0 ? many : few, segment, rank == 0 ? 8 : 4);
    while (AM_Poll(bundle) == AM_OK) continue;
  } else if (strcmp(what, "gone") == 0) {
    return one_is_gone(atoi(argv[2]), atoi(argv[3]));
  } else if (argc > 2 && rank == atoi(argv[2])) {
    if (strcmp(what, "exit") == 0) AMUDP_SPMDExit(atoi(argv[3]));
    if (strcmp(what, "die") == 0) raise(SIGKILL);
    return 0; /* early */
  } else {
    while (AM_Poll(bundle) == AM_OK) continue;
  }
  meet();
  if (rank == 0) printf("%d ranks are through\n", ranks), fflush(stdout);
  free(segments);
  AMUDP_SPMDExit(0);
}
