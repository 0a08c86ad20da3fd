#include "cpu/solve/iterations.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace csrkit::cpu {

template <class T>
CgIterations<T>::CgIterations(Index rows, Index columns, int threads, Operator& product,
                              CpuPreconditioner<T>* preconditioner)
    : loops_(rows, columns, threads),
      product_(product),
      preconditioner_(preconditioner),
      r_(Offset{rows} * columns),
      z_(preconditioner == nullptr ? 0 : Offset{rows} * columns),
      p_(Offset{rows} * columns),
      q_(Offset{rows} * columns),
      best_(Offset{rows} * columns) {
  // First touch: pages go to the threads that will work on them.
  loops_.each([&](const auto& range) {
    for (Index row = range.first; row < range.last; ++row) {
      const Offset i = range.offset(row);
      r_[i] = p_[i] = q_[i] = best_[i] = 0;
      if (preconditioner_ != nullptr) z_[i] = 0;
    }
  });
}

template <class T>
std::vector<double> CgIterations<T>::inner_products(const T* u, const T* v) {
  return loops_.template sums<1>([&](const auto& range, double* sum) {
    sum[0] += sum_in_chains(range, [&](Index row) {
      const Offset i = range.offset(row);
      return static_cast<double>(u[i]) * static_cast<double>(v[i]);
    });
  });
}

template <class T>
std::vector<double> CgIterations<T>::curvatures() {
  return inner_products(p_.data(), q_.data());
}

template <class T>
std::vector<double> CgIterations<T>::update_residual(const std::vector<Column>& columns) {
  const T* const scale = preconditioner_ == nullptr ? nullptr : preconditioner_->inverse_diagonal();
  std::vector<double> sums = loops_.template sums<2>([&](const auto& range, double* sum) {
    const Column& column = columns[static_cast<std::size_t>(range.column)];
    if (!column.is_active) return;
    const T alpha = static_cast<T>(column.alpha);
    const double rr = sum_in_chains(range, [&](Index row) {
      const Offset i = range.offset(row);
      r_[i] -= alpha * q_[i];
      return static_cast<double>(r_[i]) * static_cast<double>(r_[i]);
    });
    double rz = rr;
    if (scale != nullptr) {  // the block is in L1 now
      rz = sum_in_chains(range, [&](Index row) {
        const Offset i = range.offset(row);
        z_[i] = scale[row] * r_[i];
        return static_cast<double>(r_[i]) * static_cast<double>(z_[i]);
      });
    }
    sum[0] += rr;
    sum[1] += rz;
  });
  if (preconditioner_ == nullptr || scale != nullptr) return sums;
  preconditioner_->apply(r_.data(), z_.data());
  const std::vector<double> products = inner_products(r_.data(), z_.data());
  for (std::size_t j = 0; j < products.size(); ++j) sums[2 * j + 1] = products[j];
  return sums;
}

// One pass updates both vectors, because both read p.
template <class T>
void CgIterations<T>::update_directions(const std::vector<Column>& columns, T* x) {
  const T* const z = preconditioner_ == nullptr ? r_.data() : z_.data();
  loops_.each([&](const auto& range) {
    const Column& column = columns[static_cast<std::size_t>(range.column)];
    if (!column.is_active) return;
    const T alpha = static_cast<T>(column.alpha), beta = static_cast<T>(column.beta);
    if (column.keeps) {
      for (Index row = range.first; row < range.last; ++row) {
        best_[range.offset(row)] = x[range.offset(row)];
      }
    }
#pragma omp simd
    for (Index row = range.first; row < range.last; ++row) {
      const Offset i = range.offset(row);
      x[i] += alpha * p_[i];
      p_[i] = z[i] + beta * p_[i];
    }
  });
}

// A step of length 0 leaves r as it is and makes z.
template <class T>
std::vector<typename CgIterations<T>::Column> CgIterations<T>::begin(
    const std::vector<double>& targets) {
  std::vector<Column> columns(static_cast<std::size_t>(loops_.columns()));
  const std::vector<double> sums = update_residual(columns);
  for (std::size_t j = 0; j < columns.size(); ++j) {
    Column& column = columns[j];
    column.norm = column.run.norm = std::sqrt(sums[2 * j]);
    column.rho = sums[2 * j + 1];
    if (!std::isfinite(column.norm)) {
      column.end(SolveStatus::not_finite);
    } else {
      column.end_if_done(targets[j]);
    }
  }
  const std::size_t bytes = static_cast<std::size_t>(r_.size()) * sizeof(T);
  if (bytes > 0) {
    std::memcpy(p_.data(), preconditioner_ == nullptr ? r_.data() : z_.data(), bytes);
  }
  return columns;
}

template <class T>
void CgIterations<T>::choose_steps(std::vector<Column>* columns) {
  const std::vector<double> pqs = curvatures();
  for (std::size_t j = 0; j < columns->size(); ++j) {
    Column& column = (*columns)[j];
    if (!column.is_active) continue;
    const double pq = pqs[j];
    column.alpha = column.rho / pq;
    if (!std::isfinite(pq)) {
      column.end(SolveStatus::not_finite);
    } else if (!(pq > 0) || !std::isfinite(column.alpha)) {
      column.end(pq < 0 ? SolveStatus::indefinite : SolveStatus::breakdown, pq);
    }
  }
}

template <class T>
void CgIterations<T>::take_steps(std::vector<Column>* columns) {
  const std::vector<double> sums = update_residual(*columns);
  for (std::size_t j = 0; j < columns->size(); ++j) {
    Column& column = (*columns)[j];
    if (!column.is_active) continue;
    const double norm = std::sqrt(sums[2 * j]), rho = sums[2 * j + 1];
    if (!std::isfinite(norm)) {
      column.end(SolveStatus::not_finite);
      continue;
    }
    ++column.run.iterations;
    column.keeps = norm > column.norm && column.norm <= column.run.norm;
    column.norm = norm;
    column.run.norm = std::min(column.run.norm, norm);
    column.beta = rho / column.rho;
    column.rho = rho;
  }
}

template <class T>
void CgIterations<T>::restore_best(const std::vector<Column>& columns, T* x) {
  loops_.each([&](const auto& range) {
    const Column& column = columns[static_cast<std::size_t>(range.column)];
    if (column.norm <= column.run.norm) return;
    for (Index row = range.first; row < range.last; ++row) {
      x[range.offset(row)] = best_[range.offset(row)];
    }
  });
}

template <class T>
std::vector<ColumnRun> CgIterations<T>::run(T* x, const std::vector<double>& targets,
                                            const std::vector<double>& scales, Offset limit,
                                            const ProgressCallback& progress,
                                            std::vector<double>* history, CgSteps* steps) {
  std::vector<Column> columns = begin(targets);
  const auto any_active = [&] {
    return std::any_of(columns.begin(), columns.end(),
                       [](const Column& column) { return column.is_active; });
  };
  const DenseView p = DenseVectors<T>::view(p_.data(), loops_.rows(), loops_.columns());
  const DenseView q = DenseVectors<T>::view(q_.data(), loops_.rows(), loops_.columns());
  for (Offset iteration = 0; iteration < limit && any_active(); ++iteration) {
    if (progress) {
      progress("iterations", static_cast<std::uint64_t>(iteration),
               static_cast<std::uint64_t>(limit));
    }
    product_.bind(p, q);
    product_.multiply();
    choose_steps(&columns);
    if (!any_active()) break;
    take_steps(&columns);
    if (steps != nullptr && columns[0].is_active) {
      steps->alpha.push_back(columns[0].alpha);
      steps->beta.push_back(columns[0].beta);
    }
    if (!any_active()) break;
    for (std::size_t j = 0; j < columns.size(); ++j) {
      history->push_back(columns[j].norm * scales[j]);
    }
    update_directions(columns, x);
    for (std::size_t j = 0; j < columns.size(); ++j) {
      if (columns[j].is_active) columns[j].end_if_done(targets[j]);
    }
  }
  restore_best(columns, x);
  std::vector<ColumnRun> runs;
  runs.reserve(columns.size());
  for (const Column& column : columns) runs.push_back(column.run);
  return runs;
}

template class CgIterations<float>;
template class CgIterations<double>;

}  // namespace csrkit::cpu
