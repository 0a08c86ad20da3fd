#include "tools/solve/system.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/base/available_memory.h"
#include "core/base/counted.h"
#include "core/base/text.h"
#include "core/file/npy_file.h"
#include "core/matrix/overflow.h"
#include "preprocess/generate/dense_spd.h"
#include "preprocess/import/import.h"
#include "tools/cli/log.h"
#include "tools/operation/operands/dense_io.h"
#include "tools/solve/report.h"

namespace csrkit {

namespace {

template <class Matrix>
std::string shape_text(const Matrix& matrix) {
  return std::to_string(matrix.rows()) + " x " + std::to_string(matrix.cols());
}

/// The file that says what blocks there are, or its rows in blocks of equal size.
RowBlocks blocks_of(const SolveToolOptions& options, const std::optional<Partition>& partition,
                    Index rows) {
  if (options.blocks != "partition") {
    return uniform_blocks(rows, static_cast<Index>(std::stoll(options.blocks)));
  }
  if (!partition) {
    throw InputError(options.matrix +
                     ": expected a partition of the rows for --blocks partition, found none; "
                     "csr-reorder with an ordering that makes parts writes one");
  }
  return {partition->parts, partition->part_of_row};
}

void read_matrix(const SolveToolOptions& options, SolveProblem* problem) {
  std::optional<Partition> partition;
  if (options.generates()) {
    const ValueKind kind = problem->precision == Precision::f32 ? ValueKind::f32 : ValueKind::f64;
    const auto rows = static_cast<std::uint64_t>(options.generate_rows);
    require_available_memory(rows * rows * static_cast<std::uint64_t>(size_of(kind)),
                             "holding the dense matrix", "use a smaller --generate-dense");
    problem->dense = std::make_shared<const DenseMatrix>(
        generate_dense_spd(options.generate_rows, options.condition, kind, options.seed));
  } else if (ends_with(lower_case(options.matrix), ".npy")) {
    problem->dense = std::make_shared<const DenseMatrix>(read_npy(options.matrix));
  } else {
    CsrFile file = read_csr_file(options.matrix, options.read);
    problem->a = file.matrix;
    partition = file.partition;
  }
  if (problem->rows() != problem->cols()) {
    throw InputError(options.matrix + ": expected a square matrix, found " +
                     std::to_string(problem->rows()) + " x " + std::to_string(problem->cols()));
  }
  if (problem->preconditioner.kind == PreconditionerKind::block_jacobi) {
    problem->preconditioner.blocks = blocks_of(options, partition, problem->rows());
  }
}

/// An array for right-hand sides or solutions. Linux gives more memory than there is, and ends the
/// process that fills it.
DenseMatrix make_columns(Index rows, Index columns, ValueKind kind) {
  require_available_memory(static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(columns) *
                               static_cast<std::uint64_t>(size_of(kind)),
                           "holding the right-hand sides or solutions",
                           "solve for fewer right-hand sides at once");
  return DenseMatrix(rows, columns, kind);
}

/// b = A x in float64.
DenseMatrix product_with(const SolveProblem& problem, const DenseMatrix& x) {
  DenseMatrix b = make_columns(x.rows(), x.cols(), ValueKind::f64);
  const DenseView out = b.view();
  const ConstDenseView in = x.view();
#pragma omp parallel for schedule(dynamic, 256)
  for (Index row = 0; row < x.rows(); ++row) {
    for (Index column = 0; column < x.cols(); ++column) {
      double sum = 0;
      if (problem.dense) {
        const ConstDenseView a = std::as_const(*problem.dense).view();
        for (Index col = 0; col < a.cols; ++col) sum += a.at(row, col) * in.at(col, column);
      } else {
        problem.a.visit([&](const auto& a) {
          for (Offset at = a.row_offsets[row]; at < a.row_offsets[row + 1]; ++at) {
            sum += a.template value_as<double>(at) * in.at(a.col_indices[at], column);
          }
        });
      }
      out.set(row, column, sum);
    }
  }
  return b;
}

/// A NaN or an infinity in `dense`, which came from `path`, would be in every iterate.
void require_finite(const std::string& path, const ConstDenseView& dense) {
  for (Index row = 0; row < dense.rows; ++row) {
    for (Index col = 0; col < dense.cols; ++col) {
      const double value = dense.at(row, col);
      if (std::isfinite(value)) continue;
      throw InputError(path + ": expected finite values, found " + std::to_string(value) +
                       " in row " + std::to_string(row) + ", column " + std::to_string(col) +
                       " (counted from 0); correct the file");
    }
  }
}

/// Refuses a column of `b`, which came from `path`, that is not 0 but has only values so small that
/// x = 0 would seem to solve it: in f32 they lose digits, in f64 their squares underflow. `kind` is
/// that of the solver's b.
void require_large_enough(const std::string& path, const ConstDenseView& b, ValueKind kind) {
  const bool is_f32 = kind == ValueKind::f32;
  const double smallest = is_f32 ? std::numeric_limits<float>::min() : 1e-120;
  std::vector<double> largest(static_cast<std::size_t>(b.cols));
  for (Index row = 0; row < b.rows; ++row) {
    for (Index col = 0; col < b.cols; ++col) {
      double& of_col = largest[static_cast<std::size_t>(col)];
      of_col = std::max(of_col, std::abs(b.at(row, col)));
    }
  }
  for (std::size_t col = 0; col < largest.size(); ++col) {
    if (largest[col] == 0 || largest[col] >= smallest) continue;
    throw InputError(
        path + ": expected right-hand sides with values of at least " + scientific(smallest) +
        ", or 0, found " + scientific(largest[col]) + " as the largest in column " +
        std::to_string(col) +
        " (counted from 0): smaller ones underflow; multiply b by a power of two, and" +
        " divide x by it" + (is_f32 ? ", or use --precision f64" : ""));
  }
}

/// `dense`, which came from `path`, in the kind of the problem's vectors.
DenseMatrix as_vectors(const std::string& path, const DenseMatrix& dense, ValueKind kind) {
  const std::string too_large = overflow_in(dense.view(), kind);
  if (!too_large.empty()) {
    throw InputError(path + ": expected values that " + name_of(kind) + " can hold, found " +
                     too_large + "; use --precision f64");
  }
  return convert_dense(dense, kind);
}

/// Vectors of `rows` elements, as f64, from a .npy file or a Matrix Market file.
DenseMatrix read_columns(const std::string& path, Index rows) {
  const auto require_columns = [&](const auto& found) {
    if (found.rows() == rows && found.cols() > 0) return;
    throw InputError(path + ": expected columns of " + counted(rows, "row") +
                     ", as many as the matrix has, found an array of " + shape_text(found));
  };
  if (ends_with(lower_case(path), ".npy")) {
    const DenseMatrix dense = read_npy(path);
    require_columns(dense);
    require_finite(path, std::as_const(dense).view());
    return convert_dense(dense, ValueKind::f64);
  }
  ImportOptions options;
  options.format = "matrix-market";
  options.value_kind = "f64";
  const ImportResult imported = import_matrix(path, options);
  for (const std::string& warning : imported.warnings) log_warning(path + ": " + warning);
  const CsrMatrix& matrix = imported.matrix;
  require_columns(matrix);  // before it becomes an array
  DenseMatrix dense = make_columns(matrix.rows(), matrix.cols(), ValueKind::f64);
  if (dense.size_bytes() > 0) std::memset(dense.view().data, 0, dense.size_bytes());
  const CsrView<double> a = matrix.view<double>();
  for (Index row = 0; row < a.rows; ++row) {
    for (Offset at = a.row_offsets[row]; at < a.row_offsets[row + 1]; ++at) {
      dense.view().set(row, a.col_indices[at], a.values[at]);
    }
  }
  require_finite(path, std::as_const(dense).view());
  return dense;
}

void make_right_hand_sides(const SolveToolOptions& options, System* system) {
  const Index rows = system->problem.rows(), columns = options.right_hand_sides;
  if (options.rhs == "from-solution") {
    system->solution = make_columns(rows, columns, ValueKind::f64);
    fill_random(system->solution->view(), options.seed);
    system->b = product_with(system->problem, *system->solution);
  } else if (options.rhs == "ones" || options.rhs == "random") {
    system->b = make_columns(rows, columns, ValueKind::f64);
    fill_random(system->b.view(), options.seed);
    for (Offset i = 0; options.rhs == "ones" && i < Offset{rows} * columns; ++i) {
      system->b.view().as<double>()[i] = 1;
    }
  } else {
    system->b = read_columns(options.rhs, rows);
    if (options.gives_right_hand_sides && system->b.cols() != columns) {
      throw InputError(options.rhs + ": expected " + counted(columns, "column") +
                       ", as --right-hand-sides says, found " + shape_text(system->b));
    }
  }
}

}  // namespace

System read_system(const SolveToolOptions& options) {
  System system;
  system.problem = options.problem;
  read_matrix(options, &system.problem);
  make_right_hand_sides(options, &system);
  SolveProblem& problem = system.problem;
  problem.right_hand_sides = system.b.cols();
  const ValueKind kind = problem.vector_kind();
  require_large_enough(system.solution ? options.matrix_name() + " times a solution" : options.rhs,
                       std::as_const(system.b).view(), kind);
  if (system.b.kind() != kind) {
    // Of b = A x, require_solvable names the cause: a value of A.
    system.b =
        system.solution ? convert_dense(system.b, kind) : as_vectors(options.rhs, system.b, kind);
  }
  if (options.guess.empty()) {
    system.x = make_columns(problem.rows(), problem.right_hand_sides, kind);
    fill_nan(system.x.view());
    return system;
  }
  const DenseMatrix guess = read_columns(options.guess, problem.rows());
  if (guess.cols() != problem.right_hand_sides) {
    throw InputError(options.guess + ": expected as many columns as there are right-hand sides (" +
                     std::to_string(problem.right_hand_sides) + "), found " + shape_text(guess));
  }
  system.x = as_vectors(options.guess, guess, kind);
  return system;
}

}  // namespace csrkit
