#include "gpu/ranks/nccl.h"

#include <dlfcn.h>

#include "core/base/error.h"

namespace csrkit::gpu {

namespace {

constexpr char kLibrary[] = "libnccl.so.2";

struct OpenedNccl {
  NcclLibrary library;
  std::string why_not;
};

OpenedNccl open_nccl() {
  OpenedNccl opened;
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    opened.why_not = std::string(dlerror()) +
                     "; install NCCL, or put its folder where the loader looks (LD_LIBRARY_PATH)";
    return opened;
  }
  const auto find = [&](auto& function, const char* name) {
    // POSIX lets dlsym's result be a function.
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
    if (function == nullptr && opened.why_not.empty()) {
      opened.why_not =
          std::string(kLibrary) + " has no " + name + "; it is older than 2.7, install a newer one";
    }
  };
  NcclLibrary& nccl = opened.library;
  find(nccl.get_unique_id, "ncclGetUniqueId");
  find(nccl.comm_init_rank, "ncclCommInitRank");
  find(nccl.comm_destroy, "ncclCommDestroy");
  find(nccl.comm_abort, "ncclCommAbort");
  find(nccl.comm_get_async_error, "ncclCommGetAsyncError");
  find(nccl.group_start, "ncclGroupStart");
  find(nccl.group_end, "ncclGroupEnd");
  find(nccl.send, "ncclSend");
  find(nccl.recv, "ncclRecv");
  find(nccl.get_error_string, "ncclGetErrorString");
  return opened;
}

const OpenedNccl& opened_nccl() {
  static const OpenedNccl opened = open_nccl();
  return opened;
}

}  // namespace

std::string why_no_nccl() { return opened_nccl().why_not; }

const NcclLibrary& nccl_library() {
  if (!why_no_nccl().empty()) throw UsageError("messages between GPUs need NCCL: " + why_no_nccl());
  return opened_nccl().library;
}

void require_nccl(const NcclLibrary& nccl, int result, const char* what, int rank) {
  if (result == kNcclSuccess || result == kNcclInProgress) return;
  throw DeviceError("rank " + std::to_string(rank) + ": " + what + ": " +
                    nccl.get_error_string(result) + "; NCCL_DEBUG=WARN says more");
}

NcclRank::~NcclRank() {
  if (comm_ != nullptr) nccl_->comm_destroy(comm_);
}

void NcclRank::join(int ranks, const NcclId& id) {
  require_nccl(*nccl_, nccl_->comm_init_rank(&comm_, ranks, id, rank_), "ncclCommInitRank", rank_);
}

void NcclRank::send(const void* data, std::uint64_t bytes, int to, cudaStream_t stream) {
  require_nccl(*nccl_, nccl_->send(data, bytes, kNcclBytes, to, comm_, stream), "ncclSend", rank_);
  if (to != rank_) bytes_sent_ += bytes;
}

void NcclRank::receive(void* data, std::uint64_t bytes, int from, cudaStream_t stream) {
  require_nccl(*nccl_, nccl_->recv(data, bytes, kNcclBytes, from, comm_, stream), "ncclRecv",
               rank_);
  if (from != rank_) bytes_received_ += bytes;
}

void NcclRank::require_healthy() {
  int error = kNcclSuccess;
  require_nccl(*nccl_, nccl_->comm_get_async_error(comm_, &error), "ncclCommGetAsyncError", rank_);
  require_nccl(*nccl_, error, "an exchange between GPUs failed", rank_);
}

void NcclRank::abort() noexcept {
  if (comm_ != nullptr) nccl_->comm_abort(comm_);
  comm_ = nullptr;
}

}  // namespace csrkit::gpu
