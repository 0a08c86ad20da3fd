#include "tests/gpu/ranks/fake_nccl.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "gpu/device/cuda_check.h"
#include "gpu/device/streams/stream.h"
#include "gpu/ranks/ranks.h"

namespace csrkit::gpu {
struct ncclComm {
  int rank = 0, device = 0;
};
}  // namespace csrkit::gpu

namespace csrkit::testing {

namespace {

using gpu::kNcclSuccess;
using gpu::NcclComm;

constexpr int kInvalidUsage = 5, kRemoteError = 6;

struct Call {
  int from = 0, to = 0;
  void* data = nullptr;
  std::size_t bytes = 0;
  int device = 0;
  cudaStream_t stream = nullptr;
};
std::vector<Call> sends, receives;
std::uint64_t bytes_passed = 0;
int aborts = 0;
bool is_broken_now = false;

int get_unique_id(gpu::NcclId* id) {
  std::fill(std::begin(id->bytes), std::end(id->bytes), 'x');
  return kNcclSuccess;
}

int comm_init_rank(NcclComm* comm, int, gpu::NcclId, int rank) {
  int device = 0;
  int devices = 0;
  CHECK_CUDA(cudaGetDevice(&device));
  CHECK_CUDA(cudaGetDeviceCount(&devices));
  for (int other = 0; other < devices; ++other) gpu::let_read(device, other);
  *comm = new gpu::ncclComm{rank, device};
  return kNcclSuccess;
}

int comm_destroy(NcclComm comm) {
  delete comm;
  return kNcclSuccess;
}

int comm_abort(NcclComm comm) {
  ++aborts;
  return comm_destroy(comm);
}

int comm_get_async_error(NcclComm, int* error) {
  *error = is_broken_now ? kRemoteError : kNcclSuccess;
  return kNcclSuccess;
}

int group_start() {
  sends.clear();
  receives.clear();
  return kNcclSuccess;
}

int send(const void* data, std::size_t count, int, int peer, NcclComm comm, cudaStream_t stream) {
  sends.push_back({comm->rank, peer, const_cast<void*>(data), count, comm->device, stream});
  return kNcclSuccess;
}

int recv(void* data, std::size_t count, int, int peer, NcclComm comm, cudaStream_t stream) {
  receives.push_back({peer, comm->rank, data, count, comm->device, stream});
  return kNcclSuccess;
}

/// `later` goes on after what `earlier` has so far; an event is of its stream's device.
void order(const Call& earlier, const Call& later) {
  const gpu::DeviceScope scope(earlier.device);
  cudaEvent_t event = nullptr;
  CHECK_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  CHECK_CUDA(cudaEventRecord(event, earlier.stream));
  CHECK_CUDA(cudaStreamWaitEvent(later.stream, event));
  CHECK_CUDA(cudaEventDestroy(event));
}

/// The receiver's stream copies after what the sender's has so far, and that goes on after.
int copy(const Call& sent, const Call& received) {
  order(sent, received);
  CHECK_CUDA(cudaMemcpyAsync(received.data, sent.data, sent.bytes, cudaMemcpyDeviceToDevice,
                             received.stream));
  order(received, sent);
  bytes_passed += sent.bytes;
  return kNcclSuccess;
}

int group_end() {
  if (sends.size() != receives.size()) return kInvalidUsage;
  for (const Call& sent : sends) {
    const auto received = std::find_if(receives.begin(), receives.end(), [&](const Call& call) {
      return call.from == sent.from && call.to == sent.to;
    });
    if (received == receives.end() || received->bytes != sent.bytes) return kInvalidUsage;
    copy(sent, *received);
    receives.erase(received);  // between two ranks they go in the order of the calls
  }
  return kNcclSuccess;
}

const char* get_error_string(int error) {
  return error == kRemoteError ? "remote error" : "invalid usage";
}

}  // namespace

const gpu::NcclLibrary& fake_nccl() {
  static const gpu::NcclLibrary library = {
      get_unique_id, comm_init_rank, comm_destroy, comm_abort, comm_get_async_error,
      group_start,   group_end,      send,         recv,       get_error_string};
  return library;
}

std::uint64_t take_fake_bytes() { return std::exchange(bytes_passed, 0); }

void break_fake_nccl(bool is_broken) { is_broken_now = is_broken; }

int take_fake_aborts() { return std::exchange(aborts, 0); }

}  // namespace csrkit::testing
