#include "cpu/spmm/settings.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <charconv>

#include "cpu/common/alike_rows.h"
#include "cpu/common/caches.h"

namespace csrkit::cpu {

namespace {

/// 128 bytes, or two vectors of AVX-512, of f32.
constexpr Index kNarrowestTile = 32;
constexpr std::uint64_t kLineBytes = 64;
/// A slice of B's rows must be worth the walk along A that it costs: 8 bytes of A per entry against
/// 256 of B.
constexpr Index kTileBytes = 256;
constexpr Offset kPrefetchBytes = 4096;
/// Above this, most rows of B come from somewhere else than the caches next to the core.
constexpr double kScattered = 0.5;
/// Where neighbouring rows share columns, a thread reads its own part of B again and again: below
/// so many times the caches of all cores the machine keeps up by itself.
constexpr std::uint64_t kCachesOfSharedB = 12;
/// Nonzeros per row below which rows end too often for the machine to look ahead by itself.
constexpr Offset kVeryShortRow = 4;
/// A row of B is copied once into its slices, and read there so many times or more by every thread.
constexpr Offset kReadsPerCopy = 16;
/// Nonzeros per row below which C is a good part of what moves.
constexpr Offset kShortRow = 16;
/// Nonzeros per row that are worth a walk along A for every slice, where B is in a shared cache:
/// few where slices are many, which bring more.
constexpr Offset kWorthWalks = 12, kWorthManyWalks = 4;
constexpr Index kManySlices = 4;
/// Above this part, a thread reads rows of B that lie beside each other, whose lines the machine
/// fetches ahead: slices would tear them.
constexpr double kInRuns = 0.3;
/// Slices bring a row of B nearer for its next read, so a thread must read it so many times, ...
constexpr double kReadsWorthSlices = 1.25;
/// ... and what it reads must not nearly fit the core's own cache as it is.
constexpr double kWorthSlices = 0.7;
/// The part of the rows that have the length of the row before, above which the machine foresees
/// ends.
constexpr double kForeseen = 0.7;
/// Samples of A, of neighbouring entries or rows.
constexpr Offset kSampleEntries = 4096;
constexpr Offset kMostSamples = 16;
/// Entries of a thread that are looked at one by one to find what it reads of B.
constexpr Offset kMostLookedAt = 1 << 20;

std::uint64_t row_bytes(Index cols, ValueKind kind) {
  return static_cast<std::uint64_t>(cols) * static_cast<std::uint64_t>(size_of(kind));
}

}  // namespace

double fresh_rows_of_b(const CsrMatrix& op_a) {
  // One bit per hashed column; collisions cost some per cent.
  constexpr std::size_t kSlots = std::size_t{1} << 15;
  const Offset nnz = op_a.nnz();
  if (nnz == 0) return 0;
  const Offset samples = std::clamp<Offset>(nnz / (8 * kSampleEntries), 1, kMostSamples);
  Offset seen = 0, fresh = 0;
  for (Offset n = 0; n < samples; ++n) {
    std::bitset<kSlots> named;
    const Offset begin = nnz / samples * n;
    const Offset end = std::min(begin + kSampleEntries, nnz);
    for (Offset at = begin; at < end; ++at) {
      const auto column = static_cast<std::uint32_t>(op_a.col_indices()[at]);
      const std::size_t slot = (column * 2654435761u) >> 17;  // Knuth's multiplicative hash
      if (!named[slot]) ++fresh;
      named[slot] = true;
    }
    seen += end - begin;
  }
  return static_cast<double>(fresh) / static_cast<double>(seen);
}

double rows_of_b_in_runs(const CsrMatrix& op_a) {
  constexpr Offset kRecent = 256;
  // Where a column was named last: neighbours have slots beside each other.
  constexpr std::size_t kSlots = std::size_t{1} << 13;
  struct Named {
    Index column = -1;
    Offset at = -1;
  };
  const Offset nnz = op_a.nnz();
  if (nnz == 0) return 0;
  const Offset samples = std::clamp<Offset>(nnz / (8 * kSampleEntries), 1, kMostSamples);
  std::vector<Named> named(kSlots);
  Offset fresh = 0, in_runs = 0;
  for (Offset n = 0; n < samples; ++n) {
    const Offset begin = nnz / samples * n;
    const Offset end = std::min(begin + kSampleEntries, nnz);
    const auto was_named = [&](Index column, Offset since) {
      const Named& slot = named[static_cast<std::uint32_t>(column) % kSlots];
      return slot.column == column && slot.at >= since;
    };
    for (Offset at = begin; at < end; ++at) {
      const Index column = op_a.col_indices()[at];
      if (!was_named(column, begin)) {
        const Offset recent = std::max(begin, at - kRecent);
        ++fresh;
        if (was_named(column - 1, recent) ||
            (column + 1 < op_a.cols() && was_named(column + 1, recent))) {
          ++in_runs;
        }
      }
      named[static_cast<std::uint32_t>(column) % kSlots] = {column, at};
    }
  }
  return static_cast<double>(in_runs) / static_cast<double>(fresh);
}

bool foresees_row_ends(const CsrMatrix& op_a) {
  const Offset rows = op_a.rows();
  if (rows < 2) return true;
  const Offset* const offsets = op_a.row_offsets();
  const Offset samples = std::clamp<Offset>(rows / (8 * kSampleEntries), 1, kMostSamples);
  Offset seen = 0, alike = 0;
  for (Offset n = 0; n < samples; ++n) {
    const Offset begin = std::max<Offset>(1, rows / samples * n);
    const Offset end = std::min(begin + kSampleEntries, rows);
    for (Offset row = begin; row < end; ++row) {
      if (offsets[row + 1] - offsets[row] == offsets[row] - offsets[row - 1]) ++alike;
    }
    seen += end - begin;
  }
  return static_cast<double>(alike) >= kForeseen * static_cast<double>(seen);
}

Index rows_of_b_per_thread(const CsrMatrix& op_a, int threads) {
  const Offset nnz = op_a.nnz();
  if (nnz / threads > kMostLookedAt) return op_a.cols();
  const Index* const cols = op_a.col_indices();
  std::vector<bool> is_named(static_cast<std::size_t>(op_a.cols()));
  Index named = 0;
  for (Offset at = nnz * (threads / 2) / threads; at < nnz * (threads / 2 + 1) / threads; ++at) {
    auto is_there = is_named[static_cast<std::size_t>(cols[at])];
    if (!is_there) ++named;
    is_there = true;
  }
  return named;
}

namespace {

/// Whether slices of B bring its rows nearer for a thread: what it reads does not fit its core's
/// own cache, is read more than once, and lies here and there.
bool are_worth_slices(const MethodInput& input, std::uint64_t b_row_bytes,
                      std::uint64_t own_cache) {
  const auto rows = static_cast<double>(rows_of_b_per_thread(input.op_a, input.team.threads));
  const double reads = static_cast<double>(input.op_a.nnz()) / input.team.threads;
  return rows * static_cast<double>(b_row_bytes) > kWorthSlices * static_cast<double>(own_cache) &&
         reads >= kReadsWorthSlices * rows && rows_of_b_in_runs(input.op_a) < kInRuns;
}

}  // namespace

Settings default_settings(const MethodInput& input, std::string* why) {
  const SpmmProblem& problem = input.problem;
  const CacheSizes caches = cache_sizes();
  const double fresh = fresh_rows_of_b(input.op_a);
  const auto rows_of_b = static_cast<std::uint64_t>(input.op_a.cols());
  const std::uint64_t b_row_bytes = row_bytes(problem.dense_cols, problem.b);
  const std::uint64_t b_bytes = rows_of_b * b_row_bytes;
  const std::uint64_t c_bytes =
      static_cast<std::uint64_t>(input.op_a.rows()) * row_bytes(problem.dense_cols, problem.c);
  const bool is_scattered = fresh > kScattered;
  // In columns, a multiple of 64 as the inner loops want it.
  const Index tile_cols = std::max<Index>(64, kTileBytes / size_of(problem.b));

  Settings settings;
  *why = is_scattered ? "rows of A share few columns" : "neighbouring rows of A share columns";
  // A slice of B that fits where all of B does not: a quarter of the last level is how much of it
  // one can count on. Rows of some length read fewer lines of B at a time from slices even where B
  // fits that.
  const std::uint64_t slice_bytes = rows_of_b * row_bytes(tile_cols, problem.b);
  const std::uint64_t own_cache = caches.private_bytes / 4 * 3;
  const std::uint64_t shared_cache = caches.last_level_bytes / 4;
  const Offset nnz = input.op_a.nnz();
  std::uint64_t read_again = b_bytes;  // between two reads of a row of B
  const bool pays_copies =
      is_scattered && nnz >= kReadsPerCopy * input.op_a.cols() * input.team.threads;
  const std::uint64_t whole_lines = (b_row_bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
  const bool is_one_slice = problem.dense_cols < 2 * tile_cols;
  if (pays_copies && whole_lines != b_row_bytes && rows_of_b * whole_lines <= own_cache) {
    settings.packs_b = true;
    read_again = rows_of_b * whole_lines;
    *why += ", rows of B begin on cache lines once copied";
  } else if (pays_copies && problem.dense_cols >= tile_cols && slice_bytes > own_cache &&
             slice_bytes / 2 <= caches.private_bytes / 8 * 7) {
    // A slice of half the width fits the core's own cache, and nothing else will.
    settings.tile_cols = tile_cols / 2;
    settings.packs_b = true;
    read_again = slice_bytes / 2;
    *why += ", narrow slices of B are nearer than B once packed";
  } else if (b_bytes > own_cache &&
             (!is_one_slice || (pays_copies && problem.dense_cols > tile_cols)) &&
             are_worth_slices(input, b_row_bytes, caches.private_bytes)) {
    const Offset worth_walks =
        problem.dense_cols < kManySlices * tile_cols ? kWorthWalks : kWorthManyWalks;
    const bool fits_where_b_does_not =
        slice_bytes <= own_cache ||
        (!is_one_slice && b_bytes > shared_cache && slice_bytes <= shared_cache);
    if (fits_where_b_does_not ||
        (!is_one_slice && b_bytes <= shared_cache && nnz >= worth_walks * input.op_a.rows())) {
      settings.tile_cols = tile_cols;
      *why += ", slices of B are nearer than B";
    }
    // The lines of a slice are at equal distances, so that they share few sets of the core's own
    // cache.
    if (settings.tile_cols > 0 && slice_bytes <= 2 * caches.private_bytes && pays_copies) {
      settings.packs_b = true;
      read_again = slice_bytes;
      *why += " once packed";
    }
  }
  const auto threads = static_cast<std::uint64_t>(input.team.threads);
  const std::uint64_t private_bytes = caches.private_bytes * threads;
  const bool keeps_up = !is_scattered && nnz >= kVeryShortRow * input.op_a.rows();
  bool is_far = read_again > (keeps_up ? kCachesOfSharedB * private_bytes : caches.private_bytes);
  if (is_far && settings.tile_cols == 0 && !settings.packs_b) {
    // What a thread reads and writes in every multiplication may stay next to its core, however
    // large B is.
    const auto of_b =
        static_cast<std::uint64_t>(rows_of_b_per_thread(input.op_a, input.team.threads));
    const std::uint64_t of_a = static_cast<std::uint64_t>(nnz) * (sizeof(Index) + sizeof(float));
    is_far = of_b * b_row_bytes + (c_bytes + of_a) / threads > caches.private_bytes;
  }
  settings.rows.prefetch_bytes = is_far ? kPrefetchBytes : 0;
  // C that would be evicted anyhow before it is written again, and C that is much of the traffic
  // and would take two fifths of the room that B's rows have. Few cores leave the shared cache room
  // for more, above all where a row is but a few lines.
  const bool has_short_rows = nnz < kShortRow * input.op_a.rows();
  const std::uint64_t c_row_bytes = row_bytes(problem.dense_cols, problem.c);
  const std::uint64_t shared = caches.last_level_bytes / (c_row_bytes <= 256 ? 12 : 24) / threads;
  if (c_bytes > std::max(shared, has_short_rows ? private_bytes / 5 * 2 : 2 * private_bytes)) {
    settings.rows.streams_c = true;
    *why += ", C would fill the caches next to the cores";
  }
  return settings;
}

Settings parse_settings(const std::string& text) {
  const auto refuse = [&]() -> UsageError {
    return UsageError(
        "'" + text +
        "' is no setting of nnz_balanced; expected the form "
        "tile=64,prefetch=4096,stores=stream,b=packed,rows=joined (tile 0 or a multiple of 32, "
        "prefetch in bytes, stores cached or stream, b strided or packed, rows single or joined)");
  };
  Settings settings;
  std::array<bool, 5> given{};
  std::size_t from = 0;
  while (from <= text.size()) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::string part = text.substr(from, comma - from);
    from = comma + 1;
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) throw refuse();
    const std::string key = part.substr(0, equals), value = part.substr(equals + 1);
    int number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool is_number =
        error == std::errc() && end == value.data() + value.size() && number >= 0;
    const std::array<std::string, 5> keys{"tile", "prefetch", "stores", "b", "rows"};
    const auto which =
        static_cast<std::size_t>(std::find(keys.begin(), keys.end(), key) - keys.begin());
    if (which == keys.size() || given[which]) throw refuse();
    given[which] = true;
    if (which == 0) {
      if (!is_number || number % kNarrowestTile != 0) throw refuse();
      settings.tile_cols = number;
    } else if (which == 1) {
      if (!is_number) throw refuse();
      settings.rows.prefetch_bytes = number;
    } else if (which == 2) {
      if (value != "cached" && value != "stream") throw refuse();
      settings.rows.streams_c = value == "stream";
    } else if (which == 3) {
      if (value != "strided" && value != "packed") throw refuse();
      settings.packs_b = value == "packed";
    } else {
      if (value != "single" && value != "joined") throw refuse();
      settings.joins_rows = value == "joined";
    }
  }
  return settings;
}

std::string text_of(const Settings& settings) {
  return "tile=" + std::to_string(settings.tile_cols) +
         ",prefetch=" + std::to_string(settings.rows.prefetch_bytes) +
         ",stores=" + (settings.rows.streams_c ? "stream" : "cached") +
         (settings.packs_b ? ",b=packed" : "") + (settings.joins_rows ? ",rows=joined" : "");
}

std::vector<std::string> candidate_settings(const SpmmProblem& problem) {
  const bool may_join = !problem.transpose_a && problem.semiring == Semiring::plus_times;
  const bool joins = may_join && are_worth_joining(find_alike_rows(problem.a, 1), problem.a);
  std::vector<std::string> candidates;
  for (const Index tile_cols : {0, kNarrowestTile, 2 * kNarrowestTile}) {
    if (tile_cols >= problem.dense_cols) continue;
    for (const Offset prefetch_bytes : {0, 4096, 8192}) {
      for (const bool streams_c : {false, true}) {
        for (const bool packs_b : {false, true}) {
          // A copy of all of B moves rows to lines; narrow slices share too few sets where they
          // lie.
          const bool lies_on_lines = row_bytes(problem.dense_cols, problem.b) % kLineBytes == 0;
          if (packs_b ? tile_cols == 0 && lies_on_lines : tile_cols == kNarrowestTile) continue;
          for (const bool joins_rows : {false, true}) {
            if (joins_rows && !joins) continue;
            candidates.push_back(
                text_of({tile_cols, {prefetch_bytes, streams_c}, packs_b, joins_rows}));
          }
        }
      }
    }
  }
  return candidates;
}

}  // namespace csrkit::cpu
