// nnz_balanced: entries are cut into equal stretches, whatever rows they are in, and inner products
// are made of the machine's widest vectors.
// Owns     a stretch of neighbouring entries is one thread's; their dots wait in a buffer in L1
//          until they are scaled and stored, in whatever kind C has
// Reads    as dots_body.inc says
// Launch   every thread has a run of neighbouring stretches and helps others when it is done; every
//          entry has one order of summation, so the bits are the same for any number of threads
// Needs    nothing
// Against  row_loop: all cores, vectors, and rows of Y in flight before they are needed
#include <omp.h>

#include <algorithm>

#include "core/base/counted.h"
#include "cpu/common/caches.h"
#include "cpu/common/work_shares.h"
#include "cpu/sddmm/dots.h"

namespace csrkit::cpu::sddmm {

namespace {

/// Below this many multiply-adds a second thread costs more than it gains (measured for SpMM:
/// waking a team takes about 5 us).
constexpr double kSerialWork = 1 << 15;
/// Entries of a stretch: small ones balance the threads, large ones need few handovers.
constexpr Offset kFewest = 64, kMost = 4096, kStretchesWanted = 512;
/// Dots that wait to be stored.
constexpr Offset kWaiting = 512;
/// Rows of Y are prefetched this many bytes ahead.
constexpr Offset kBytesAhead = 4096;

template <class T>
class NnzBalanced : public SddmmMethod {
 public:
  explicit NnzBalanced(const SddmmInput& input)
      : problem_(input.problem),
        threads_(input.threads),
        isa_(chosen_isa()),
        loop_(dots_loop<T>(isa_)),
        size_(std::clamp(problem_.a.nnz() / kStretchesWanted, kFewest, kMost)),
        stretches_((problem_.a.nnz() + size_ - 1) / size_),
        ahead_(entries_ahead(problem_)),
        shares_(threads_, 1) {}

  void multiply(const SddmmCall& call) override {
    const CsrMatrix& a = problem_.a;
    const DotsJob<T> job{a.row_offsets(),    a.col_indices(), call.x.as<T>(),
                         call.x.leading_dim, call.y.as<T>(),  call.y.leading_dim,
                         call.x.cols,        ahead_,          a.nnz()};
    const bool is_parallel =
        static_cast<double>(a.nnz()) * static_cast<double>(problem_.dense_cols) > kSerialWork;
    shares_.deal(stretches_);
#pragma omp parallel num_threads(threads_) if (is_parallel)
    {
      const int thread = omp_get_thread_num();
      for (Offset n = shares_.next(0, thread); n >= 0; n = shares_.next(0, thread)) {
        make_stretch(job, call, n * size_, std::min((n + 1) * size_, a.nnz()));
      }
    }
  }

  std::string choice() const override {
    return std::string(name_of(isa_)) + ", " + std::to_string(stretches_) +
           (stretches_ == 1 ? " stretch of " : " stretches of ") + counted(size_, "entry") + ", " +
           (ahead_ > 0 ? "rows of Y asked for " + counted(ahead_, "entry") + " ahead"
                       : std::string("rows of Y in the core's cache"));
  }

 private:
  /// 0 where all of Y stays in a core's own cache.
  static Offset entries_ahead(const SddmmProblem& problem) {
    const Offset row_bytes = Offset{problem.dense_cols} * size_of(problem.x);
    const auto y_bytes =
        static_cast<std::uint64_t>(row_bytes) * static_cast<std::uint64_t>(problem.a.cols());
    if (y_bytes <= cache_sizes().private_bytes / 2) return 0;
    return std::clamp<Offset>(kBytesAhead / row_bytes, kDotsAtOnce, 8 * kDotsAtOnce);
  }

  void make_stretch(const DotsJob<T>& job, const SddmmCall& call, Offset first, Offset last) const {
    const Offset* const offsets = job.row_offsets;
    auto row = static_cast<Index>(
        std::upper_bound(offsets, offsets + problem_.a.rows() + 1, first) - offsets - 1);
    SumOf<T> dots[kWaiting + kDotsAtOnce];
    for (Offset at = first; at < last; at += kWaiting) {
      const Offset count = std::min(kWaiting, last - at);
      row = loop_(job, row, at, count, dots);
      finish(problem_, call, at, count, dots);
    }
  }

  SddmmProblem problem_;
  int threads_;
  Isa isa_;
  DotsLoop<T> loop_;
  Offset size_, stretches_, ahead_;
  WorkShares shares_;
};

}  // namespace

std::unique_ptr<SddmmMethod> make_nnz_balanced(const SddmmInput& input) {
  return with_dense_type(input.problem.x, [&](auto tag) -> std::unique_ptr<SddmmMethod> {
    return std::make_unique<NnzBalanced<typename decltype(tag)::type>>(input);
  });
}

}  // namespace csrkit::cpu::sddmm
