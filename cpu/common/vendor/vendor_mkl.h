// How MKL's errors and threads are dealt with, and how it gets a matrix, in every vendor_mkl.
#pragma once

#include <mkl_service.h>
#include <mkl_spblas.h>

#include <string>
#include <type_traits>
#include <utility>

#include "core/base/error.h"
#include "core/matrix/csr_matrix.h"

namespace csrkit::cpu {

inline void check_mkl(sparse_status_t status, const char* call) {
  if (status == SPARSE_STATUS_SUCCESS) return;
  if (status == SPARSE_STATUS_ALLOC_FAILED) {
    throw MemoryError(std::string(call) + ": MKL could not allocate; use a kernel of csrkit");
  }
  throw Error(std::string(call) + " failed with MKL status " + std::to_string(status));
}

inline std::string mkl_version() {
  char version[200] = {};
  mkl_get_version_string(version, sizeof version - 1);
  return version;
}

/// MKL's threads for this thread's calls.
class MklThreads {
 public:
  explicit MklThreads(int threads) : before_(mkl_set_num_threads_local(threads)) {}
  ~MklThreads() { mkl_set_num_threads_local(before_); }
  MklThreads(const MklThreads&) = delete;
  MklThreads& operator=(const MklThreads&) = delete;

 private:
  int before_;
};

inline constexpr matrix_descr kMklGeneral{SPARSE_MATRIX_TYPE_GENERAL, SPARSE_FILL_MODE_FULL,
                                          SPARSE_DIAG_NON_UNIT};

/// What MKL is told of how often it multiplies: more than any analysis could cost.
inline constexpr int kMklExpectedCalls = 1000;

/// A matrix as MKL reads it, in place. The matrix must outlive it. Null for one without entries.
template <class Value>
class MklMatrix {
 public:
  MklMatrix(const CsrMatrix& matrix, Buffer<int> row_offsets)
      : row_offsets_(std::move(row_offsets)) {
    if (matrix.nnz() == 0) return;
    // MKL takes pointers it does not write through.
    auto* cols = const_cast<Index*>(matrix.col_indices());
    auto* values = const_cast<Value*>(static_cast<const Value*>(matrix.values()));
    int* offsets = row_offsets_.data();
    if constexpr (std::is_same_v<Value, float>) {
      check_mkl(mkl_sparse_s_create_csr(&handle_, SPARSE_INDEX_BASE_ZERO, matrix.rows(),
                                        matrix.cols(), offsets, offsets + 1, cols, values),
                "mkl_sparse_s_create_csr");
    } else {
      check_mkl(mkl_sparse_d_create_csr(&handle_, SPARSE_INDEX_BASE_ZERO, matrix.rows(),
                                        matrix.cols(), offsets, offsets + 1, cols, values),
                "mkl_sparse_d_create_csr");
    }
  }
  ~MklMatrix() {
    if (handle_ != nullptr) mkl_sparse_destroy(handle_);
  }
  MklMatrix(const MklMatrix&) = delete;
  MklMatrix& operator=(const MklMatrix&) = delete;
  sparse_matrix_t get() const { return handle_; }

 private:
  Buffer<int> row_offsets_;
  sparse_matrix_t handle_ = nullptr;
};

}  // namespace csrkit::cpu
