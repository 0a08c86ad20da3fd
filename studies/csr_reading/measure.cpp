// How fast a .csr file comes in, checksums and validation included, beside a plain copy of its
// bytes. Usage: measure FILE.csr [REPEATS]
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "core/file/csr_file.h"

using namespace csrkit;

namespace {

double median_seconds(int repeats, const std::function<void()>& work) {
  work();  // warm-up: the page cache holds the file from here on
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// Every thread copies its share, as the reader shares out its chunks.
void copy_bytes(const char* from, char* to, Offset bytes) {
  constexpr Offset kPiece = 1 << 20;
#pragma omp parallel for schedule(static)
  for (Offset at = 0; at < bytes; at += kPiece) {
    std::memcpy(to + at, from + at, static_cast<std::size_t>(std::min(kPiece, bytes - at)));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: measure FILE.csr [REPEATS]\n");
    return 2;
  }
  const int repeats = argc > 2 ? std::max(1, std::atoi(argv[2])) : 5;
  const double gigabytes = static_cast<double>(read_csr_header(argv[1]).file_bytes) / 1e9;
  std::printf("%-28s %10s %10s\n", "way", "seconds", "GB/s");
  const auto report = [&](const char* way, double seconds) {
    std::printf("%-28s %10.4f %10.2f\n", way, seconds, gigabytes / seconds);
  };
  CsrReadOptions options;
  options.io = FileIo::read;
  const double base_mib = peak_mib();
  report("read, checked", median_seconds(repeats, [&] { read_csr_file(argv[1], options); }));
  const double read_peak_mib = peak_mib() - base_mib;
  options.io = FileIo::mmap;
  report("mmap, checked", median_seconds(repeats, [&] { read_csr_file(argv[1], options); }));
  {
    const auto bytes = static_cast<Offset>(gigabytes * 1e9);
    Buffer<char> source(bytes);
    std::fill(source.begin(), source.end(), 'x');
    report("copy to fresh memory", median_seconds(repeats, [&] {
             Buffer<char> to(bytes);
             copy_bytes(source.data(), to.data(), bytes);
           }));
    Buffer<char> to(bytes);
    report("copy to used memory",
           median_seconds(repeats, [&] { copy_bytes(source.data(), to.data(), bytes); }));
  }
  std::printf("peak memory of read above the start: %.0f MiB, the file has %.0f MiB\n",
              read_peak_mib, gigabytes * 1e9 / (1 << 20));
  return 0;
}
