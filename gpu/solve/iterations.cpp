#include "gpu/solve/iterations.h"

#include <algorithm>

#include "gpu/device/cuda_check.h"

namespace csrkit::gpu {

namespace {

/// Elements of a vector, padded: every vector begins at a multiple of 16 bytes.
Offset padded(Offset size) { return (size + 3) / 4 * 4; }

}  // namespace

template <class T>
std::uint64_t DeviceIterations<T>::size_bytes(Index rows, Index columns) {
  return 5 * static_cast<std::uint64_t>(padded(Offset{rows} * columns)) * sizeof(T) +
         static_cast<std::uint64_t>(columns) * sizeof(CgRecord) * kRecordedIterations;
}

template <class T>
DeviceIterations<T>::DeviceIterations(const SolveProblem& problem, Rung rung, DeviceMemory& memory,
                                      T* x, Operator* product,
                                      DevicePreconditioner<T>* preconditioner,
                                      PersistentLoop<T>* loop)
    : rung_(rung),
      stream_(memory.stream()),
      product_(product),
      preconditioner_(preconditioner),
      loop_(loop) {
  const Index rows = problem.rows(), columns = problem.right_hand_sides;
  const Offset size = padded(Offset{rows} * columns);
  memory.require(size_bytes(rows, columns), "the vectors of the iteration");
  vectors_ = DeviceBuffer<T>(memory, 5 * size, "the vectors of the iteration");
  device_columns_ = DeviceBuffer<CgColumn>(memory, columns, "scalars");
  device_records_ =
      DeviceBuffer<CgRecord>(memory, Offset{kRecordedIterations} * columns, "residual norms");
  device_iteration_ = DeviceBuffer<Index>(memory, columns, "scalars");
  partials_ = DeviceBuffer<double>(memory, Offset{columns} * kPartialSums * kSumBlocks, "sums");
  sums_ = DeviceBuffer<double>(memory, 2 * Offset{columns}, "sums");
  done_blocks_ = DeviceBuffer<unsigned>(memory, columns + 1, "scalars");
  for (const auto& [data, bytes] :
       {std::pair<void*, std::uint64_t>{vectors_.data(), vectors_.size_bytes()},
        {partials_.data(), partials_.size_bytes()},
        {device_records_.data(), device_records_.size_bytes()},
        {done_blocks_.data(), done_blocks_.size_bytes()}}) {
    if (bytes > 0) CHECK_CUDA(cudaMemsetAsync(data, 0, bytes, stream_));
  }
  T* const first = vectors_.data();
  state_.rows = rows;
  state_.columns = columns;
  state_.x = x;
  state_.best = first;
  state_.r = first + size;
  state_.p = first + 2 * size;
  state_.q = first + 3 * size;
  state_.z = preconditioner == nullptr ? state_.r : first + 4 * size;
  if (preconditioner != nullptr) state_.inverse_diagonal = preconditioner->inverse_diagonal();
  state_.column = device_columns_.data();
  state_.records = device_records_.data();
  state_.iteration = device_iteration_.data();
  state_.partials = partials_.data();
  state_.done_blocks = done_blocks_.data();
  state_.barrier = done_blocks_.data() + columns;
  if (rung == Rung::one_pass) one_pass_ = std::make_unique<OnePass<T>>(rows, memory.device());
  if (rung == Rung::vendor_cublas) vendor_ = std::make_unique<VendorPasses<T>>(memory);
}

template <class T>
void DeviceIterations<T>::apply_preconditioner() {
  if (preconditioner_ == nullptr) return;
  if (state_.inverse_diagonal != nullptr) {
    launch_scale_residual(state_, stream_);
  } else {
    preconditioner_->apply(state_.r, state_.z, stream_);
  }
}

template <class T>
void DeviceIterations<T>::begin(const std::vector<double>& targets) {
  columns_.assign(targets.size(), {});
  for (std::size_t j = 0; j < targets.size(); ++j) columns_[j].target = targets[j];
  CHECK_CUDA(cudaMemcpyAsync(state_.column, columns_.data(), columns_.size() * sizeof(CgColumn),
                             cudaMemcpyHostToDevice, stream_));
  apply_preconditioner();
  launch_fused_sums(state_, After::begin, stream_);
  // Atomic sums start at 0.
  CHECK_CUDA(cudaMemsetAsync(partials_.data(), 0, partials_.size_bytes(), stream_));
  const std::uint64_t bytes = static_cast<std::uint64_t>(state_.rows) *
                              static_cast<std::uint64_t>(state_.columns) * sizeof(T);
  if (bytes > 0) {
    CHECK_CUDA(cudaMemcpyAsync(state_.p, state_.z, bytes, cudaMemcpyDeviceToDevice, stream_));
  }
  if (product_ != nullptr) bind_product();
  recorded_ = 0;
  download();
}

template <class T>
void DeviceIterations<T>::bind_product() {
  const auto view = [&](T* data) -> DenseView {
    return {data,           kValueKindOf<T>, state_.rows,
            state_.columns, state_.columns,  MemorySpace::device};
  };
  product_->bind(view(state_.p), view(state_.q));
}

/// q = A p. A preconditioner that is not diagonal may have bound the product to its own vectors.
template <class T>
void DeviceIterations<T>::multiply() {
  if (!state_.is_plain() && state_.inverse_diagonal == nullptr) bind_product();
  product_->multiply();
}

template <class T>
void DeviceIterations<T>::queue_passes() {
  const Summation sums = rung_ == Rung::atomic_sums ? Summation::atomic : Summation::partial;
  launch_dot(state_, state_.p, state_.q, 0, sums, stream_);
  launch_finish(state_, After::product, sums, stream_);
  launch_add_to_residual(state_, stream_);
  apply_preconditioner();
  launch_dot(state_, state_.r, state_.r, 0, sums, stream_);
  if (!state_.is_plain()) launch_dot(state_, state_.r, state_.z, 1, sums, stream_);
  launch_finish(state_, After::residual, sums, stream_);
  launch_add_to_solution(state_, stream_);
  launch_new_directions(state_, stream_);
}

template <class T>
void DeviceIterations<T>::queue_fused_passes() {
  launch_fused_product(state_, stream_);
  if (state_.is_plain() || state_.inverse_diagonal != nullptr) {
    launch_fused_residual(state_, stream_);
  } else {
    launch_add_to_residual(state_, stream_);
    apply_preconditioner();
    launch_fused_sums(state_, After::residual, stream_);
  }
  launch_fused_directions(state_, stream_);
}

template <class T>
void DeviceIterations<T>::queue_step() {
  multiply();
  switch (rung_) {
    case Rung::fused: return queue_fused_passes();
    case Rung::one_pass: return one_pass_->launch(state_, stream_);
    case Rung::vendor_cublas: return vendor_->queue(state_);
    default: return queue_passes();
  }
}

template <class T>
void DeviceIterations<T>::make_step_by_host() {
  std::vector<double> sums(2 * columns_.size());
  const auto fetch_sums = [&] {
    launch_finish_sums(state_, sums_.data(), stream_);
    CHECK_CUDA(cudaMemcpyAsync(sums.data(), sums_.data(), sums.size() * sizeof(double),
                               cudaMemcpyDeviceToHost, stream_));
    CHECK_CUDA(cudaStreamSynchronize(stream_));
  };
  const auto send_columns = [&] {
    CHECK_CUDA(cudaMemcpyAsync(state_.column, columns_.data(), columns_.size() * sizeof(CgColumn),
                               cudaMemcpyHostToDevice, stream_));
  };
  multiply();
  launch_dot(state_, state_.p, state_.q, 0, Summation::partial, stream_);
  fetch_sums();
  for (std::size_t j = 0; j < columns_.size(); ++j) columns_[j].after_product(sums[2 * j]);
  send_columns();
  launch_add_to_residual(state_, stream_);
  apply_preconditioner();
  launch_dot(state_, state_.r, state_.r, 0, Summation::partial, stream_);
  if (!state_.is_plain()) launch_dot(state_, state_.r, state_.z, 1, Summation::partial, stream_);
  fetch_sums();
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    const double rr = sums[2 * j];
    columns_[j].after_residual(rr, state_.is_plain() ? rr : sums[2 * j + 1]);
    records_.push_back({columns_[j].norm, columns_[j].alpha, columns_[j].beta});
  }
  send_columns();
  launch_add_to_solution(state_, stream_);
  launch_new_directions(state_, stream_);
}

template <class T>
void DeviceIterations<T>::queue_chunk(Offset iterations) {
  records_.clear();
  if (rung_ == Rung::host_scalars) {
    for (Offset i = 0; i < iterations; ++i) make_step_by_host();
    return;
  }
  CHECK_CUDA(cudaMemsetAsync(state_.iteration, 0, device_iteration_.size_bytes(), stream_));
  const auto queue = [&] {
    for (Offset i = 0; i < iterations; ++i) queue_step();
  };
  if (is_one_kernel(rung_)) {
    loop_->launch(state_, static_cast<Index>(iterations), stream_);
  } else if (rung_ == Rung::device_scalars || iterations != kChunk) {
    queue();
  } else {
    if (!graph_.is_there()) graph_.capture(stream_, queue);
    graph_.launch(stream_);
  }
}

template <class T>
void DeviceIterations<T>::download() {
  if (rung_ != Rung::host_scalars && recorded_ > 0) {
    records_.resize(static_cast<std::size_t>(recorded_) * columns_.size());
    CHECK_CUDA(cudaMemcpyAsync(records_.data(), state_.records, records_.size() * sizeof(CgRecord),
                               cudaMemcpyDeviceToHost, stream_));
  }
  CHECK_CUDA(cudaMemcpyAsync(columns_.data(), state_.column, columns_.size() * sizeof(CgColumn),
                             cudaMemcpyDeviceToHost, stream_));
  CHECK_CUDA(cudaStreamSynchronize(stream_));
}

template <class T>
std::vector<ColumnRun> DeviceIterations<T>::run(const std::vector<double>& targets,
                                                const std::vector<double>& scales, Offset limit,
                                                const ProgressCallback& progress,
                                                std::vector<double>* history, CgSteps* steps) {
  begin(targets);
  const auto longest = [&] {
    Offset most = 0;
    for (const CgColumn& column : columns_) most = std::max(most, column.iterations);
    return most;
  };
  const auto any_moves = [&] {
    return std::any_of(columns_.begin(), columns_.end(), [](const CgColumn& column) {
      return column.state == ColumnState::iterating;
    });
  };
  const Offset chunk = rung_ == Rung::host_scalars ? 1
                       : is_one_kernel(rung_)      ? Offset{kRecordedIterations}
                                                   : kChunk;
  for (Offset done = 0; done < limit && any_moves();) {
    if (progress) {
      progress("iterations", static_cast<std::uint64_t>(done), static_cast<std::uint64_t>(limit));
    }
    recorded_ = std::min(chunk, limit - done);
    queue_chunk(recorded_);
    download();
    const Offset made = longest() - done;
    for (Offset row = 0; row < made; ++row) {
      for (std::size_t j = 0; j < columns_.size(); ++j) {
        const CgRecord& record = records_[static_cast<std::size_t>(row) * columns_.size() + j];
        history->push_back(record.norm * scales[j]);
        if (steps == nullptr || j > 0) continue;
        steps->alpha.push_back(record.alpha);
        steps->beta.push_back(record.beta);
      }
    }
    done += made;
    if (made < recorded_) break;  // every column has ended
  }
  launch_restore_best(state_, stream_);
  std::vector<ColumnRun> runs;
  for (const CgColumn& column : columns_) {
    runs.push_back({column.end, column.iterations, column.best_norm, column.curvature});
  }
  return runs;
}

template class DeviceIterations<float>;
template class DeviceIterations<double>;

}  // namespace csrkit::gpu
