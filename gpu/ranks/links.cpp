#include "gpu/ranks/links.h"

#include <algorithm>

#include "core/base/counted.h"
#include "core/base/hash.h"
#include "gpu/device/device_info.h"
#include "gpu/device/streams/graph.h"
#include "gpu/device/streams/stream.h"
#include "gpu/device/timing/gpu_timer.h"
#include "gpu/device/timing/head_start.h"
#include "gpu/ranks/rank.h"
#include "gpu/ranks/ranks.h"
#include "gpu/ranks/rows.h"

namespace csrkit::gpu {

namespace {

constexpr std::uint64_t kLeastRowBytes = 16;
constexpr int kSamples = 10;
/// Exchanges in a sample, so that the cost of a launch from the host does not count.
constexpr int kInARow = 8;
constexpr unsigned char kUntouched = 0xee;

/// The byte at `place` of what GPU `number` gives. Rows 2 i and 2 i + 1 hold the same bytes, so it
/// does not matter which of the two was read.
unsigned char byte_of(std::size_t number, std::uint64_t place, std::uint64_t row_bytes) {
  return static_cast<unsigned char>(17 * number + 3 * (place / (2 * row_bytes)) % 101);
}

/// One GPU's arrays, and its stream.
struct LinkEnd {
  LinkEnd(int gpu, std::uint64_t most_bytes) : device(gpu) {
    const DeviceScope scope(device);
    stream = std::make_unique<WorkStream>(true);
    done = std::make_unique<Mark>();
    given = SharedBytes(2 * most_bytes, "what others get");
    got = SharedBytes(most_bytes + kLeastRowBytes, "what comes from others");
    numbers = SharedBytes(most_bytes / kLeastRowBytes * sizeof(Index), "numbers of rows");
  }
  ~LinkEnd() {
    try {
      const DeviceScope scope(device);
      for (SharedBytes* bytes : {&given, &got, &numbers}) *bytes = {};
      done.reset();
      stream.reset();
    } catch (const Error&) {  // the device is gone, and what it held with it
    }
  }
  LinkEnd(const LinkEnd&) = delete;
  LinkEnd& operator=(const LinkEnd&) = delete;

  int device;
  std::unique_ptr<WorkStream> stream;
  std::unique_ptr<Mark> done;
  SharedBytes given, got, numbers;
};

class GpuLinks final : public DeviceLinks {
 public:
  GpuLinks(const std::vector<int>& devices, std::uint64_t most_bytes, const NcclLibrary* nccl)
      : most_bytes_(most_bytes), nccl_(nccl) {
    if (devices.size() < 2) throw UsageError("an exchange needs two GPUs or more");
    for (const int device : devices) {
      require_device(device);
      ends_.push_back(std::make_unique<LinkEnd>(device, most_bytes));
    }
    const DeviceScope scope(devices.front());
    start_ = std::make_unique<Mark>();
    timer_ = std::make_unique<GpuTimer>();
  }

  std::vector<double> exchange_seconds(LinkWay way, std::uint64_t bytes,
                                       std::uint64_t row_bytes) override {
    if (bytes > most_bytes_ || row_bytes < kLeastRowBytes || bytes % row_bytes != 0) {
      throw UsageError("an exchange of " + counted(bytes, "byte") + " in rows of " +
                       std::to_string(row_bytes) + " was not prepared for");
    }
    way_ = way;
    bytes_ = bytes;
    row_bytes_ = row_bytes;
    open();
    fill();
    queue();  // loads code and opens connections
    const cudaStream_t stream = first().stream->get();
    const DeviceScope scope(first().device);
    CHECK_CUDA(cudaStreamSynchronize(stream));
    graph_.capture(
        stream, [&] { queue(); }, kKeepsPriorities);
    std::vector<double> seconds;
    for (int sample = 0; sample < kSamples; ++sample) {
      give_head_start(stream);
      timer_->start(stream);
      for (int i = 0; i < kInARow; ++i) graph_.launch(stream);
      timer_->stop(stream);
      seconds.push_back(timer_->seconds() / kInARow);
    }
    return seconds;
  }

  bool is_moved() const override {
    std::vector<unsigned char> got(static_cast<std::size_t>(bytes_) + kLeastRowBytes);
    // Gathered rows are every second one.
    const std::uint64_t step = way_ == LinkWay::peer ? 2 : 1;
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      const DeviceScope scope(ends_[i]->device);
      CHECK_CUDA(cudaMemcpy(got.data(), ends_[i]->got.data(), got.size(), cudaMemcpyDeviceToHost));
      const auto is_all = [&](std::uint64_t begin, std::uint64_t size, unsigned char expected) {
        const auto first = got.begin() + static_cast<std::ptrdiff_t>(begin);
        return std::all_of(first, first + static_cast<std::ptrdiff_t>(size),
                           [&](unsigned char byte) { return byte == expected; });
      };
      for (std::uint64_t at = 0; at < bytes_; at += row_bytes_) {
        const unsigned char expected = byte_of((i + 1) % ends_.size(), step * at, row_bytes_);
        if (!is_all(at, row_bytes_, expected)) return false;
      }
      if (!is_all(bytes_, kLeastRowBytes, kUntouched)) return false;
    }
    return true;
  }

 private:
  LinkEnd& first() const { return *ends_.front(); }
  const LinkEnd& next(std::size_t i) const { return *ends_[(i + 1) % ends_.size()]; }

  void open() {
    if (way_ != LinkWay::nccl) {
      for (std::size_t i = 0; i < ends_.size(); ++i) let_read(ends_[i]->device, next(i).device);
      return;
    }
    if (!lines_.empty()) return;
    if (nccl_ == nullptr) nccl_ = &nccl_library();
    NcclId id = {};
    require_nccl(*nccl_, nccl_->get_unique_id(&id), "ncclGetUniqueId", 0);
    const int count = static_cast<int>(ends_.size());
    for (int i = 0; i < count; ++i) lines_.push_back(std::make_unique<NcclRank>(*nccl_, i));
    nccl_group(*nccl_, 0, [&] {
      for (std::size_t i = 0; i < ends_.size(); ++i) {
        const DeviceScope scope(ends_[i]->device);
        lines_[i]->join(count, id);
      }
    });
  }

  /// Fills each GPU's rows with its own pattern, and picks the rows to read.
  void fill() {
    const std::uint64_t rows = bytes_ / row_bytes_;
    std::vector<unsigned char> bytes(2 * static_cast<std::size_t>(bytes_));
    std::vector<Index> numbers(static_cast<std::size_t>(rows));
    for (std::uint64_t row = 0; row < rows; ++row) {
      numbers[static_cast<std::size_t>(row)] =
          static_cast<Index>(2 * row + below(random_word(1, row), 2));
    }
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      LinkEnd& end = *ends_[i];
      const DeviceScope scope(end.device);
      for (std::uint64_t at = 0; at < bytes.size(); at += row_bytes_) {
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), row_bytes_,
                    byte_of(i, at, row_bytes_));
      }
      CHECK_CUDA(cudaMemcpy(end.given.data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
      CHECK_CUDA(cudaMemcpy(end.numbers.data(), numbers.data(), numbers.size() * sizeof(Index),
                            cudaMemcpyHostToDevice));
      CHECK_CUDA(cudaMemset(end.got.data(), kUntouched, bytes_ + kLeastRowBytes));
      CHECK_CUDA(cudaDeviceSynchronize());  // the streams do not wait for the default one
    }
  }

  /// All streams fork from the first one and join it, so that one capture holds all.
  void queue() {
    {
      const DeviceScope scope(first().device);
      start_->record(first().stream->get());
    }
    for (const auto& end : ends_) {
      const DeviceScope scope(end->device);
      CHECK_CUDA(cudaStreamWaitEvent(end->stream->get(), start_->get()));
    }
    if (way_ == LinkWay::nccl) {
      queue_messages();
    } else {
      for (std::size_t i = 0; i < ends_.size(); ++i) queue_read(*ends_[i], next(i));
    }
    for (const auto& end : ends_) {
      const DeviceScope scope(end->device);
      end->done->record(end->stream->get());
    }
    const DeviceScope scope(first().device);
    for (const auto& end : ends_) {
      CHECK_CUDA(cudaStreamWaitEvent(first().stream->get(), end->done->get()));
    }
  }

  void queue_read(const LinkEnd& end, const LinkEnd& owner) const {
    const DeviceScope scope(end.device);
    if (way_ == LinkWay::copy) {
      CHECK_CUDA(cudaMemcpyAsync(end.got.data(), owner.given.data(), bytes_,
                                 cudaMemcpyDeviceToDevice, end.stream->get()));
      return;
    }
    gather_far_rows(owner.given.data(), reinterpret_cast<const Index*>(end.numbers.data()),
                    static_cast<Index>(bytes_ / row_bytes_), static_cast<Offset>(row_bytes_),
                    end.got.data(), FarReads::alone, end.stream->get());
  }

  void queue_messages() const {
    const std::size_t count = ends_.size();
    nccl_group(*nccl_, 0, [&] {
      for (std::size_t i = 0; i < count; ++i) {
        const cudaStream_t stream = ends_[i]->stream->get();
        lines_[i]->send(ends_[i]->given.data(), bytes_, static_cast<int>((i + count - 1) % count),
                        stream);
        lines_[i]->receive(ends_[i]->got.data(), bytes_, static_cast<int>((i + 1) % count), stream);
      }
    });
  }

  std::uint64_t most_bytes_;
  const NcclLibrary* nccl_;
  std::vector<std::unique_ptr<LinkEnd>> ends_;
  // one for each end, made with the first exchange over NCCL
  std::vector<std::unique_ptr<NcclRank>> lines_;
  LinkWay way_ = LinkWay::copy;
  std::uint64_t bytes_ = 0, row_bytes_ = kLeastRowBytes;
  std::unique_ptr<Mark> start_;
  std::unique_ptr<GpuTimer> timer_;
  Graph graph_;  // destroyed before the communicators that it uses
};

}  // namespace

std::unique_ptr<DeviceLinks> make_device_links(const std::vector<int>& devices,
                                               std::uint64_t most_bytes) {
  return make_device_links(devices, most_bytes, nullptr);
}

std::unique_ptr<DeviceLinks> make_device_links(const std::vector<int>& devices,
                                               std::uint64_t most_bytes, const NcclLibrary* nccl) {
  return std::make_unique<GpuLinks>(devices, most_bytes, nccl);
}

}  // namespace csrkit::gpu
