#include "ranks/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "core/base/buffer.h"
#include "core/base/huge_pages.h"

namespace csrkit::ranks {

namespace {

class OfThreads : public SharedMemory {
 public:
  explicit OfThreads(std::uint64_t bytes) : bytes_(static_cast<Offset>(bytes)) {
    advise_huge_pages(bytes_.data(), bytes_.size_bytes());
  }
  void* data() const override { return const_cast<char*>(bytes_.data()); }
  void take(std::uint64_t begin, std::uint64_t end) override {
    if (begin < end) std::memset(bytes_.data() + begin, 0, end - begin);
  }

 private:
  Buffer<char> bytes_;
};

/// A file of the system's memory, without a name: gone with the last process that has it.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

/// A file in memory gets large pages only if file and addresses are both aligned to them.
constexpr std::uint64_t kLargePage = 2 << 20;
std::uint64_t whole_pages(std::uint64_t bytes) {
  return (std::max<std::uint64_t>(bytes, 1) + kLargePage - 1) / kLargePage * kLargePage;
}

class OfProcesses : public SharedMemory {
 public:
  OfProcesses(const Descriptor& file, std::uint64_t bytes)
      : bytes_(whole_pages(bytes)),
        reserved_(::mmap(nullptr, bytes_ + kLargePage, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (reserved_ == MAP_FAILED) fail();
    const auto at = reinterpret_cast<std::uintptr_t>(reserved_);
    data_ = static_cast<char*>(reserved_) + (whole_pages(at) - at);
    if (::mmap(data_, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.number(), 0) ==
        MAP_FAILED) {
      ::munmap(reserved_, bytes_ + kLargePage);
      fail();
    }
  }
  ~OfProcesses() override { ::munmap(reserved_, bytes_ + kLargePage); }
  void* data() const override { return data_; }
  /// Files in memory have small pages by default, and with those most reads of a row of B miss the
  /// TLB. MADV_COLLAPSE gives them large pages all the same (Linux 6.1). A page belongs to the rank
  /// that has its first byte.
  void take(std::uint64_t begin, std::uint64_t end) override {
    if (begin >= end) return;
    std::memset(static_cast<char*>(data_) + begin, 0, end - begin);
    const std::uint64_t first = begin == 0 ? 0 : whole_pages(begin);
    const std::uint64_t last = whole_pages(end);
    if (first < last) (void)::madvise(static_cast<char*>(data_) + first, last - first, kCollapse);
  }

 private:
  static constexpr int kCollapse = 25;  // MADV_COLLAPSE, which older headers lack

  [[noreturn]] static void fail() {
    throw IoError(std::string("shared memory: ") + std::strerror(errno));
  }

  std::size_t bytes_;
  void* reserved_;
  void* data_ = nullptr;
};

/// Equal for ranks of one host: its boot, and the name space of process numbers.
std::string system_of_this_process() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  char space[64] = {};
  const ssize_t length = ::readlink("/proc/self/ns/pid", space, sizeof space - 1);
  return boot + " " + std::string(space, length > 0 ? static_cast<std::size_t>(length) : 0);
}

/// What ranks tell each other: where the group's first rank made the memory, or why it could not.
struct Told {
  std::string where, failure;
  std::string packed() const { return where + '\n' + failure; }
  static Told from(const std::string& text) {
    const std::size_t end = text.find('\n');
    return {text.substr(0, end), text.substr(end + 1)};
  }
};

std::string first_failure(const std::vector<std::string>& all) {
  for (const std::string& text : all) {
    if (const Told told = Told::from(text); !told.failure.empty()) return told.failure;
  }
  return "";
}

/// What body() returns, or the message of what it threw.
template <class Body>
Told told_by(const Body& body) {
  try {
    return {body(), ""};
  } catch (const std::exception& error) {
    return {"", error.what()};
  }
}

}  // namespace

std::shared_ptr<SharedMemory> share_memory(Communicator& communicator, int group,
                                           std::uint64_t bytes, std::string* why_not) {
  const std::string process = std::to_string(::getpid());
  const std::string here = std::to_string(group) + ' ' + system_of_this_process();
  const std::vector<std::string> places = communicator.gather(here + ' ' + process);
  const auto first = std::find_if(places.begin(), places.end(), [&](const std::string& place) {
    return place.compare(0, place.find(' '), std::to_string(group)) == 0;
  });
  const auto leader = first - places.begin();
  const bool leads = leader == communicator.rank();
  const auto process_of = [](const std::string& place) { return place.substr(place.find(' ')); };
  const bool is_one_process = std::all_of(
      places.begin(), places.end(),
      [&](const std::string& place) { return process_of(place) == process_of(places.front()); });

  std::shared_ptr<SharedMemory> memory;
  std::unique_ptr<Descriptor> file;
  Told mine = told_by([&]() -> std::string {
    if (first->substr(0, first->rfind(' ')) != here) {
      throw IoError("ranks that exchange rows of B are on several hosts");
    }
    if (!leads) return "";
    if (is_one_process) {
      memory = std::make_shared<OfThreads>(bytes);
      return std::to_string(reinterpret_cast<std::uintptr_t>(&memory));
    }
    file = std::make_unique<Descriptor>(::memfd_create("csrkit", MFD_CLOEXEC));
    if (file->number() < 0 ||
        ::ftruncate(file->number(), static_cast<off_t>(whole_pages(bytes))) != 0) {
      throw IoError(std::string("shared memory: ") + std::strerror(errno));
    }
    memory = std::make_shared<OfProcesses>(*file, bytes);
    return "/proc/" + process + "/fd/" + std::to_string(file->number());
  });
  auto told = communicator.gather(mine.packed());
  mine = told_by([&]() -> std::string {
    if (leads || !first_failure(told).empty()) return "";
    const std::string where = Told::from(told[static_cast<std::size_t>(leader)]).where;
    if (is_one_process) {
      memory = *reinterpret_cast<const std::shared_ptr<SharedMemory>*>(
          static_cast<std::uintptr_t>(std::stoull(where)));
      return "";
    }
    const Descriptor opened(::open(where.c_str(), O_RDWR | O_CLOEXEC));
    struct stat seen = {};
    if (opened.number() < 0 || ::fstat(opened.number(), &seen) != 0 ||
        static_cast<std::uint64_t>(seen.st_size) != whole_pages(bytes)) {
      throw IoError("shared memory of another process cannot be opened");
    }
    memory = std::make_shared<OfProcesses>(opened, bytes);
    return "";
  });
  // The first rank keeps what the others look for until they have it.
  const auto opened = communicator.gather(mine.packed());
  *why_not = first_failure(told);
  if (why_not->empty()) *why_not = first_failure(opened);
  if (!why_not->empty()) memory.reset();
  return memory;
}

}  // namespace csrkit::ranks
