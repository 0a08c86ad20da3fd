// Prints millions of keys per second for every distribution, sort and number of threads.
//   measure [--size N] [--only SORT] the best of five runs; slow sorts up to their own limits only
// One thread is measured in processor time, which other programs on the machine disturb less, two
// threads in elapsed time.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "studies/parallel_sorts/sorts.h"

namespace {

using namespace csrkit::studies;

constexpr int kRepeats = 5;

double seconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class Prepare, class Run>
double best_seconds(int threads, Prepare&& prepare, Run&& run) {
  const clockid_t clock = threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
  double best = 1e300;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    auto input = prepare();
    const double begin = seconds_of(clock);
    run(input);
    best = std::min(best, seconds_of(clock) - begin);
  }
  return best;
}

void print_rate(std::int64_t size, double seconds) {
  std::printf(" | %9.1f", 1e-6 * static_cast<double>(size) / seconds);
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t size = 1 << 16;
  std::string only;
  bool is_usage_right = argc % 2 == 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--size") == 0) {
      size = std::atoll(argv[i + 1]);
    } else if (std::strcmp(argv[i], "--only") == 0) {
      only = argv[i + 1];
    } else {
      is_usage_right = false;
    }
  }
  std::vector<Sort> asked;
  for (const Sort& sort : sorts()) {
    if (only.empty() || only == sort.name) asked.push_back(sort);
  }
  if (!is_usage_right || size < 1 || asked.empty()) {
    std::fprintf(stderr, "usage: measure [--size N] [--only SORT], N at least 1\n");
    return 2;
  }
  std::printf("%lld keys with 8 bytes of payload, million keys per second\n\n",
              static_cast<long long>(size));
  std::printf("| distribution   | threads");
  for (const Sort& sort : asked) std::printf(" | %9s", sort.name);
  std::printf(" | core/matrix/sort |\n|----------------|--------");
  for (std::size_t i = 0; i <= asked.size(); ++i) std::printf("|----------:");
  std::printf("|\n");
  for (const std::string& distribution : distributions()) {
    const Entries entries = make_entries(distribution, size, 1);
    for (const int threads : {1, 2}) {
      std::printf("| %-14s | %7d", distribution.c_str(), threads);
      for (const Sort& sort : asked) {
        if (size > sort.largest_measured || (!sort.is_parallel && threads > 1)) {
          std::printf(" | %9s", "-");
          continue;
        }
        print_rate(size, best_seconds(
                             threads, [&] { return entries; },
                             [&](Entries& input) { sort.sort(input, threads); }));
      }
      print_rate(size, best_seconds(
                           threads, [&] { return PreparedCoo(entries); },
                           [&](PreparedCoo& input) { input.convert(threads); }));
      std::printf(" |\n");
      std::fflush(stdout);
    }
  }
  return 0;
}
