// How GraphBLAS is started, how its errors become ours, and how it gets a matrix, in every
// vendor_graphblas.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <type_traits>

// The header of version 7 does not say itself that it is C. What it includes stands above.
extern "C" {
#include <GraphBLAS.h>
}

#include "core/base/error.h"
#include "core/matrix/csr_matrix.h"
#include "cpu/common/memory_budget.h"

namespace csrkit::cpu {

inline void check_graphblas(GrB_Info info, const char* call) {
  if (info == GrB_SUCCESS) return;
  if (info == GrB_OUT_OF_MEMORY) {
    throw MemoryError(std::string(call) + ": GraphBLAS could not allocate; use a kernel of csrkit");
  }
  throw Error(std::string(call) + " failed with GraphBLAS status " + std::to_string(info));
}

/// Starts GraphBLAS once. It is never stopped, because other code of the process may use it.
inline void start_graphblas() {
  static std::once_flag once;
  std::call_once(once, [] { check_graphblas(GrB_init(GrB_NONBLOCKING), "GrB_init"); });
}

inline std::string graphblas_version() {
  return "SuiteSparse:GraphBLAS " + std::to_string(GxB_IMPLEMENTATION_MAJOR) + "." +
         std::to_string(GxB_IMPLEMENTATION_MINOR) + "." + std::to_string(GxB_IMPLEMENTATION_SUB);
}

template <class Value>
struct GraphblasKind {
  static constexpr bool kIsFloat = std::is_same_v<Value, float>;
  static GrB_Type type() { return kIsFloat ? GrB_FP32 : GrB_FP64; }
  static GrB_BinaryOp plus() { return kIsFloat ? GrB_PLUS_FP32 : GrB_PLUS_FP64; }
  static GrB_Semiring plus_times() {
    return kIsFloat ? GrB_PLUS_TIMES_SEMIRING_FP32 : GrB_PLUS_TIMES_SEMIRING_FP64;
  }
};

/// An array that GraphBLAS may own and free.
template <class T>
T* allocate_for_graphblas(std::uint64_t count) {
  auto* data = static_cast<T*>(std::malloc(std::max<std::uint64_t>(1, count) * sizeof(T)));
  if (data == nullptr) throw MemoryError("not enough memory for GraphBLAS's copy of a matrix");
  return data;
}

/// Bytes of GraphBLAS's copy of a matrix: 64-bit indices.
template <class Value>
std::uint64_t graphblas_bytes(const CsrMatrix& matrix) {
  const auto rows = static_cast<std::uint64_t>(matrix.rows());
  const auto nnz = static_cast<std::uint64_t>(matrix.nnz());
  return (rows + 1 + nnz) * sizeof(GrB_Index) + nnz * sizeof(Value);
}

/// GraphBLAS's copy of a matrix that stores values, reserved in `budget` if there is one. Null for
/// a matrix without entries.
template <class Value>
class GraphblasMatrix {
 public:
  explicit GraphblasMatrix(const CsrMatrix& matrix, MemoryBudget* budget = nullptr) {
    if (matrix.nnz() == 0) return;
    if (budget != nullptr) budget->reserve(graphblas_bytes<Value>(matrix), "GraphBLAS's copy of A");
    start_graphblas();
    const auto rows = static_cast<std::uint64_t>(matrix.rows());
    const auto nnz = static_cast<std::uint64_t>(matrix.nnz());
    auto* offsets = allocate_for_graphblas<GrB_Index>(rows + 1);
    auto* cols = allocate_for_graphblas<GrB_Index>(nnz);
    auto* values = allocate_for_graphblas<Value>(nnz);
    for (std::uint64_t i = 0; i <= rows; ++i) {
      offsets[i] = static_cast<GrB_Index>(matrix.row_offsets()[i]);
    }
    for (std::uint64_t n = 0; n < nnz; ++n) {
      cols[n] = static_cast<GrB_Index>(matrix.col_indices()[n]);
    }
    std::memcpy(values, matrix.values(), nnz * sizeof(Value));
    void* untyped = values;
    check_graphblas(
        GxB_Matrix_import_CSR(&copy_, GraphblasKind<Value>::type(), rows,
                              static_cast<GrB_Index>(matrix.cols()), &offsets, &cols, &untyped,
                              (rows + 1) * sizeof(GrB_Index), nnz * sizeof(GrB_Index),
                              nnz * sizeof(Value), false, false, nullptr),
        "GxB_Matrix_import_CSR");
  }
  ~GraphblasMatrix() {
    if (copy_ != nullptr) GrB_Matrix_free(&copy_);
  }
  GraphblasMatrix(const GraphblasMatrix&) = delete;
  GraphblasMatrix& operator=(const GraphblasMatrix&) = delete;
  GrB_Matrix get() const { return copy_; }

 private:
  GrB_Matrix copy_ = nullptr;
};

/// The descriptor of calls that use so many threads.
class GraphblasThreads {
 public:
  explicit GraphblasThreads(int threads) {
    start_graphblas();
    check_graphblas(GrB_Descriptor_new(&descriptor_), "GrB_Descriptor_new");
    check_graphblas(GxB_Desc_set(descriptor_, static_cast<GrB_Desc_Field>(GxB_NTHREADS), threads),
                    "GxB_Desc_set");
  }
  ~GraphblasThreads() { GrB_Descriptor_free(&descriptor_); }
  GraphblasThreads(const GraphblasThreads&) = delete;
  GraphblasThreads& operator=(const GraphblasThreads&) = delete;
  GrB_Descriptor get() const { return descriptor_; }

 private:
  GrB_Descriptor descriptor_ = nullptr;
};

}  // namespace csrkit::cpu
