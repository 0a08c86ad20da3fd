// The device memory that an SpMV plan will take, known without a device.

#include <algorithm>
#include <utility>
#include <vector>

#include "gpu/device/cub_scratch.h"
#include "gpu/device/device_csr.h"
#include "gpu/plan/kernels.h"
#include "gpu/plan/operands.h"
#include "gpu/spmv/choose.h"
#include "gpu/spmv/jagged/pieces.h"

namespace csrkit::gpu {

namespace {

using Bytes = std::uint64_t;

/// The facts about op(A) that decide the sizes of formats.
struct Shape {
  Bytes rows = 0, cols = 0, nnz = 0;
  Bytes value_bytes = 0;
  Bytes steps = 0;    // of slices of 32 rows in their order; sorting only makes them fewer
  Bytes longest = 0;  // entries of a row
  Bytes slices() const { return (rows + 31) / 32; }
  Bytes places() const { return steps * 34; }  // slices of one width take a sixteenth more
};

std::vector<Offset> row_lengths(const SpmmProblem& problem) {
  const CsrMatrix& a = problem.a;
  std::vector<Offset> lengths(static_cast<std::size_t>(problem.output_rows()));
  if (problem.transpose_a) {
    for (Offset at = 0; at < a.nnz(); ++at) {
      ++lengths[static_cast<std::size_t>(a.col_indices()[at])];
    }
  } else {
    for (Index row = 0; row < a.rows(); ++row) {
      lengths[static_cast<std::size_t>(row)] = a.row_length(row);
    }
  }
  return lengths;
}

Shape shape_of_rows(const SpmmProblem& problem) {
  Shape shape;
  shape.rows = static_cast<Bytes>(problem.output_rows());
  shape.cols = static_cast<Bytes>(problem.input_rows());
  shape.nnz = static_cast<Bytes>(problem.a.nnz());
  shape.value_bytes = static_cast<Bytes>(size_of(problem.a.value_kind()));
  Offset longest_of_slice = 0;
  const std::vector<Offset> lengths = row_lengths(problem);
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    longest_of_slice = std::max(longest_of_slice, lengths[row]);
    shape.longest = std::max(shape.longest, static_cast<Bytes>(lengths[row]));
    if (row % 32 != 31 && row + 1 != lengths.size()) continue;
    shape.steps += static_cast<Bytes>(longest_of_slice);
    longest_of_slice = 0;
  }
  return shape;
}

/// A^T has as many.
Bytes count_diagonals(const CsrMatrix& a) {
  std::vector<bool> seen(static_cast<std::size_t>(a.rows()) + static_cast<std::size_t>(a.cols()));
  for (Index row = 0; row < a.rows(); ++row) {
    for (Offset at = a.row_offsets()[row]; at < a.row_offsets()[row + 1]; ++at) {
      seen[static_cast<std::size_t>(Offset{a.col_indices()[at]} - row + a.rows())] = true;
    }
  }
  return static_cast<Bytes>(std::count(seen.begin(), seen.end(), true));
}

constexpr Bytes kFixed = 128 << 10;  // tables, counters, and the least scratch of library calls

/// Counts of that many things, which become their sums in place (exclusive_sum), and a byte each
/// for the scratch of that: far more than it takes.
constexpr Bytes scan_bytes(Bytes count) { return count * (sizeof(Offset) + 1) + kFixed; }
constexpr Offset kManyCounts = Offset{1} << 32;
static_assert(scan_bytes(kManyCounts) >=
                  kManyCounts * sizeof(Offset) + scan_scratch_bound(kManyCounts) &&
              scan_bytes(1) >= sizeof(Offset) + scan_scratch_bound(1));

Bytes slices_bytes(const Shape& shape) {
  return 2 * scan_bytes(shape.slices() + 1) + shape.rows * sizeof(Index) + kFixed;
}

Bytes sell_bytes(const Shape& shape) {
  return slices_bytes(shape) + shape.places() * (sizeof(Index) + shape.value_bytes);
}

Bytes compressed_format_bytes(const Shape& shape) {
  constexpr Bytes kHeader = 16, kWidestDifference = 4;
  return slices_bytes(shape) + scan_bytes(shape.slices() + 1) + shape.slices() * kHeader +
         shape.steps * sizeof(Index) + shape.places() * (kWidestDifference + shape.value_bytes);
}

/// In the worst case every entry is alone in a block of 2 x 2; other sizes are taken if smaller.
Bytes bsr_bytes(const Shape& shape) {
  return 2 * scan_bytes(shape.rows / 2 + 2) + shape.nnz * (4 * shape.value_bytes + 6);
}

Bytes balanced_bytes(const Shape& shape) {
  constexpr Bytes kSmallestPiece = 256, kOfAPiece = 16 + 2 * 8 + 4;
  return ((shape.nnz + shape.rows) / kSmallestPiece + 2) * kOfAPiece;
}

/// Pieces are at least half full of segments or of rows, except the last of each chunk and those of
/// cut rows.
Bytes jagged_format_bytes(const Shape& shape) {
  constexpr Bytes kPartsOfAPiece = 4 * 8;  // of rows that are cut
  constexpr Bytes kOfAPiece = 16 + 256 * (2 + 8 + 4) + 8 * 8 + kPartsOfAPiece + 4 + 4;
  constexpr Bytes kOfAChunk = 8192;
  const Bytes height = jagged::kLowest;  // of such segments there are most
  const Bytes segments = shape.nnz / height + shape.rows;
  const Bytes chunks = (segments + shape.rows) / kOfAChunk + 1;
  const Bytes pieces = 3 * (segments / 256) + shape.rows / 512 + 2 * chunks + 2;
  const Bytes padding =
      std::max(static_cast<Bytes>(jagged::kMostPadding),
               static_cast<Bytes>(jagged::kMostPaddingShare * static_cast<double>(shape.nnz)) + 1);
  const Bytes places = shape.nnz + padding;
  return scan_bytes(shape.rows + 1) + scan_bytes(chunks + 1) + pieces * kOfAPiece +
         shape.rows * sizeof(std::uint16_t) + places * (sizeof(Index) + shape.value_bytes);
}

Bytes coo_bytes(const Shape& shape) {
  constexpr Bytes kCarry = 16, kShare = 256;
  return scan_bytes(shape.rows + 1) + shape.nnz * (2 * sizeof(Index) + shape.value_bytes) +
         (shape.nnz / kShare + 1) * kCarry;
}

/// A third of the rows fill the padded part, so it has at most three times the entries.
Bytes hyb_bytes(const Shape& shape) {
  return coo_bytes(shape) + 3 * shape.nnz * (sizeof(Index) + shape.value_bytes) + kFixed;
}

/// Finding diagonals, which auto always does.
Bytes diagonal_bytes(const Shape& shape) { return scan_bytes(shape.rows + shape.cols + 1); }

Bytes stencil_bytes(const Shape& shape, Bytes diagonals) {
  constexpr Bytes kOfADiagonal = 64, kMaskWord = 8, kMaskBits = 64;  // offsets, slots, constants
  return diagonal_bytes(shape) + scan_bytes(diagonals + 1) + diagonals * kOfADiagonal +
         shape.rows *
             ((diagonals + kMaskBits - 1) / kMaskBits * kMaskWord + diagonals * shape.value_bytes);
}

/// auto takes a stencil only if it has few diagonals and is not much larger than CSR.
Bytes auto_stencil_bytes(const Shape& shape, const SpmmProblem& problem) {
  const Bytes diagonals = count_diagonals(problem.a);
  if (diagonals > 64) return diagonal_bytes(shape);
  const Bytes csr = shape.rows * sizeof(Offset) + shape.nnz * (sizeof(Index) + shape.value_bytes);
  return std::min(stencil_bytes(shape, diagonals),
                  stencil_bytes(shape, 0) + shape.rows * sizeof(Offset) + kMostStencilShare * csr);
}

Bytes format_bytes(const std::string& kernel, const Shape& shape, const SpmmProblem& problem) {
  if (kernel == "auto") {
    return std::max({sell_bytes(shape), compressed_format_bytes(shape), bsr_bytes(shape),
                     balanced_bytes(shape), jagged_format_bytes(shape),
                     auto_stencil_bytes(shape, problem)});
  }
  if (kernel == "bsr") return bsr_bytes(shape);
  if (kernel == "compressed") return compressed_format_bytes(shape);
  if (kernel == "csr_balanced") return balanced_bytes(shape);
  if (kernel == "jagged") return jagged_format_bytes(shape);
  if (kernel == "sell") return sell_bytes(shape);
  if (kernel == "stencil") return stencil_bytes(shape, count_diagonals(problem.a));
  if (kernel == "ell") {
    return shape.rows * shape.longest * (sizeof(Index) + shape.value_bytes) + kFixed;
  }
  if (kernel == "coo") return coo_bytes(shape);
  if (kernel == "hyb") return hyb_bytes(shape);
  if (kernel == "csr_scalar") return kFixed;  // to find the longest row
  if (kernel == "dia") {
    const Bytes stored = static_cast<Bytes>(size_of(problem.b));
    return diagonal_bytes(shape) +
           count_diagonals(problem.a) * (sizeof(Offset) + shape.rows * stored);
  }
  return 0;  // A is used in place
}

}  // namespace

std::uint64_t forecast_spmv_bytes(const std::string& kernel, const SpmmProblem& problem) {
  const SpmmKernel& row = find_kernel(spmv_kernels(), kernel);
  require_capabilities(row.capabilities, needed_for(problem), kernel);
  if (row.role == Role::vendor) {
    throw UsageError(kernel +
                     ": a vendor's memory shows only while it works, so it has no forecast");
  }
  const CsrMatrix& a = problem.a;
  if (a.space() == MemorySpace::device) {
    throw UsageError("a forecast of SpMV looks into A's rows; give A in host memory");
  }
  const ValueKind kind = a.value_kind();
  const Bytes stored = DeviceCsr::forecast_bytes(problem.output_rows(), a.nnz(), kind);
  Bytes while_sorting = 0;  // A, A^T and the sort's scratch
  if (problem.transpose_a && DeviceCsr::can_transpose(a.nnz())) {
    while_sorting = DeviceCsr::forecast_bytes(a.rows(), a.nnz(), kind) +
                    DeviceCsr::transpose_bytes(a.cols(), a.nnz(), kind);
  }
  return std::max(while_sorting,
                  stored + format_bytes(kernel, shape_of_rows(problem), problem) +
                      dense_bytes(problem.input_rows(), problem.dense_cols, problem.b) +
                      dense_bytes(problem.output_rows(), problem.dense_cols, problem.c));
}

}  // namespace csrkit::gpu
