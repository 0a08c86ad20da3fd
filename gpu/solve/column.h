// The scalars of conjugate gradients and the decisions made from them. One source for the host,
// where the first rung of the ladder computes them, and for the device, where all other rungs do.
#pragma once

#include <cmath>

#include "core/contract/semiring.h"  // CSRKIT_HOST_DEVICE
#include "core/solve/cg_driver.h"

namespace csrkit::gpu {

/// idle: the column has ended. last_step: it ends after this step, because the norm is small enough
/// or no further step is possible.
enum class ColumnState : int { idle, iterating, last_step };

/// One right-hand side. Plain data in device memory.
struct CgColumn {
  ColumnState state = ColumnState::iterating;
  SolveStatus end = SolveStatus::iteration_limit;
  bool keeps = false;  // copy x before this step: it is the best iterate so far
  Offset iterations = 0;
  double target = 0;
  double norm = 0, best_norm = 0;  // residual norms of x and of the best iterate
  double rho = 0;                  // r'z
  double alpha = 0, beta = 0;
  double curvature = 0;  // p'Ap or r'z that ended the run, else 0

  CSRKIT_HOST_DEVICE void stop(SolveStatus why, double reason) {
    state = ColumnState::idle;
    end = why;
    curvature = reason;
  }

  /// Before the first iteration: r'r and r'z.
  CSRKIT_HOST_DEVICE void begin(double rr, double rz) {
    norm = best_norm = sqrt(rr);
    rho = rz;
    state = ColumnState::iterating;
    alpha = beta = 0;
    if (!is_number(norm)) {
      stop(SolveStatus::not_finite, 0);
    } else if (norm <= target) {
      stop(SolveStatus::converged, 0);
    } else if (!(rho > 0)) {
      stop(SolveStatus::breakdown, rho);
    }
  }

  /// p'q is known, q = A p.
  CSRKIT_HOST_DEVICE void after_product(double pq) {
    if (state == ColumnState::last_step) state = ColumnState::idle;
    if (state == ColumnState::idle) return;
    alpha = rho / pq;
    if (!is_number(pq)) {
      stop(SolveStatus::not_finite, 0);
    } else if (!(pq > 0) || !is_number(alpha)) {
      stop(pq < 0 ? SolveStatus::indefinite : SolveStatus::breakdown, pq);
    }
  }

  /// r'r and r'z of the new residual are known.
  CSRKIT_HOST_DEVICE void after_residual(double rr, double rz) {
    if (state != ColumnState::iterating) return;
    const double next = sqrt(rr);
    if (!is_number(next)) {
      stop(SolveStatus::not_finite, 0);
      return;
    }
    ++iterations;
    keeps = next > norm && norm <= best_norm;
    norm = next;
    best_norm = next < best_norm ? next : best_norm;
    beta = rz / rho;
    rho = rz;
    if (norm <= target) {
      stop(SolveStatus::converged, 0);
      state = ColumnState::last_step;
    } else if (!(rho > 0)) {
      stop(SolveStatus::breakdown, rho);
      state = ColumnState::last_step;
    }
  }

  CSRKIT_HOST_DEVICE bool moves() const { return state != ColumnState::idle; }

 private:
  CSRKIT_HOST_DEVICE static bool is_number(double value) {
    return value - value == 0;  // neither NaN nor infinite
  }
};

/// The record of one iteration of a column.
struct CgRecord {
  double norm, alpha, beta;
};

}  // namespace csrkit::gpu
