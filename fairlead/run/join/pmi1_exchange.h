// The exchange with a launcher that speaks PMI-1 over the socket it left in PMI_FD: MPICH's hydra,
// and srun --mpi=pmi2, which speaks this one too.
#pragma once
#include <memory>
#include <string>

#include "fairlead/base/fd.h"
#include "fairlead/base/result.h"
#include "fairlead/run/join/pmi1_messages.h"
#include "fairlead/run/node/job_exchange.h"

namespace fairlead::run {

class Pmi1Exchange final : public JobExchange {
 public:
  // Takes the socket over and greets the launcher.
  static Result<std::unique_ptr<JobExchange>> connect(Fd socket, std::uint32_t rank,
                                                      std::uint32_t ranks);

  Result<void> put(std::string_view key, std::string_view value) override;
  Result<void> fence() override;
  Result<std::string> get(std::uint32_t rank, std::string_view key) override;
  void finish() override;
  void abort(int code, const std::string& reason) override;

 private:
  explicit Pmi1Exchange(Fd socket) : socket_(std::move(socket)) {}
  Result<void> greet();
  Result<void> say(const std::string& line);
  // Sends a line and takes the answer, which must be `command` with rc 0 or no rc.
  Result<std::string> ask(const std::string& line, std::string_view command);
  Result<std::string> read_line();
  Result<void> put_piece(const std::string& key, std::string_view text);
  Result<std::string> get_piece(const std::string& key);

  Fd socket_;
  Pmi1Lines lines_;
  std::string kvs_;
  std::size_t value_max_ = 0;
};

// As PMI_FD, PMI_RANK and PMI_SIZE say.
Result<std::unique_ptr<JobExchange>> pmi1_exchange();

}  // namespace fairlead::run
