// What UDP on this machine's loopback, or between two network namespaces (network_limits NAME
// ADDRESS NAME ADDRESS, as root), can do at all: an 8-byte datagram back and forth between two
// processes that poll; 64 KiB a call through GSO and GRO with an acknowledgment now and then, and
// between namespaces the same with 80 bytes of header gathered before what each datagram carries;
// and what is left of the former where a processor has to authenticate or encrypt all bytes, too,
// one after the other. Prints the lines that the MPI programs print.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <openssl/evp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "bench/peers/limits.h"

namespace {

using namespace limits;  // NOLINT: the functions below

// Where the two ends are: their namespaces (none: this process's) and addresses.
struct Place {
  const char* name[2] = {nullptr, nullptr};
  in_addr address[2] = {{htonl(INADDR_LOOPBACK)}, {htonl(INADDR_LOOPBACK)}};
};

// A socket stays in the namespace it was made in; this process ends up in the last one.
int make_socket(const char* name) {
  if (name != nullptr) {
    char path[256];
    std::snprintf(path, sizeof path, "/var/run/netns/%s", name);
    const int to = open(path, O_RDONLY | O_CLOEXEC);
    if (to < 0 || setns(to, CLONE_NEWNET) != 0) {
      std::perror("network_limits: setns");
      std::exit(1);
    }
    close(to);
  }
  return socket(AF_INET, SOCK_DGRAM, 0);
}

// Two connected sockets.
struct Pair {
  int fd[2];
};
Pair make_pair(const Place& place) {
  Pair made{};
  sockaddr_in address[2] = {};
  for (int i = 0; i < 2; ++i) {
    made.fd[i] = make_socket(place.name[i]);
    address[i].sin_family = AF_INET;
    address[i].sin_addr = place.address[i];
    socklen_t length = sizeof address[i];
    if (bind(made.fd[i], reinterpret_cast<sockaddr*>(&address[i]), length) != 0 ||
        getsockname(made.fd[i], reinterpret_cast<sockaddr*>(&address[i]), &length) != 0) {
      std::perror("network_limits: bind");
      std::exit(1);
    }
    const int bytes = 8 << 20;
    const int on = 1;
    setsockopt(made.fd[i], SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    setsockopt(made.fd[i], SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes);
    setsockopt(made.fd[i], SOL_UDP, UDP_GRO, &on, sizeof on);
  }
  for (int i = 0; i < 2; ++i) {
    if (connect(made.fd[i], reinterpret_cast<sockaddr*>(&address[1 - i]), sizeof address[0]) != 0) {
      std::perror("network_limits: connect");
      std::exit(1);
    }
  }
  return made;
}
void receive(int fd, char* to, std::size_t size) {
  while (recv(fd, to, size, MSG_DONTWAIT) < 0) {
    if (errno != EAGAIN && errno != EWOULDBLOCK) std::exit(1);
  }
}

void latency_limit(const Place& place) {
  constexpr int kCount = 100'000;
  const Pair pair = make_pair(place);
  in_processes(2, [&](int process) {
    char word[8] = {};
    const double begin = seconds_now();
    for (int i = 0; i < kCount; ++i) {
      if (process == 0) send(pair.fd[0], word, sizeof word, 0);
      receive(pair.fd[process], word, sizeof word);
      if (process == 1) send(pair.fd[1], word, sizeof word, 0);
    }
    if (process == 0) {
      print_figure("latency_udp", 8, (seconds_now() - begin) / kCount / 2 * 1e6, "us");
    }
  });
}

// The size of Fairlead's header (fairlead/fabric/udp/seal.h, UdpHeader).
constexpr std::size_t kHeaderBytes = 80;

// MB/s without the headers, which the kernel gathers where there are any. The sender stays at most
// kAhead calls ahead of what the receiver has taken.
double stream_limit(const Place& place, std::size_t header_bytes) {
  constexpr int kCalls = 20'000;
  constexpr std::uint64_t kAhead = 16;
  constexpr std::size_t kSegment = 1448;
  constexpr std::size_t kSegments = 44;
  constexpr std::size_t kBytes = kSegment * kSegments;
  const Pair pair = make_pair(place);
  void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  struct Shared {
    std::atomic<std::uint64_t> taken;
    double rate;
  };
  auto& shared = *new (memory) Shared();
  std::atomic<std::uint64_t>& taken = shared.taken;
  in_processes(2, [&](int process) {
    std::vector<char> buffer(65536, 1);
    const double begin = seconds_now();
    if (process == 0) {
      const int segment = kSegment;
      setsockopt(pair.fd[0], SOL_UDP, UDP_SEGMENT, &segment, sizeof segment);
      std::vector<char> headers(kSegments * header_bytes, 2);
      std::vector<iovec> pieces;
      for (std::size_t s = 0; s < kSegments && header_bytes > 0; ++s) {
        const std::size_t payload = kSegment - header_bytes;
        pieces.push_back({headers.data() + s * header_bytes, header_bytes});
        pieces.push_back({buffer.data() + s * payload, payload});
      }
      if (pieces.empty()) pieces.push_back({buffer.data(), kBytes});
      msghdr message{};
      message.msg_iov = pieces.data();
      message.msg_iovlen = pieces.size();
      for (std::uint64_t i = 0; i < kCalls; ++i) {
        while (i * kBytes > taken.load() + kAhead * kBytes) {
        }
        while (sendmsg(pair.fd[0], &message, 0) < 0 && errno == EAGAIN) {
        }
      }
    } else {
      std::uint64_t bytes = 0;
      while (bytes < kCalls * kBytes) {
        const ssize_t got = recv(pair.fd[1], buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (got <= 0) continue;
        bytes += static_cast<std::uint64_t>(got);
        taken.store(bytes);
      }
      const double carried = static_cast<double>(bytes) * (kSegment - header_bytes) / kSegment;
      shared.rate = carried / (seconds_now() - begin) / 1e6;
      print_figure(header_bytes > 0 ? "bandwidth_udp_gathered" : "bandwidth_udp", 1 << 20,
                   shared.rate, "MB/s");
    }
  });
  const double rate = shared.rate;
  munmap(memory, 4096);
  return rate;
}

// MB/s of AES-128-GCM on one processor, 64 KiB at a time.
double cipher_rate(bool encrypts) {
  constexpr int kBytes = 65536 - 256;
  constexpr int kCount = 20'000;
  const unsigned char key[16] = {1};
  unsigned char nonce[12] = {};
  unsigned char tag[16];
  std::vector<unsigned char> from(kBytes, 1);
  std::vector<unsigned char> to(kBytes);
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  bool ok = EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), nullptr, key, nonce) == 1;
  const double begin = seconds_now();
  for (int i = 0; i < kCount; ++i) {
    int done = 0;
    std::memcpy(nonce, &i, sizeof i);
    ok = ok && EVP_EncryptInit_ex(context, nullptr, nullptr, nullptr, nonce) == 1 &&
         EVP_EncryptUpdate(context, encrypts ? to.data() : nullptr, &done, from.data(), kBytes) ==
             1 &&
         EVP_EncryptFinal_ex(context, to.data(), &done) == 1 &&
         EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, sizeof tag, tag) == 1;
  }
  const double elapsed = seconds_now() - begin;
  EVP_CIPHER_CTX_free(context);
  if (!ok) {
    std::fprintf(stderr, "network_limits: libcrypto has no AES-128-GCM\n");
    std::exit(1);
  }
  return static_cast<double>(kBytes) * kCount / elapsed / 1e6;
}

void cipher_limits(double stream) {
  for (const bool encrypts : {false, true}) {
    print_figure(encrypts ? "bandwidth_udp_encrypt" : "bandwidth_udp_full", 1 << 20,
                 1 / (1 / stream + 1 / cipher_rate(encrypts)), "MB/s");
  }
}

}  // namespace

int main(int argc, char** argv) {
  Place place;
  for (int i = 0; i < 2 && argc == 5; ++i) {
    place.name[i] = argv[1 + 2 * i];
    if (inet_pton(AF_INET, argv[2 + 2 * i], &place.address[i]) != 1) return 2;
  }
  latency_limit(place);
  // Only there does ours send datagrams as short as these.
  if (place.name[0] != nullptr) (void)stream_limit(place, kHeaderBytes);
  cipher_limits(stream_limit(place, 0));
  return 0;
}
