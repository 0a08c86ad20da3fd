// Seconds of every sort on a GPU, for every distribution: one JSON record per case on stdout.
//   measure_gpu [--size N] [--only SORT] [--repeat N]
// Sorts take turns; the first run of each is discarded, and checked against std::stable_sort in
// room that was poisoned. Ends with 1 if a result is wrong, or if a part of regular sampling is
// above twice the mean although keys differ.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/device_info.h"
#include "gpu/device/streams/stream.h"
#include "gpu/device/timing/gpu_timer.h"
#include "studies/parallel_sorts/gpu_sorts.h"

namespace csrkit::studies {

namespace {

class Bench {
 public:
  explicit Bench(const Entries& input)
      : stream_(nullptr),
        memory_(0, stream_.get(), 0),
        input_(memory_, static_cast<Offset>(input.size())) {
    for (const Entry& entry : input) {
      keys_.push_back(entry.key);
      payloads_.push_back(entry.payload);
    }
    copy(input_.keys, keys_.data());
    copy(input_.payloads, payloads_.data());
    stream_.wait();
    Entries sorted = input;
    std::stable_sort(sorted.begin(), sorted.end());
    for (const Entry& entry : sorted) {
      expected_keys_.push_back(entry.key);
      expected_payloads_.push_back(entry.payload);
    }
  }

  /// Seconds of one run, from entries on the device to sorted ones.
  double run(const GpuSort& sort, bool is_checked = false, bool* is_right = nullptr) {
    DeviceEntries entries(memory_, input_.size());
    copy(entries.keys, input_.keys.data());
    copy(entries.payloads, input_.payloads.data());
    poison_room_of_scratch();
    timer_.start(stream_.get());
    load_ = sort.sort(entries, memory_);
    timer_.stop(stream_.get());
    const double seconds = timer_.seconds();
    if (is_checked) *is_right = is_sorted(entries, sort.is_stable);
    return seconds;
  }

  /// Of the last run.
  LoadRatio load() const { return load_; }

  /// Most entries of one key.
  double longest_run_of_equals() const {
    std::size_t longest = 0, begin = 0;
    for (std::size_t i = 0; i <= expected_keys_.size(); ++i) {
      if (i == expected_keys_.size() || expected_keys_[i] != expected_keys_[begin]) {
        longest = std::max(longest, i - begin);
        begin = i;
      }
    }
    return static_cast<double>(longest);
  }

 private:
  void copy(const gpu::DeviceBuffer<std::uint64_t>& to, const std::uint64_t* from) {
    CHECK_CUDA(cudaMemcpyAsync(to.data(), from, to.size_bytes(), cudaMemcpyDefault, stream_.get()));
  }

  /// What a sort does not write must not look like a result of the run before: the pool hands out
  /// the same room again.
  void poison_room_of_scratch() {
    const DeviceEntries scratch(memory_, input_.size());
    for (const auto* room : {&scratch.keys, &scratch.payloads}) {
      CHECK_CUDA(cudaMemsetAsync(room->data(), 0xff, room->size_bytes(), stream_.get()));
    }
  }

  bool is_sorted(const DeviceEntries& entries, bool is_stable) const {
    std::vector<std::uint64_t> keys(keys_.size()), payloads(keys_.size());
    CHECK_CUDA(cudaMemcpy(keys.data(), entries.keys.data(), entries.keys.size_bytes(),
                          cudaMemcpyDeviceToHost));
    CHECK_CUDA(cudaMemcpy(payloads.data(), entries.payloads.data(), entries.payloads.size_bytes(),
                          cudaMemcpyDeviceToHost));
    if (keys != expected_keys_) return false;
    if (is_stable) return payloads == expected_payloads_;
    // Every payload once, beside its key; payloads are the positions of the input.
    std::vector<bool> is_seen(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (payloads[i] >= keys.size() || is_seen[payloads[i]] || keys_[payloads[i]] != keys[i]) {
        return false;
      }
      is_seen[payloads[i]] = true;
    }
    return true;
  }

  gpu::Stream stream_;
  gpu::DeviceMemory memory_;
  DeviceEntries input_;
  std::vector<std::uint64_t> keys_, payloads_, expected_keys_, expected_payloads_;
  gpu::GpuTimer timer_;
  LoadRatio load_ = 0;
};

/// False if a result is wrong.
bool measure(const std::string& distribution, std::int64_t size, const std::string& only,
             int repeat) {
  Bench bench(make_entries(distribution, size, 1));
  std::vector<const GpuSort*> asked;
  for (const GpuSort& sort : gpu_sorts()) {
    if (size <= sort.largest_measured && (only.empty() || only == sort.name)) {
      asked.push_back(&sort);
    }
  }
  std::vector<LoadRatio> loads;
  for (const GpuSort* sort : asked) {
    bool is_right = false;
    bench.run(*sort, true, &is_right);
    if (!is_right) {
      std::fprintf(stderr, "%s, %s, %lld entries: not sorted\n", sort->name, distribution.c_str(),
                   static_cast<long long>(size));
      return false;
    }
    loads.push_back(bench.load());
    const double runs = std::ceil(static_cast<double>(size) / kRun);
    const double equals = bench.longest_run_of_equals() * runs / static_cast<double>(size);
    if (std::strcmp(sort->name, "sample") == 0 && bench.load() > 2 + equals) {
      std::fprintf(stderr, "sample, %s: a part of %.3f times the mean\n", distribution.c_str(),
                   bench.load());
      return false;
    }
  }
  std::vector<std::vector<double>> seconds(asked.size());
  for (int run = 0; run < repeat; ++run) {
    for (std::size_t i = 0; i < asked.size(); ++i) seconds[i].push_back(bench.run(*asked[i]));
  }
  for (std::size_t i = 0; i < asked.size(); ++i) {
    std::printf(R"({"distribution": "%s", "size": %lld, "sort": "%s", "load": %.4g, "seconds": [)",
                distribution.c_str(), static_cast<long long>(size), asked[i]->name, loads[i]);
    for (std::size_t run = 0; run < seconds[i].size(); ++run) {
      std::printf("%s%.5g", run == 0 ? "" : ", ", seconds[i][run]);
    }
    std::printf("]}\n");
  }
  std::fflush(stdout);
  return true;
}

}  // namespace

}  // namespace csrkit::studies

int main(int argc, char** argv) try {
  std::int64_t size = 1 << 16;
  int repeat = 7;
  std::string only;
  bool is_usage_right = argc % 2 == 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string word = argv[i];
    if (word == "--size") {
      size = std::atoll(argv[i + 1]);
    } else if (word == "--repeat") {
      repeat = std::atoi(argv[i + 1]);
    } else if (word == "--only") {
      only = argv[i + 1];
    } else {
      is_usage_right = false;
    }
  }
  if (!is_usage_right || size < 1 || repeat < 1) {
    std::fprintf(stderr, "usage: %s [--size N] [--only SORT] [--repeat N], N at least 1\n",
                 argv[0]);
    return 2;
  }
  csrkit::gpu::require_device(0);
  for (const std::string& distribution : csrkit::studies::distributions()) {
    if (!csrkit::studies::measure(distribution, size, only, repeat)) return 1;
  }
  return 0;
} catch (const csrkit::NoDeviceError& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 6;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 70;
}
