// Prints millions of keys per second for every distribution, sort and number of threads.
//   measure [--size N]        the best of five runs; quadratic sorts up to 20,000 keys only
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "studies/parallel_sorts/sorts.h"

namespace {

using namespace csrkit::studies;

constexpr std::int64_t kQuadraticLimit = 20000;
constexpr int kRepeats = 5;

template <class Prepare, class Run>
double best_seconds(Prepare&& prepare, Run&& run) {
  double best = 1e300;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    auto input = prepare();
    const auto begin = std::chrono::steady_clock::now();
    run(input);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    if (taken.count() < best) best = taken.count();
  }
  return best;
}

void print_rate(std::int64_t size, double seconds) {
  std::printf(" | %9.1f", 1e-6 * static_cast<double>(size) / seconds);
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t size = 1 << 16;
  if (argc == 3 && std::strcmp(argv[1], "--size") == 0) size = std::atoll(argv[2]);
  if (argc == 2 || argc > 3 || size < 1) {
    std::fprintf(stderr, "usage: measure [--size N], N at least 1\n");
    return 2;
  }
  std::printf("%lld keys with 8 bytes of payload, million keys per second\n\n",
              static_cast<long long>(size));
  std::printf("| distribution   | threads");
  for (const Sort& sort : sorts()) std::printf(" | %9s", sort.name);
  std::printf(" | core/sort |\n|----------------|--------");
  for (std::size_t i = 0; i <= sorts().size(); ++i) std::printf("|----------:");
  std::printf("|\n");
  for (const std::string& distribution : distributions()) {
    const Entries entries = make_entries(distribution, size, 1);
    for (const int threads : {1, 2}) {
      std::printf("| %-14s | %7d", distribution.c_str(), threads);
      for (const Sort& sort : sorts()) {
        if ((sort.is_quadratic && size > kQuadraticLimit) || (!sort.is_parallel && threads > 1)) {
          std::printf(" | %9s", "-");
          continue;
        }
        print_rate(size, best_seconds([&] { return entries; },
                                      [&](Entries& input) { sort.sort(input, threads); }));
      }
      print_rate(size, best_seconds([&] { return PreparedCoo(entries); },
                                    [&](PreparedCoo& input) { input.convert(threads); }));
      std::printf(" |\n");
      std::fflush(stdout);
    }
  }
  return 0;
}
