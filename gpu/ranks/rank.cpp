#include "gpu/ranks/rank.h"

#include <algorithm>
#include <cstring>

#include "core/base/counted.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/device_buffer.h"
#include "gpu/device/device_csr.h"
#include "gpu/device/device_info.h"
#include "gpu/device/streams/stream.h"
#include "gpu/device/workspace_layout.h"
#include "gpu/plan/kernels.h"
#include "gpu/plan/operands.h"
#include "gpu/ranks/rows.h"

namespace csrkit::gpu {

namespace {

std::uint64_t bytes_of(const std::vector<Index>& numbers) { return numbers.size() * sizeof(Index); }

/// A meeting has flags for so many ranks of a host.
constexpr Offset kMostRanks = 256;

/// Byte positions in the memory that a rank shares.
struct SharedLayout {
  std::uint64_t arrays[2] = {}, sums_made = 0, flags[2] = {}, bytes = 0;

  SharedLayout(std::uint64_t b_bytes, std::uint64_t c_bytes, std::uint64_t made_bytes) {
    WorkspaceLayout layout;
    arrays[0] = layout.reserve_bytes(b_bytes);
    arrays[1] = layout.reserve_bytes(c_bytes);
    sums_made = layout.reserve_bytes(made_bytes);
    for (std::uint64_t& flag : flags) flag = layout.reserve<unsigned>(kMostRanks);
    bytes = layout.bytes();
  }

  void place(char* data, GivenMemory* given) const {
    for (int i = 0; i < 2; ++i) {
      given->arrays[i] = data + arrays[i];
      given->flags[i] = reinterpret_cast<unsigned*>(data + flags[i]);
    }
    given->sums_made = data + sums_made;
  }
};

/// The head of what memory() returns; the piece runs follow.
struct ToldMemory {
  MemoryName name;
  std::uint64_t b_bytes = 0, c_bytes = 0, made_bytes = 0, runs = 0;
};

}  // namespace

FarRank::FarRank(const std::string& memory, int rank) {
  ToldMemory told;
  if (memory.size() < sizeof told) {
    throw DeviceError("rank " + std::to_string(rank) + " has told nothing of its memory");
  }
  std::memcpy(&told, memory.data(), sizeof told);
  if (memory.size() - sizeof told != told.runs * sizeof(RowRun)) {
    throw DeviceError("rank " + std::to_string(rank) + " has told only a part of its memory");
  }
  memory_ = std::make_unique<FarMemory>(told.name);
  SharedLayout(told.b_bytes, told.c_bytes, told.made_bytes).place(memory_->data(), &given_);
  given_.rank = rank;
  given_.piece_runs.resize(told.runs);
  if (told.runs > 0) {
    std::memcpy(given_.piece_runs.data(), memory.data() + sizeof told, told.runs * sizeof(RowRun));
  }
}

SharedBytes::SharedBytes(std::uint64_t bytes, const char* what) {
  if (bytes == 0) return;
  const cudaError_t status = cudaMalloc(&data_, bytes);
  if (status == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    throw MemoryError(std::string("no room for ") + what + " (" + counted(bytes, "byte") +
                      " of device memory): the device refused");
  }
  CHECK_CUDA(status);
}

SharedBytes::~SharedBytes() {
  if (data_ != nullptr) CHECK_CUDA_NOEXCEPT(cudaFree(data_));
}

Mark::Mark() { CHECK_CUDA(cudaEventCreate(&event_)); }

Mark::~Mark() { CHECK_CUDA_NOEXCEPT(cudaEventDestroy(event_)); }

void Mark::record(cudaStream_t stream) const { CHECK_CUDA(cudaEventRecord(event_, stream)); }

double Mark::seconds_since(const Mark& earlier) const {
  float milliseconds = 0;
  CHECK_CUDA(cudaEventElapsedTime(&milliseconds, earlier.event_, event_));
  return milliseconds * 1e-3;
}

GpuRank::GpuRank(const DeviceShare& share, const std::string& kernel, const PlanOptions& options)
    : share_(share), device_(options.where.device) {
  require_device(device_);
  const DeviceScope scope(device_);
  work_ = std::make_unique<WorkStream>(false);
  travel_ = std::make_unique<WorkStream>(true);
  marks_ = std::make_unique<Marks>();

  const SpmmProblem& kinds = share_.kinds;
  const Index cols = kinds.dense_cols;
  const std::uint64_t b_bytes = dense_bytes(share_.own.cols(), cols, kinds.b);
  const std::uint64_t c_bytes = dense_bytes(share_.own.rows(), cols, kinds.c);
  const std::uint64_t halo_bytes = dense_bytes(share_.halo.cols(), cols, kinds.b);
  const std::uint64_t terms_bytes =
      share_.halo_rows.empty() ? 0 : dense_bytes(share_.halo.rows(), cols, kinds.c);
  const std::uint64_t made_bytes = dense_bytes(share_.pieces.rows(), cols, kinds.c);
  const std::uint64_t received_bytes =
      dense_bytes(static_cast<Index>(share_.sum_rows.size()), cols, kinds.c);
  const std::uint64_t list_bytes = bytes_of(share_.sends) + bytes_of(share_.reads) +
                                   bytes_of(share_.halo_rows) + bytes_of(share_.sum_rows);
  const DeviceMemory memory(device_, work(), options.memory_limit_bytes);
  const SharedLayout layout(b_bytes, c_bytes, made_bytes);
  memory.require(layout.bytes + halo_bytes + terms_bytes + received_bytes + list_bytes,
                 "B, C and the halo of rank " + std::to_string(share_.rank));
  shared_ = SharedBytes(layout.bytes, "B, C and sums of others' rows");
  layout.place(shared_.data(), &given_);
  given_.rank = share_.rank;
  given_.piece_runs = share_.piece_runs;
  CHECK_CUDA(cudaMemsetAsync(given_.flags[0], 0, layout.bytes - layout.flags[0], work()));
  halo_ = SharedBytes(halo_bytes, "the halo");
  terms_ = SharedBytes(terms_bytes, "the terms of the halo");
  sums_received_ = SharedBytes(received_bytes, "sums of split rows");
  numbers_ = SharedBytes(list_bytes, "lists of rows");
  char* at = numbers_.data();
  const auto bring = [&](const std::vector<Index>& numbers, Index** place) {
    *place = reinterpret_cast<Index*>(at);
    if (numbers.empty()) return;
    CHECK_CUDA(
        cudaMemcpyAsync(at, numbers.data(), bytes_of(numbers), cudaMemcpyHostToDevice, work()));
    at += bytes_of(numbers);
  };
  bring(share_.sends, &sends_);
  bring(share_.reads, &reads_);
  bring(share_.halo_rows, &halo_rows_);
  bring(share_.sum_rows, &sum_rows_);

  const auto& row = find_kernel(spmm_kernels(), kernel);
  is_capturable_ = row.can(kGraphCapture);
  PlanOptions where = options;
  where.where.stream = work();
  const auto plan_of = [&](const CsrMatrix& a) -> std::unique_ptr<Operator> {
    if (a.nnz() == 0) return nullptr;
    SpmmProblem problem = kinds;
    problem.a = a;
    return row.make_plan(problem, where);
  };
  own_ = plan_of(share_.own);
  beyond_ = plan_of(share_.halo);
  pieces_ = plan_of(share_.pieces);
  CHECK_CUDA(cudaStreamSynchronize(work()));
}

GpuRank::~GpuRank() {
  try {
    const DeviceScope scope(device_);
    own_.reset();
    beyond_.reset();
    pieces_.reset();
    for (SharedBytes* bytes : {&shared_, &halo_, &packed_, &terms_, &sums_received_, &numbers_}) {
      *bytes = {};
    }
    marks_.reset();
    travel_.reset();
    work_.reset();
  } catch (const Error&) {  // the device is gone, and what it held with it
  }
}

std::uint64_t GpuRank::row_bytes() const {
  return dense_bytes(1, share_.kinds.dense_cols, share_.kinds.b);
}

std::uint64_t GpuRank::sum_bytes() const {
  return dense_bytes(1, share_.kinds.dense_cols, share_.kinds.c);
}

DenseView GpuRank::rows_of_c(void* data, Index rows) const {
  const Index cols = share_.kinds.dense_cols;
  return {data, share_.kinds.c, rows, cols, cols, MemorySpace::device};
}

DenseView GpuRank::array(int number) const {
  const SpmmProblem& kinds = share_.kinds;
  const Index cols = kinds.dense_cols;
  // For more than one product both arrays have the same size and kind, and change places.
  const Index rows = number == 0 ? share_.own.cols() : share_.own.rows();
  return {given_.arrays[number], number == 0 ? kinds.b : kinds.c, rows, cols, cols,
          MemorySpace::device};
}

void GpuRank::upload_b(const ConstDenseView& b) {
  const DeviceScope scope(device_);
  from_ = 0;
  copy_dense(array(0), b, work());
  CHECK_CUDA(cudaStreamSynchronize(work()));
}

void GpuRank::download(const DenseView& b, const DenseView& c, const DenseView& halo) {
  const DeviceScope scope(device_);
  copy_dense(b, array(from_), work());
  copy_dense(c, array(1 - from_), work());
  const DenseView received = {halo_.data(), halo.kind,         halo.rows,
                              halo.cols,    Offset{halo.cols}, MemorySpace::device};
  copy_dense(halo, received, work());
  CHECK_CUDA(cudaStreamSynchronize(work()));
}

std::string GpuRank::choice() const {
  const auto text = [](const char* what, const std::unique_ptr<Operator>& plan) {
    if (plan == nullptr) return std::string(what) + " none";
    const std::string choice = plan->choice();
    return std::string(what) + " " + (choice.empty() ? "as asked for" : choice);
  };
  return text("own:", own_) + "; " + text("halo:", beyond_) +
         (share_.halo_rows.empty() ? "" : ", added to the rows that have one");
}

void GpuRank::make_room_to_pack() {
  const DeviceScope scope(device_);
  packed_ = SharedBytes(share_.sends.size() * row_bytes(), "rows of B to send");
}

void GpuRank::bind(int from) {
  const DeviceScope scope(device_);
  from_ = from;
  if (own_ != nullptr) own_->bind(array(from), c());
  if (pieces_ != nullptr) {
    pieces_->bind(array(from), rows_of_c(given_.sums_made, share_.pieces.rows()));
  }
  if (beyond_ == nullptr) return;
  const Index cols = share_.kinds.dense_cols;
  const DenseView halo = {halo_.data(), share_.kinds.b, share_.halo.cols(),
                          cols,         cols,           MemorySpace::device};
  beyond_->bind(halo,
                share_.halo_rows.empty() ? c() : rows_of_c(terms_.data(), share_.halo.rows()));
}

void GpuRank::begin(const Mark& start) {
  const DeviceScope scope(device_);
  for (const cudaStream_t stream : {travel(), work()}) {
    CHECK_CUDA(cudaStreamWaitEvent(stream, start.get()));
  }
  marks_->begun.record(travel());
  marks_->packed.record(travel());
}

void GpuRank::multiply_pieces() {
  const DeviceScope scope(device_);
  if (pieces_ != nullptr) pieces_->multiply(1, 0);
  marks_->pieces.record(work());
}

void GpuRank::pack() {
  const DeviceScope scope(device_);
  gather_rows(array(from_).data, sends_, static_cast<Index>(share_.sends.size()),
              static_cast<Offset>(row_bytes()), packed_.data(), travel());
  CHECK_CUDA(cudaStreamWaitEvent(travel(), marks_->pieces.get()));
  marks_->packed.record(travel());
}

char* GpuRank::packed(const RowRun& run) const {
  return packed_.data() + static_cast<std::uint64_t>(run.first) * row_bytes();
}

char* GpuRank::halo(const RowRun& run) const {
  return halo_.data() + static_cast<std::uint64_t>(run.first) * row_bytes();
}

char* GpuRank::sums_made(const RowRun& run) const {
  return given_.sums_made + static_cast<std::uint64_t>(run.first) * sum_bytes();
}

char* GpuRank::sums_received(const RowRun& run) const {
  return sums_received_.data() + static_cast<std::uint64_t>(run.first) * sum_bytes();
}

/// With more than kEntriesToHide own entries for each row that comes, the product takes longer than
/// quiet reads, and hides them: 44 were enough on two H200. With kEntriesToSee or fewer the product
/// is too short to be disturbed.
FarReads GpuRank::far_reads() const {
  constexpr Offset kEntriesToHide = 40, kEntriesToSee = 4;
  const auto rows = static_cast<Offset>(share_.reads.size());
  if (share_.own.nnz() > kEntriesToHide * rows) return FarReads::quiet;
  return share_.own.nnz() > kEntriesToSee * rows ? FarReads::beside : FarReads::alone;
}

std::string GpuRank::memory() const {
  const DeviceScope scope(device_);
  const SpmmProblem& kinds = share_.kinds;
  const Index cols = kinds.dense_cols;
  ToldMemory told;
  told.name = name_of_memory(shared_.data());
  told.b_bytes = dense_bytes(share_.own.cols(), cols, kinds.b);
  told.c_bytes = dense_bytes(share_.own.rows(), cols, kinds.c);
  told.made_bytes = dense_bytes(share_.pieces.rows(), cols, kinds.c);
  told.runs = given_.piece_runs.size();
  return std::string(reinterpret_cast<const char*>(&told), sizeof told) +
         std::string(reinterpret_cast<const char*>(given_.piece_runs.data()),
                     given_.piece_runs.size() * sizeof(RowRun));
}

std::uint64_t GpuRank::read_from(const GivenMemory& owner, const RowRun& run) {
  const DeviceScope scope(device_);
  gather_far_rows(owner.arrays[from_], reads_ + run.first, run.count,
                  static_cast<Offset>(row_bytes()), halo(run), far_reads(), travel());
  return static_cast<std::uint64_t>(run.count) * row_bytes();
}

void GpuRank::let_travel_await_sums(cudaStream_t travel_of_another) const {
  CHECK_CUDA(cudaStreamWaitEvent(travel_of_another, marks_->pieces.get()));
}

std::uint64_t GpuRank::read_sums_from(const GivenMemory& maker, const RowRun& run) {
  const DeviceScope scope(device_);
  const auto made = std::find_if(maker.piece_runs.begin(), maker.piece_runs.end(),
                                 [&](const RowRun& other) { return other.rank == number(); });
  if (made == maker.piece_runs.end() || made->count != run.count) {
    throw InputError("rank " + std::to_string(maker.rank) + " does not make the " +
                     counted(run.count, "sum") + " that rank " + std::to_string(number()) +
                     " needs; make the parts again with csr-partition");
  }
  const std::uint64_t bytes = static_cast<std::uint64_t>(run.count) * sum_bytes();
  CHECK_CUDA(cudaMemcpyAsync(
      sums_received(run), maker.sums_made + static_cast<std::uint64_t>(made->first) * sum_bytes(),
      bytes, cudaMemcpyDeviceToDevice, travel()));
  return bytes;
}

void GpuRank::multiply_own() {
  const DeviceScope scope(device_);
  marks_->arrived.record(travel());
  if (own_ != nullptr) {
    own_->multiply(1, 0);
  } else if (share_.own.rows() > 0 && !halo_is_all()) {
    const DenseView all = c();
    CHECK_CUDA(cudaMemsetAsync(all.data, 0, dense_bytes(all.rows, all.cols, all.kind), work()));
  }
  marks_->own.record(work());
}

void GpuRank::multiply_halo() {
  const DeviceScope scope(device_);
  CHECK_CUDA(cudaStreamWaitEvent(work(), marks_->arrived.get()));
  marks_->waited.record(work());
  if (beyond_ != nullptr && share_.halo_rows.empty()) {
    beyond_->multiply(1, halo_is_all() ? 0 : 1);
  } else if (beyond_ != nullptr) {
    beyond_->multiply(1, 0);
    add_rows(c(), halo_rows_, rows_of_c(terms_.data(), share_.halo.rows()), work());
  }
  for (const RowRun& run : share_.sum_runs) {  // one launch each: two runs may have the same row
    add_rows(c(), sum_rows_ + run.first, rows_of_c(sums_received(run), run.count), work());
  }
  marks_->done.record(work());
}

SpmmSeconds GpuRank::phases() const {
  SpmmSeconds seconds;
  seconds.pack = std::max(marks_->packed.seconds_since(marks_->begun),
                          marks_->pieces.seconds_since(marks_->begun));
  seconds.own = marks_->own.seconds_since(marks_->pieces);
  seconds.exchange = marks_->waited.seconds_since(marks_->own);
  seconds.halo = marks_->done.seconds_since(marks_->waited);
  return seconds;
}

}  // namespace csrkit::gpu
