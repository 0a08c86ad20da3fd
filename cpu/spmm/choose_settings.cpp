#include "cpu/spmm/choose_settings.h"

#include <algorithm>
#include <optional>

#include "cpu/common/instruction_set.h"
#include "cpu/spmm/reads_of_b.h"

namespace csrkit::cpu {

namespace {

/// A slice of B's rows must be worth the walk along A that it costs: 8 bytes of A per entry against
/// 256 of B.
constexpr Index kTileBytes = 256;
constexpr Offset kPrefetchBytes = 4096;
/// Above this, most rows of B come from somewhere else than the caches next to the core.
constexpr double kScattered = 0.5;
/// Where neighbouring rows share columns, a thread reads its own part of B again and again. The
/// machine keeps up without prefetches while that is below this many times the cores' own caches.
constexpr std::uint64_t kCachesOfSharedB = 12;
/// The limit is kCachesOfShortRows times where a row of A has fewer than kFewNonzeros nonzeros on
/// average, more than the part kSharesFewer of them need a row of B that was not read shortly
/// before, and such a row has two lines or more. Measured on two cores of an EPYC with 74 products
/// of four sets (docs/lab/2026-11-29-cpu-rows-ahead.md).
constexpr std::uint64_t kCachesOfShortRows = 4;
constexpr Offset kFewNonzeros = 10;
constexpr double kSharesFewer = 0.28;
/// Nonzeros per row below which rows end too often for the machine to look ahead by itself.
constexpr Offset kVeryShortRow = 4;
/// Copying B into slices pays if every thread reads a row of the copy at least this often.
constexpr Offset kReadsPerCopy = 16;
/// Where rows of B do not begin on cache lines, most loads take a line more. A copy on lines pays
/// where each thread reads a row of it this often (kReadsPerCopy, if C is a good part of what
/// moves), and several together kReadsOfCopyOnLines times: they meet at a barrier for it. Measured
/// on 16 cores of a Xeon, one and two of an EPYC (docs/lab/2026-11-29-cpu-copies-on-lines.md).
constexpr Offset kReadsPerCopyOnLines = 11, kReadsOfCopyOnLines = 100;
/// Nonzeros per row below which C is a good part of what moves.
constexpr Offset kShortRow = 16;
/// Nonzeros per row that are worth a walk along A for every slice, where B is in a shared cache:
/// few where slices are many, which bring more.
constexpr Offset kWorthWalks = 12, kWorthManyWalks = 4;
constexpr Index kManySlices = 4;
/// A last level of at most this size counts as near its cores: from there, slices of B come no
/// faster than B. So it is with two cores of an EPYC (32 MiB), and is not with a Xeon's 300 MB
/// (docs/lab/2026-11-29-cpu-caches.md); between them nothing was measured.
constexpr std::uint64_t kNearLastLevel = 64 << 20;
/// Rows of C that do not begin on cache lines wait in the first cache until there are whole lines
/// of them. That pays where C is this many times what the caches have room for. It costs short rows
/// more than it brings where few cores share the way to memory. Measured on 16 cores of a Xeon and
/// two of an EPYC (docs/lab/2026-11-29-cpu-odd-rows.md).
constexpr double kRoomsOfOddRows = 1.5;
constexpr std::uint64_t kShortestStagedRow = 256;
/// Above this part, a thread reads rows of B that lie beside each other, whose lines the machine
/// fetches ahead: slices would tear them.
constexpr double kInRuns = 0.3;
/// Slices bring a row of B nearer for its next read. So a thread must read it this often on
/// average,
constexpr double kReadsWorthSlices = 1.25;
/// and what it reads must be more than this share of the core's own cache.
constexpr double kWorthSlices = 0.7;

/// Bands of columns of A: so many that a band's rows of B, as wide as a block of columns, have room
/// in the first cache, but no more than leave pieces of rows that are worth their sums' way to a
/// cache and back: kPieceBytes of B and kShortestPiece entries. A band must be nearer than B: of at
/// most 2 kBandBytes where the core's own cache holds B, else of half of that cache. They pay where
/// a row alone reads more of B than the first cache holds, and each thread reads a row of B often,
/// more so beside few columns. Measured on 16 cores of a Xeon and two of an EPYC
/// (docs/lab/2026-11-30-cpu-bands-of-columns.md).
constexpr double kBandBytes = 24 << 10;
constexpr double kPieceBytes = 5120, kShortestPiece = 8;
constexpr double kRowFillsFirstCache = 40 << 10;
constexpr double kReadsWorthBands = 11, kReadsWorthNarrowBands = 20;
constexpr double kNarrowBlock = 256;  // bytes

/// Rows with the same columns are made together where a row of B has at least kWorthJoining bytes
/// and a row of A at least kWorthJoiningEntries entries on average.
constexpr std::uint64_t kWorthJoining = 128;
constexpr Offset kWorthJoiningEntries = 12;
/// Where such rows come in twos and threes (fewer than kFewAlike on average), a row of B needs more
/// bytes.
constexpr std::uint64_t kWorthJoiningFew = 512;
constexpr double kFewAlike = 3.5;

std::uint64_t row_bytes(Index cols, ValueKind kind) {
  return static_cast<std::uint64_t>(cols) * static_cast<std::uint64_t>(size_of(kind));
}

/// The settings for one problem, decided one after the other: slices of B, then prefetches, then
/// stores of C.
class Choice {
 public:
  Choice(const CsrMatrix& op_a, const SpmmProblem& problem, int threads, const CacheSizes& caches,
         bool may_band)
      : op_a_(op_a),
        problem_(problem),
        threads_(threads),
        caches_(caches),
        fresh_(fresh_rows_of_b(op_a_)),
        is_scattered_(fresh_ > kScattered),
        b_row_bytes_(row_bytes(problem_.dense_cols, problem_.b)),
        read_again_(rows_of_b() * b_row_bytes_),
        why_(is_scattered_ ? "rows of A share few columns"
                           : "neighbouring rows of A share columns") {
    if (may_band) choose_bands();
    choose_slices();
    choose_prefetches();
    choose_stores();
  }

  const Settings& settings() const { return settings_; }
  const std::string& why() const { return why_; }

 private:
  std::uint64_t rows_of_b() const { return static_cast<std::uint64_t>(op_a_.cols()); }
  /// What one can count on of a core's own cache, and of the last level.
  std::uint64_t own_cache() const { return caches_.private_bytes / 4 * 3; }
  std::uint64_t shared_cache() const { return caches_.last_level_bytes / 4; }
  bool last_level_is_near() const { return caches_.last_level_bytes <= kNearLastLevel; }
  std::uint64_t most_packed_bytes() const { return 2 * caches_.private_bytes; }

  void pack_b(std::uint64_t read_again) {
    settings_.packs_b = true;
    read_again_ = read_again;
  }

  /// Bytes of a row of B that a block of columns reads at once.
  double block_bytes() const {
    const double most = chosen_isa() == Isa::avx512 ? 1024 : chosen_isa() == Isa::avx2 ? 256 : 192;
    return std::min(static_cast<double>(b_row_bytes_), most);
  }

  void choose_bands() {
    if (!may_have_bands(problem_) || op_a_.nnz() == 0) return;
    const double block = block_bytes();
    const double row = static_cast<double>(op_a_.nnz()) / op_a_.rows();
    const double reads = static_cast<double>(op_a_.nnz()) / op_a_.cols() / threads_;
    if (row * block < kRowFillsFirstCache ||
        reads < (block < kNarrowBlock ? kReadsWorthNarrowBands : kReadsWorthBands)) {
      return;
    }
    const double b_bytes = op_a_.cols() * block;
    const double most = row / std::max(kShortestPiece, kPieceBytes / block);
    const double bands = std::floor(std::min(b_bytes / kBandBytes, most));
    const double most_of_band = b_bytes <= static_cast<double>(own_cache())
                                    ? 2 * kBandBytes
                                    : static_cast<double>(caches_.private_bytes) / 2;
    if (bands < 2 || b_bytes / bands > most_of_band) return;
    settings_.bands = static_cast<Index>(bands);
    settings_.rows.stages_c = false;
    why_ += ", bands of columns are nearer than B";
  }

  void choose_slices() {
    // In columns, a multiple of 64 as the inner loops want it.
    const Index tile_cols = std::max<Index>(64, kTileBytes / size_of(problem_.b));
    const std::uint64_t slice_bytes = rows_of_b() * row_bytes(tile_cols, problem_.b);
    const bool pays_copies =
        is_scattered_ && op_a_.nnz() >= kReadsPerCopy * op_a_.cols() * threads_;
    const std::uint64_t whole_lines =
        (b_row_bytes_ + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
    if (whole_lines != b_row_bytes_ && pays_copy_on_lines(whole_lines)) {
      pack_b(rows_of_b() * whole_lines);
      why_ += ", rows of B begin on cache lines once copied";
    } else if (settings_.bands > 1) {
      // Bands do what slices would.
    } else if (has_short_rows() && !rows_of_c_lie_on_lines() && pays_staging() &&
               c_fills_caches()) {
      // C is most of what moves, and goes past the caches in whole rows only.
    } else if (pays_copies && problem_.dense_cols >= tile_cols && slice_bytes > own_cache() &&
               slice_bytes / 2 <= caches_.private_bytes / 8 * 7) {
      // A slice of half the width fits the core's own cache, and nothing else will.
      settings_.tile_cols = tile_cols / 2;
      pack_b(slice_bytes / 2);
      why_ += ", narrow slices of B are nearer than B once packed";
    } else if (slices_are_nearer(tile_cols, slice_bytes, pays_copies)) {
      settings_.tile_cols = tile_cols;
      why_ += ", slices of B are nearer than B";
      // The lines of a slice are at equal distances, so that they share few sets of the core's own
      // cache.
      if (slice_bytes <= most_packed_bytes() && pays_copies) {
        pack_b(slice_bytes);
        why_ += " once packed";
      }
    }
  }

  /// Whether the threads read a copy of B with rows on cache lines often enough, and what one of
  /// them reads of it stays next to its core.
  bool pays_copy_on_lines(std::uint64_t line_bytes) {
    const Offset of_thread = has_short_rows() ? kReadsPerCopy : kReadsPerCopyOnLines;
    const Offset of_all = threads_ == 1 ? kReadsPerCopy : kReadsOfCopyOnLines;
    const Offset reads = std::max(of_thread * threads_, of_all);
    return op_a_.nnz() > 0 && op_a_.nnz() >= reads * op_a_.cols() &&
           static_cast<std::uint64_t>(rows_read()) * line_bytes <= caches_.private_bytes;
  }

  /// Whether a slice of B lies in a cache where all of B does not. Rows of some length read fewer
  /// lines of B at a time from slices even where B fits the last level.
  bool slices_are_nearer(Index tile_cols, std::uint64_t slice_bytes, bool pays_copies) {
    const Index dense_cols = problem_.dense_cols;
    const std::uint64_t b_bytes = rows_of_b() * b_row_bytes_;
    const bool is_one_slice = dense_cols < 2 * tile_cols;
    if (b_bytes <= own_cache() || (is_one_slice && !(pays_copies && dense_cols > tile_cols)) ||
        !are_worth_slices()) {
      return false;
    }
    if (slice_bytes <= own_cache()) return true;
    if (is_one_slice) return false;
    if (last_level_is_near()) {
      if (!pays_copies || slice_bytes > most_packed_bytes()) return false;
    } else if (b_bytes > shared_cache()) {
      return slice_bytes <= shared_cache();
    }
    const Offset worth_walks = dense_cols < kManySlices * tile_cols ? kWorthWalks : kWorthManyWalks;
    return op_a_.nnz() >= worth_walks * op_a_.rows();
  }

  /// Whether slices of B bring its rows nearer for a thread: what it reads does not fit its core's
  /// own cache, is read more than once, and lies here and there.
  bool are_worth_slices() {
    const auto rows = static_cast<double>(rows_read());
    const double reads = static_cast<double>(op_a_.nnz()) / threads_;
    return rows * static_cast<double>(b_row_bytes_) >
               kWorthSlices * static_cast<double>(caches_.private_bytes) &&
           reads >= kReadsWorthSlices * rows && rows_of_b_in_runs(op_a_) < kInRuns;
  }

  void choose_prefetches() {
    if (settings_.bands > 1) {
      settings_.rows.prefetch_bytes = 0;
      return;
    }
    const bool keeps_up = !is_scattered_ && op_a_.nnz() >= kVeryShortRow * op_a_.rows();
    const bool sees_less = fresh_ > kSharesFewer && op_a_.nnz() < kFewNonzeros * op_a_.rows() &&
                           b_row_bytes_ >= 2 * kCacheLineBytes;
    const std::uint64_t caches = sees_less ? kCachesOfShortRows : kCachesOfSharedB;
    const std::uint64_t near = keeps_up ? caches * private_bytes() : caches_.private_bytes;
    bool is_far = read_again_ > near;
    if (is_far && settings_.tile_cols == 0 && !settings_.packs_b) {
      // What a thread reads and writes in every multiplication may stay next to its core, however
      // large B is.
      const auto of_b = static_cast<std::uint64_t>(rows_read());
      is_far = of_b * b_row_bytes_ + (c_bytes() + a_bytes()) / threads() > caches_.private_bytes;
    }
    settings_.rows.prefetch_bytes = is_far ? kPrefetchBytes : 0;
  }

  /// C goes past the caches if it would fill them.
  void choose_stores() {
    if (!c_fills_caches()) return;
    if (settings_.bands == 1) settings_.rows.stages_c = pays_staging();
    const bool goes_in_whole_rows = rows_of_c_lie_on_vectors() || settings_.rows.stages_c;
    if (!rows_of_c_lie_on_lines() && (settings_.tile_cols > 0 || !goes_in_whole_rows)) return;
    settings_.rows.streams_c = true;
    why_ += ", C would fill the caches next to the cores";
  }

  /// Whether C would be evicted anyhow before it is written again, or is much of the traffic and
  /// would take two fifths of the room that B's rows have, and they need it. Few cores leave a
  /// large shared cache room for more, above all where a row is but a few lines. Other semirings
  /// write C through the caches, whatever its size.
  bool c_fills_caches() {
    if (problem_.semiring != Semiring::plus_times) return false;
    const std::uint64_t shared =
        caches_.last_level_bytes / (c_row_bytes() <= 256 ? 12 : 24) / threads();
    const std::uint64_t own = has_short_rows() ? private_bytes() / 5 * 2 : private_bytes() / 2 * 3;
    if (c_bytes() <= std::max(shared, own)) return false;
    return !has_short_rows() || !leaves_room_for_b();
  }

  bool has_short_rows() const { return op_a_.nnz() < kShortRow * op_a_.rows(); }
  std::uint64_t c_row_bytes() const { return row_bytes(problem_.dense_cols, problem_.c); }
  /// Whether rows of C can go from registers past the caches; rounded to 16 bits they cannot. Where
  /// they lie on vectors, lines that two rows share are whole once both are made.
  bool rows_of_c_lie_on_lines() const {
    return c_row_bytes() % kCacheLineBytes == 0 && size_of(problem_.c) >= 4;
  }
  bool rows_of_c_lie_on_vectors() const {
    const std::uint64_t vector_bytes = chosen_isa() == Isa::avx512 ? 64 : 32;
    return c_row_bytes() % vector_bytes == 0 && size_of(problem_.c) >= 4;
  }
  /// Whether C is so large that it pays to make its rows in the first cache and copy them past the
  /// others.
  bool pays_staging() const {
    const std::uint64_t shortest = last_level_is_near() ? kShortestStagedRow : 0;
    return c_row_bytes() >= shortest && c_row_bytes() <= kStagedBytes &&
           static_cast<double>(c_bytes()) >= kRoomsOfOddRows * room();
  }

  /// Whether C and what is read beside it, A and the rows of B that each thread reads, have room in
  /// the caches. What is read counts as often as a row of B is read, up to four times, as that is
  /// how often C would be in its way.
  bool leaves_room_for_b() {
    constexpr double kMostReads = 4;
    if (static_cast<double>(c_bytes()) > room()) return false;
    const double b_rows = static_cast<double>(rows_read()) * threads_;
    const double reads =
        std::min(static_cast<double>(op_a_.nnz()) / std::max(b_rows, 1.0), kMostReads);
    const double read_bytes =
        b_rows * static_cast<double>(b_row_bytes_) + static_cast<double>(a_bytes());
    return static_cast<double>(c_bytes()) + reads * read_bytes <= room();
  }

  /// Twice the cores' own caches: the next one, which holds what these do not, is still nearer than
  /// memory. More where the last level is near: one thread writes 75 GB/s to that of an EPYC and 27
  /// past it, two 140, and past it no more than one. What more of them do was not measured: the
  /// room falls to about that of their own caches where eight share a last level.
  double room() const {
    constexpr double kOwnCaches = 2;       // measured on 16 cores of a Xeon with 2 MB each
    constexpr double kOfLastLevel = 0.75;  // measured on one and two cores of an EPYC with 32 MB
    const double own = kOwnCaches * static_cast<double>(private_bytes());
    if (!last_level_is_near()) return own;
    const double last_levels = std::min(caches_.last_levels, threads_);
    const double sharers = threads_ / last_levels;
    return std::max(own, kOfLastLevel * std::min(sharers, 4 / sharers) * last_levels *
                             static_cast<double>(caches_.last_level_bytes));
  }

  /// Of B, by a thread: counted once.
  Index rows_read() {
    if (!rows_read_) rows_read_ = rows_of_b_per_thread(op_a_, threads_);
    return *rows_read_;
  }

  std::uint64_t threads() const { return static_cast<std::uint64_t>(threads_); }
  std::uint64_t private_bytes() const { return caches_.private_bytes * threads(); }
  /// About: as if values had four bytes.
  std::uint64_t a_bytes() const {
    return static_cast<std::uint64_t>(op_a_.nnz()) * (sizeof(Index) + sizeof(float));
  }
  std::uint64_t c_bytes() const { return static_cast<std::uint64_t>(op_a_.rows()) * c_row_bytes(); }

  const CsrMatrix& op_a_;
  const SpmmProblem& problem_;
  int threads_;
  CacheSizes caches_;
  double fresh_;  // the part of A's entries whose row of B was not read shortly before
  bool is_scattered_;
  std::uint64_t b_row_bytes_;
  std::optional<Index> rows_read_;
  std::uint64_t read_again_;  // bytes of B between two reads of one of its rows
  Settings settings_;
  std::string why_;
};

/// A copy of all of B moves rows to cache lines, so it gains nothing where they begin there.
/// Slices of the narrowest width share too few sets of a cache where they lie.
bool slices_are_worth_measuring(const Settings& settings, const SpmmProblem& problem) {
  if (settings.tile_cols >= problem.dense_cols) return false;
  if (!settings.packs_b) return settings.tile_cols != kNarrowestTile;
  return settings.tile_cols > 0 || row_bytes(problem.dense_cols, problem.b) % kCacheLineBytes != 0;
}

}  // namespace

Settings default_settings(const CsrMatrix& op_a, const SpmmProblem& problem, int threads,
                          const CacheSizes& caches, bool may_band, std::string* why) {
  const Choice choice(op_a, problem, threads, caches, may_band);
  *why = choice.why();
  return choice.settings();
}

bool may_pay_joining(const CsrMatrix& op_a, const SpmmProblem& problem) {
  return problem.semiring == Semiring::plus_times &&
         row_bytes(problem.dense_cols, problem.b) >= kWorthJoining &&
         op_a.nnz() >= kWorthJoiningEntries * op_a.rows();
}

bool pays_joining(const AlikeRows& alike, const CsrMatrix& op_a, const SpmmProblem& problem,
                  bool has_bands) {
  if (!may_pay_joining(op_a, problem) || !are_worth_joining(alike, op_a)) return false;
  const bool are_few =
      static_cast<double>(alike.entries) < kFewAlike * static_cast<double>(alike.of_firsts);
  return !are_few || (!has_bands && row_bytes(problem.dense_cols, problem.b) >= kWorthJoiningFew);
}

std::vector<std::string> candidate_variants(const SpmmProblem& problem) {
  const bool joins = !problem.transpose_a && may_pay_joining(problem.a, problem) &&
                     pays_joining(find_alike_rows(problem.a, 1), problem.a, problem, false);
  std::vector<std::string> candidates;
  for (const Offset entries : {12, 24, 48}) {  // of a piece
    const Offset bands = problem.a.nnz() / (std::max<Index>(1, problem.a.rows()) * entries);
    if (bands < 2 || problem.transpose_a || !may_have_bands(problem)) continue;
    candidates.push_back(text_of({0, {0}, false, false, static_cast<Index>(bands)}));
  }
  const auto add = [&](const Settings& settings) {
    if (settings.joins_rows && !joins) return;
    if (slices_are_worth_measuring(settings, problem)) candidates.push_back(text_of(settings));
  };
  for (const Index tile_cols : {0, kNarrowestTile, 2 * kNarrowestTile}) {
    for (const Offset prefetch_bytes : {0, 4096, 8192}) {
      for (const bool streams_c : {false, true}) {
        for (const bool packs_b : {false, true}) {
          for (const bool joins_rows : {false, true}) {
            add({tile_cols, {prefetch_bytes, streams_c}, packs_b, joins_rows});
          }
        }
      }
    }
  }
  return candidates;
}

}  // namespace csrkit::cpu
