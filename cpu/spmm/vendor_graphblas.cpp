// vendor_graphblas: GrB_mxm of SuiteSparse:GraphBLAS, C += A * B with B and C full, held by row.
// Owns     GraphBLAS's copy of A (64-bit indices); the work is GraphBLAS's
// Reads    B and C in place: they are packed into matrices and unpacked again for every call
// Launch   GraphBLAS's own OpenMP threads, as many as the plan has
// Needs    stored values, B and C without gaps between rows, alpha 1 and beta 0
// Against  the kernels here: the peer of graph programs. C starts as zeros, because only the form that
//          adds into a full C has a kernel of its own in GraphBLAS
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

// The header of version 7 does not say itself that it is C. What it includes stands above.
extern "C" {
#include <GraphBLAS.h>
}

#include "cpu/spmm/vendor.h"

namespace csrkit::cpu {

namespace {

void check(GrB_Info info, const char* call) {
  if (info == GrB_SUCCESS) return;
  if (info == GrB_OUT_OF_MEMORY) {
    throw MemoryError(std::string(call) + ": GraphBLAS could not allocate; use a kernel of csrkit");
  }
  throw Error(std::string(call) + " failed with GraphBLAS status " + std::to_string(info));
}

/// GraphBLAS is started once and, because nobody knows who else uses it, never stopped.
void start_graphblas() {
  static std::once_flag once;
  std::call_once(once, [] { check(GrB_init(GrB_NONBLOCKING), "GrB_init"); });
}

/// An array that GraphBLAS may own and free.
template <class T>
T* allocate(std::uint64_t count) {
  auto* data = static_cast<T*>(std::malloc(std::max<std::uint64_t>(1, count) * sizeof(T)));
  if (data == nullptr) throw MemoryError("not enough memory for GraphBLAS's copy of A");
  return data;
}

template <class Value>
class VendorGraphblas : public SpmmMethod {
 public:
  explicit VendorGraphblas(const MethodInput& input) : op_a_(input.op_a), team_(input.team) {
    if (op_a_.nnz() == 0) return;
    const auto rows = static_cast<std::uint64_t>(op_a_.rows());
    const auto nnz = static_cast<std::uint64_t>(op_a_.nnz());
    input.budget.reserve((rows + 1 + nnz) * sizeof(GrB_Index) + nnz * sizeof(Value),
                         "GraphBLAS's copy of A");
    start_graphblas();
    auto* offsets = allocate<GrB_Index>(rows + 1);
    auto* cols = allocate<GrB_Index>(nnz);
    auto* values = allocate<Value>(nnz);
    for (std::uint64_t i = 0; i <= rows; ++i) {
      offsets[i] = static_cast<GrB_Index>(op_a_.row_offsets()[i]);
    }
    for (std::uint64_t n = 0; n < nnz; ++n) {
      cols[n] = static_cast<GrB_Index>(op_a_.col_indices()[n]);
    }
    const auto view = op_a_.view<Value>();
    std::memcpy(values, view.values, nnz * sizeof(Value));
    void* untyped = values;
    check(
        GxB_Matrix_import_CSR(&a_, type(), rows, static_cast<GrB_Index>(op_a_.cols()), &offsets,
                              &cols, &untyped, (rows + 1) * sizeof(GrB_Index),
                              nnz * sizeof(GrB_Index), nnz * sizeof(Value), false, false, nullptr),
        "GxB_Matrix_import_CSR");
    const auto dense_cols = static_cast<GrB_Index>(input.problem.dense_cols);
    check(GrB_Matrix_new(&b_, type(), static_cast<GrB_Index>(op_a_.cols()), dense_cols),
          "GrB_Matrix_new");
    check(GrB_Matrix_new(&c_, type(), rows, dense_cols), "GrB_Matrix_new");
    check(GrB_Descriptor_new(&descriptor_), "GrB_Descriptor_new");
    check(GxB_Desc_set(descriptor_, static_cast<GrB_Desc_Field>(GxB_NTHREADS), team_.threads),
          "GxB_Desc_set");
  }
  VendorGraphblas(const VendorGraphblas&) = delete;
  VendorGraphblas& operator=(const VendorGraphblas&) = delete;
  ~VendorGraphblas() override {
    if (op_a_.nnz() == 0) return;
    GrB_Matrix_free(&a_);
    GrB_Matrix_free(&b_);
    GrB_Matrix_free(&c_);
    GrB_Descriptor_free(&descriptor_);
  }

  void multiply(const MethodCall& call) override {
    if (op_a_.nnz() == 0) return scale_output<Value>(call);
    auto* c = call.c.as<Value>();
    const auto c_bytes = static_cast<GrB_Index>(Offset{call.c.rows} * call.c.cols) * sizeof(Value);
    const auto b_bytes = static_cast<GrB_Index>(Offset{call.b.rows} * call.b.cols) * sizeof(Value);
#pragma omp parallel for schedule(static) num_threads(team_.threads)
    for (Index i = 0; i < call.c.rows; ++i) {
      std::memset(c + Offset{i} * call.c.cols, 0,
                  static_cast<std::size_t>(call.c.cols) * sizeof(Value));
    }
    void* b_data = const_cast<void*>(call.b.data);
    void* c_data = c;
    check(GxB_Matrix_pack_FullR(b_, &b_data, b_bytes, false, nullptr), "GxB_Matrix_pack_FullR");
    check(GxB_Matrix_pack_FullR(c_, &c_data, c_bytes, false, nullptr), "GxB_Matrix_pack_FullR");
    const GrB_Info info = GrB_mxm(c_, nullptr, plus(), plus_times(), a_, b_, descriptor_);
    const GrB_Info done = info == GrB_SUCCESS ? GrB_Matrix_wait(c_, GrB_MATERIALIZE) : info;
    GrB_Index size = 0;
    bool is_iso = false;
    check(GxB_Matrix_unpack_FullR(b_, &b_data, &size, &is_iso, nullptr), "GxB_Matrix_unpack_FullR");
    check(GxB_Matrix_unpack_FullR(c_, &c_data, &size, &is_iso, nullptr), "GxB_Matrix_unpack_FullR");
    check(done, "GrB_mxm");
    if (c_data != c) {  // GraphBLAS made another array and freed ours
      throw Error("GraphBLAS replaced the memory of C, which belongs to the caller");
    }
  }

  std::string choice() const override {
    return "SuiteSparse:GraphBLAS " + std::to_string(GxB_IMPLEMENTATION_MAJOR) + "." +
           std::to_string(GxB_IMPLEMENTATION_MINOR) + "." + std::to_string(GxB_IMPLEMENTATION_SUB);
  }

 private:
  static constexpr bool kIsFloat = std::is_same_v<Value, float>;
  static GrB_Type type() { return kIsFloat ? GrB_FP32 : GrB_FP64; }
  static GrB_BinaryOp plus() { return kIsFloat ? GrB_PLUS_FP32 : GrB_PLUS_FP64; }
  static GrB_Semiring plus_times() {
    return kIsFloat ? GrB_PLUS_TIMES_SEMIRING_FP32 : GrB_PLUS_TIMES_SEMIRING_FP64;
  }

  CsrMatrix op_a_;
  Team team_;
  GrB_Matrix a_ = nullptr, b_ = nullptr, c_ = nullptr;
  GrB_Descriptor descriptor_ = nullptr;
};

}  // namespace

std::unique_ptr<SpmmMethod> make_vendor_graphblas(const MethodInput& input) {
  return make_vendor<VendorGraphblas>(input);
}

}  // namespace csrkit::cpu
