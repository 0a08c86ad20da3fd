#include "preprocess/import/format_reader.h"

#include <omp.h>

#include <algorithm>
#include <cstring>

#include "core/base/available_memory.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/matrix/csr_checks.h"
#include "preprocess/import/source/byte_source.h"

namespace csrkit {

namespace {

constexpr Offset kSerialLimit = 1 << 15;  // below, waking threads costs more than they save

template <class T>
void negate_all(T* values, Offset count) {
#pragma omp parallel for schedule(static) if (count >= kSerialLimit)
  for (Offset i = 0; i < count; ++i) values[i] = store_as<T>(-load_as<double>(values[i]));
}

}  // namespace

const std::vector<FormatReader>& format_readers() {
  using namespace parameter;
  static const Parameter rows =
      integer("rows", "auto", 1, kMaxIndex, "rows, if the file does not say");
  static const Parameter cols =
      integer("cols", "auto", 1, kMaxIndex, "columns, if the file does not say");
  static const Parameter base = choice(
      "base", "auto", {"0", "1"}, "number of the first node; auto = 1 if no edge names a node 0");
  constexpr bool kStreamed = true;
  static const std::vector<FormatReader> readers = {
#define CSRKIT_IMPORT_FORMAT(stem, ...) {{__VA_ARGS__}, &matches_##stem, &read_##stem},
#include "preprocess/import/formats.inc"
#undef CSRKIT_IMPORT_FORMAT
  };
  return readers;
}

std::shared_ptr<ByteSource> open_input(const std::string& path, const ReadRequest& request) {
  if (request.pipe) return request.pipe;
  return open_file(path, request.limits);
}

ValueKind wanted_kind(const std::string& value_kind, ValueKind automatic) {
  return value_kind == "auto" ? automatic : parse_value_kind(value_kind);
}

void make_square(CooMatrix& coo) { coo.rows = coo.cols = std::max(coo.rows, coo.cols); }

Offset count_out_of_order(const CooMatrix& coo) {
  Offset count = 0;
#pragma omp parallel for schedule(static) reduction(+ : count) if (coo.nnz() >= kSerialLimit)
  for (Offset i = 1; i < coo.nnz(); ++i) {
    const Index row = coo.row_indices[i], before = coo.row_indices[i - 1];
    count += row < before || (row == before && coo.col_indices[i] < coo.col_indices[i - 1]);
  }
  return count;
}

Offset append_mirrored(CooMatrix& coo, bool negate) {
  const Offset stored = coo.nnz();
  // Each thread counts its share, then writes its mirror images behind those of the threads before.
  const int shares = stored < kSerialLimit ? 1 : std::max(1, omp_get_max_threads());
  std::vector<Offset> first(static_cast<std::size_t>(shares) + 1, 0);
  const auto begin_of = [&](int share) {
    return stored / shares * share + std::min<Offset>(share, stored % shares);
  };
#pragma omp parallel for schedule(static, 1) num_threads(shares)
  for (int share = 0; share < shares; ++share) {
    Offset count = 0;
    for (Offset i = begin_of(share); i < begin_of(share + 1); ++i) {
      count += coo.row_indices[i] != coo.col_indices[i];
    }
    first[share + 1] = count;
  }
  for (int share = 0; share < shares; ++share) first[share + 1] += first[share];
  const Offset mirrored = first[shares];
  if (mirrored == 0) return 0;

  Buffer<Index> rows(stored + mirrored), cols(stored + mirrored);
  ValueArray values(coo.values.kind(), stored + mirrored);
  const auto width = static_cast<std::size_t>(size_of(coo.values.kind()));
  const auto* old_values = static_cast<const char*>(coo.values.data());
  auto* new_values = static_cast<char*>(values.data());
#pragma omp parallel for schedule(static, 1) num_threads(shares)
  for (int share = 0; share < shares; ++share) {
    const Offset begin = begin_of(share), end = begin_of(share + 1);
    std::copy(coo.row_indices.data() + begin, coo.row_indices.data() + end, rows.data() + begin);
    std::copy(coo.col_indices.data() + begin, coo.col_indices.data() + end, cols.data() + begin);
    if (width > 0) {
      std::copy(old_values + begin * width, old_values + end * width, new_values + begin * width);
    }
    Offset to = stored + first[share];
    for (Offset i = begin; i < end; ++i) {
      if (coo.row_indices[i] == coo.col_indices[i]) continue;
      rows[to] = coo.col_indices[i];
      cols[to] = coo.row_indices[i];
      if (width > 0) std::memcpy(new_values + to * width, old_values + i * width, width);
      ++to;
    }
  }
  if (negate) {
    with_value_type(values.kind(), [&](auto tag) {
      using Value = typename decltype(tag)::type;
      if constexpr (!std::is_same_v<Value, ImplicitOne>) {
        negate_all(values.template as<Value>() + stored, mirrored);
      }
    });
  }
  coo.row_indices = std::move(rows);
  coo.col_indices = std::move(cols);
  coo.values = std::move(values);
  return mirrored;
}

void require_plausible_rows(Offset rows, Offset entries, const SourceLimits& limits,
                            const std::string& where) {
  constexpr std::uint64_t kLeastBytesOfAnEntry = 4;  // "0 1" and the end of the line
  const std::uint64_t needed = (static_cast<std::uint64_t>(rows) + 1) * sizeof(Offset);
  // The sizes count as an entry: of a matrix without any the limit can be raised, too.
  const std::uint64_t entry_bytes =
      (static_cast<std::uint64_t>(entries) + 1) * kLeastBytesOfAnEntry;
  if (needed <= limits.decompressed_bytes(entry_bytes)) return;
  const std::uint64_t enough = (needed - SourceLimits::kAlwaysBytes - 1) / entry_bytes + 1;
  throw InputError(where + ": expected about as many rows as entries, found " +
                   counted(rows, "row") + " of " +
                   counted(static_cast<std::uint64_t>(entries), "entry") + ", which take " +
                   counted(needed, "byte") + "; if that is meant, raise --max-expansion to " +
                   std::to_string(enough));
}

namespace {

void sort_coo(CooMatrix coo, const ReadRequest& request, const std::string& where,
              ImportResult& result) {
  const Stopwatch watch;
  // The coordinates are there already; sorting needs as much again, and the row offsets.
  const std::uint64_t per_entry =
      2 * sizeof(Index) + static_cast<std::uint64_t>(size_of(coo.values.kind()));
  const std::uint64_t offsets_bytes = (static_cast<std::uint64_t>(coo.rows) + 1) * sizeof(Offset);
  std::uint64_t needed = static_cast<std::uint64_t>(coo.nnz()) * per_entry + offsets_bytes;
  if (needed > available_memory_bytes() && count_out_of_order(coo) == 0) needed = offsets_bytes;
  require_available_memory(
      needed,
      (where + ": sorting " + counted(coo.nnz(), "entry") + " into " + counted(coo.rows, "row"))
          .c_str(),
      "import a part of the matrix, or use a machine with more memory");
  result.matrix = coo_to_csr(std::move(coo), request.duplicates, where, &result.repairs);
  result.sort_seconds += watch.seconds();
}

/// Checks the arrays. Returns whether every row is sorted and has no column twice.
bool check_csr(const CsrArrays& arrays, const std::string& where) {
  const Index rows = arrays.rows, cols = arrays.cols;
  const Buffer<Offset>& row_offsets = arrays.row_offsets;
  const Buffer<Index>& col_indices = arrays.col_indices;
  const Offset nnz = col_indices.size();
  if (row_offsets.size() != Offset{rows} + 1) {
    throw InputError(where + ": expected " + std::to_string(Offset{rows} + 1) +
                     " row offsets for " + counted(rows, "row") + ", found " +
                     std::to_string(row_offsets.size()));
  }
  require_row_offsets(row_offsets.data(), rows, nnz, where, "was the file written completely?");
  Offset first_bad_entry = nnz;
  bool is_canonical = true;
#pragma omp parallel for schedule(dynamic, 1024) reduction(min : first_bad_entry) \
    reduction(&& : is_canonical)
  for (Index row = 0; row < rows; ++row) {
    for (Offset at = row_offsets[row]; at < row_offsets[row + 1]; ++at) {
      const Index col = col_indices[at];
      if (col < 0 || col >= cols) first_bad_entry = std::min(first_bad_entry, at);
      if (at > row_offsets[row] && col_indices[at - 1] >= col) is_canonical = false;
    }
  }
  if (first_bad_entry < nnz) {
    throw InputError(where + ": expected columns from 0 to " + std::to_string(Offset{cols} - 1) +
                     ", found " + std::to_string(col_indices[first_bad_entry]) + " at entry " +
                     std::to_string(first_bad_entry));
  }
  return is_canonical;
}

CooMatrix coordinates(CsrArrays arrays) {
  const Buffer<Offset>& row_offsets = arrays.row_offsets;
  CooMatrix coo;
  coo.rows = arrays.rows;
  coo.cols = arrays.cols;
  coo.row_indices = Buffer<Index>(arrays.col_indices.size());
#pragma omp parallel for schedule(dynamic, 1024)
  for (Index row = 0; row < coo.rows; ++row) {
    std::fill(coo.row_indices.data() + row_offsets[row],
              coo.row_indices.data() + row_offsets[row + 1], row);
  }
  coo.col_indices = std::move(arrays.col_indices);
  coo.values = std::move(arrays.values);
  return coo;
}

CsrMatrix matrix_of(CsrArrays arrays) {
  return CsrMatrix(arrays.rows, arrays.cols, std::move(arrays.row_offsets),
                   std::move(arrays.col_indices), std::move(arrays.values));
}

}  // namespace

void finish_coo(CooMatrix coo, const ReadRequest& request, const std::string& where,
                ImportResult& result) {
  require_plausible_rows(coo.rows, coo.nnz(), request.limits, where);
  sort_coo(std::move(coo), request, where, result);
}

void finish_csr(CsrArrays arrays, const ReadRequest& request, const std::string& where,
                ImportResult& result) {
  if (check_csr(arrays, where)) {
    result.matrix = matrix_of(std::move(arrays));
    return;
  }
  sort_coo(coordinates(std::move(arrays)), request, where, result);
}

void finish_csc(CsrArrays transposed, const ReadRequest& request, const std::string& where,
                ImportResult& result) {
  if (check_csr(transposed, where)) {
    result.matrix = transpose(matrix_of(std::move(transposed)));
    return;
  }
  CooMatrix coo = coordinates(std::move(transposed));
  const Offset out_of_order = count_out_of_order(coo);  // of the file, which goes by columns
  std::swap(coo.rows, coo.cols);
  std::swap(coo.row_indices, coo.col_indices);
  sort_coo(std::move(coo), request, where, result);
  result.repairs.out_of_order = out_of_order;
}

}  // namespace csrkit
