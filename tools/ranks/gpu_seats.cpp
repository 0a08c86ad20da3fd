#include "tools/ranks/gpu_seats.h"

#include "api/rooms.h"
#include "ranks/mpi_ranks.h"
#include "tools/ranks/rank_tool.h"

namespace csrkit {

GpuSeat take_gpu(ranks::Communicator& communicator, const std::vector<ranks::Place>& places,
                 bool may_share) {
  GpuSeat seat;
  together(communicator, [&] {
    // A launcher may show every rank one GPU, or all of its host's.
    const std::vector<std::string> addresses = require_gpu_room("--device gpu").ranks.addresses();
    const int number = number_on_host(places, communicator.rank());
    seat.device = number % static_cast<int>(addresses.size());
    seat.address = addresses[static_cast<std::size_t>(seat.device)];
  });
  const std::vector<std::string> addresses = communicator.gather(seat.address);
  for (const std::string& device : communicator.gather(std::to_string(seat.device))) {
    seat.devices.push_back(std::stoi(device));
  }
  together(communicator, [&] {
    seat.shared = ranks::shared_gpus(places, addresses);
    if (!seat.shared.empty() && !(may_share && ranks::launcher().empty())) {
      throw UsageError(seat.shared + "; start no more ranks than there are GPUs (for tests, " +
                       "--share-gpus lets ranks of one process share them)");
    }
  });
  return seat;
}

}  // namespace csrkit
