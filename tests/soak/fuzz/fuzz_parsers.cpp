// Coverage-guided fuzzing of one parser: inputs that reach new code are kept and changed further.
//
//   fuzz_parsers PARSER SECONDS RANDOM_SEED FOLDER KEPT SEED_FILE...
//       runs, and prints one line of JSON
//   fuzz_parsers PARSER --once FILE
//       repeats a finding
//   fuzz_parsers --list
//
// FOLDER takes the input that is being read, `current`, and with it any finding: a crash, a report
// of a sanitizer, an error of the wrong kind, 10 seconds of processor time, or more memory than 64
// times the input and 64 MiB. Exit code 1 then, or that of the sanitizer. A text that names a
// number from 10^6 on is left out: an empty row is legal, and costs 8 bytes however short its text
// is. Inputs that reached new code go to the folder KEPT, for the next run.
#include <omp.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "core/base/error.h"
#include "core/base/file_digest.h"
#include "tests/soak/fuzz/coverage.h"
#include "tests/soak/fuzz/mutations.h"
#include "tests/soak/fuzz/parsers.h"
#include "tools/cli/log.h"

// Of every AddressSanitizer; the header that declares them does not come with every compiler.
extern "C" {
std::size_t __sanitizer_get_current_allocated_bytes();
int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void*, std::size_t),
                                              void (*released)(const volatile void*));
}

namespace csrkit::fuzz {

namespace {

constexpr std::size_t kMostBytes = 1 << 16;
constexpr int kHangSeconds = 10;  // of processor time: a busy machine makes nothing hang

std::atomic<std::size_t> memory_limit{SIZE_MAX};

void end_with(const char* finding) {
  const ssize_t ignored = ::write(STDERR_FILENO, finding, std::strlen(finding));
  static_cast<void>(ignored);
  std::abort();  // with the stack, through the sanitizer
}

void watch_allocation(const volatile void*, std::size_t) {
  if (__sanitizer_get_current_allocated_bytes() <= memory_limit) return;
  memory_limit = SIZE_MAX;
  end_with("finding: memory above 64 times the input and 64 MiB\n");
}
void watch_release(const volatile void*) {}

void watch_time(int) {
  end_with("finding: one input takes more than 10 seconds of processor time\n");
}

bool names_large_number(const std::string& text) {
  int digits = 0;
  for (const char c : text) {
    digits = std::isdigit(static_cast<unsigned char>(c)) != 0 ? digits + 1 : 0;
    if (digits > 6) return true;
  }
  return false;
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  if (!file.flush()) throw IoError("cannot write '" + path + "'");
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw IoError("cannot read '" + path + "'");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Whether the parser took the input.
bool read_once(const Parser& parser, const std::string& path, std::size_t bytes) {
  itimerval limit{};
  limit.it_value.tv_sec = kHangSeconds;
  ::setitimer(ITIMER_PROF, &limit, nullptr);
  memory_limit = __sanitizer_get_current_allocated_bytes() + 64 * bytes + (64u << 20);
  bool is_taken = false;
  try {
    parser.read(path);
    is_taken = true;
  } catch (const InputError& error) {
    if (std::strlen(error.what()) == 0) end_with("finding: an error without a message\n");
  } catch (const MemoryError&) {
  } catch (const std::exception& error) {
    std::fprintf(stderr, "finding: an error of the wrong kind: %s\n", error.what());
    std::abort();
  }
  memory_limit = SIZE_MAX;
  limit.it_value.tv_sec = 0;
  ::setitimer(ITIMER_PROF, &limit, nullptr);
  return is_taken;
}

int fuzz(const Parser& parser, double seconds, std::uint64_t seed, const std::string& folder,
         const std::string& kept, std::vector<std::string> corpus) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  const std::string current = folder + "/current";
  RandomStream random(seed);
  std::uint64_t runs = 0, taken = 0;
  const std::size_t seeds = corpus.size();
  if (parser.pack) std::transform(corpus.begin(), corpus.end(), corpus.begin(), parser.pack);
  while (Clock::now() < end) {
    const std::string& other = corpus[random.below(corpus.size())];
    std::string input = corpus[runs < seeds ? runs : random.below(corpus.size())];
    if (runs >= seeds) input = mutated(input, other, parser.words, kMostBytes, random);
    std::string bytes = parser.unpack ? parser.unpack(input) : input;
    if (parser.sign && random.below(4) != 0) parser.sign(bytes);
    ++runs;
    if (parser.is_text && names_large_number(bytes)) continue;
    write_file(current, bytes);
    begin_coverage();
    taken += read_once(parser, current, bytes.size());
    if (!has_new_coverage()) continue;
    corpus.push_back(parser.pack ? parser.pack(bytes) : bytes);
    if (runs > seeds) write_file(kept + "/" + digest_bytes(bytes.data(), bytes.size()), bytes);
  }
  std::printf(
      "{\"parser\": \"%s\", \"runs\": %llu, \"taken\": %llu, \"kept\": %zu, \"edges\": %d}\n",
      parser.name, static_cast<unsigned long long>(runs), static_cast<unsigned long long>(taken),
      corpus.size(), covered_edges());
  return taken > 0 || runs <= seeds ? 0 : 1;  // a parser that takes nothing was not tested
}

int run(int count, char** words) {
  const std::string name = count > 1 ? words[1] : "";
  for (const Parser& parser : parsers()) {
    if (name == "--list") std::puts(parser.name);
    if (name != parser.name) continue;
    __sanitizer_install_malloc_and_free_hooks(watch_allocation, watch_release);
    std::signal(SIGPROF, watch_time);
    set_log_level(LogLevel::quiet);
    omp_set_num_threads(1);  // what is hunted here does not depend on threads
    if (count == 4 && words[2] == std::string("--once")) {
      std::puts(read_once(parser, words[3], content_of(words[3]).size()) ? "taken" : "refused");
      return 0;
    }
    if (count < 7) break;
    std::vector<std::string> corpus;
    for (int i = 6; i < count; ++i) corpus.push_back(content_of(words[i]));
    return fuzz(parser, std::atof(words[2]), std::strtoull(words[3], nullptr, 10), words[4],
                words[5], corpus);
  }
  if (name == "--list") return 0;
  std::fputs(
      "usage: fuzz_parsers PARSER SECONDS RANDOM_SEED FOLDER KEPT SEED_FILE... | PARSER --once "
      "FILE | "
      "--list\n",
      stderr);
  return 2;
}

}  // namespace

}  // namespace csrkit::fuzz

int main(int count, char** words) { return csrkit::fuzz::run(count, words); }
