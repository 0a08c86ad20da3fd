// The iteration itself, in one kind of numbers.
#pragma once

#include <vector>

#include "core/base/buffer.h"
#include "core/contract/operator.h"
#include "core/solve/cg_driver.h"
#include "core/solve/ritz_values.h"
#include "cpu/solve/preconditioner.h"
#include "cpu/solve/vector_loops.h"

namespace csrkit::cpu {

/// Borrowed n x columns vectors of T, row-major, rows touching each other.
template <class T>
struct DenseVectors {
  static DenseView view(T* data, Index rows, Index columns) {
    return {data, kValueKindOf<T>, rows, columns, columns, MemorySpace::host};
  }
};

template <class T>
class CgIterations {
 public:
  /// Whether the passes over vectors run on a resident team (in_team).
  static constexpr bool kJoinsTeams = true;

  /// Both references must stay; `preconditioner` may be null.
  CgIterations(Index rows, Index columns, int threads, Operator& product,
               CpuPreconditioner<T>* preconditioner);
  virtual ~CgIterations() = default;

  T* residual() { return r_.data(); }

  /// Iterates as CgMachine::run, from x and its residual, which the caller put into residual().
  /// The norms in `history` are multiplied by `scales`, one per column; `steps`, if not null, gets
  /// the step lengths of the first column.
  std::vector<ColumnRun> run(T* x, const std::vector<double>& targets,
                             const std::vector<double>& scales, Offset limit,
                             const ProgressCallback& progress, std::vector<double>* history,
                             CgSteps* steps = nullptr);

  /// Bytes of the vectors.
  static std::uint64_t size_bytes(Index rows, Index columns) {
    return 5 * static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(columns) * sizeof(T);
  }

 protected:
  /// One right-hand side.
  struct Column {
    ColumnRun run;
    bool is_active = true;
    bool keeps = false;  // the iterate before this step is the best so far
    double norm = 0;     // of the iterate in x
    double rho = 0;      // r'z
    double alpha = 0, beta = 0;

    void end(SolveStatus why, double curvature = 0) {
      run.end = why;
      run.curvature = curvature;
      is_active = false;
    }
    void end_if_done(double target) {
      if (norm <= target) {
        end(SolveStatus::converged);
      } else if (!(rho > 0)) {
        end(SolveStatus::breakdown, rho);
      }
    }
  };

  // The passes over vectors between two products; vendor_mkl has its own.
  /// p'q of every column.
  virtual std::vector<double> curvatures();
  /// r -= alpha q, z = M^-1 r; r'r and r'z of every column.
  virtual std::vector<double> update_residual(const std::vector<Column>& columns);
  /// x += alpha p, p = z + beta p; first saves x in best_ for columns with Column::keeps.
  virtual void update_directions(const std::vector<Column>& columns, T* x);

  /// u'v of every column.
  std::vector<double> inner_products(const T* u, const T* v);

  VectorLoops loops_;
  Operator& product_;
  CpuPreconditioner<T>* preconditioner_;
  Buffer<T> r_, z_, p_, q_, best_;

 private:
  /// Norms, z and p of the residual before any step.
  std::vector<Column> begin(const std::vector<double>& targets);
  /// alpha of every column, from its curvature; one that has none ends.
  void choose_steps(std::vector<Column>* columns);
  /// The residual after a step of alpha, with its norms, and beta.
  void take_steps(std::vector<Column>* columns);
  /// x becomes the iterate of the least norm where a later one is kept in it.
  void restore_best(const std::vector<Column>& columns, T* x);
};

}  // namespace csrkit::cpu
