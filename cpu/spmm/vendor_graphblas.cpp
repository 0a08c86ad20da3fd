// vendor_graphblas: GrB_mxm of SuiteSparse:GraphBLAS, C += A * B with B and C full, held by row.
// Owns     GraphBLAS's copy of A (64-bit indices); the work is GraphBLAS's
// Reads    B and C in place: they are packed into matrices and unpacked again for every call
// Launch   GraphBLAS's own OpenMP threads, as many as the plan has
// Needs    stored values, B and C without gaps between rows, alpha 1 and beta 0
// Against  the kernels here: the library of graph programs. C starts as zeros, because only the
//          form that adds into a full C has a kernel of its own in GraphBLAS
#include "cpu/common/vendor/vendor_graphblas.h"

#include "cpu/common/vendor/vendor.h"

namespace csrkit::cpu {

namespace {

template <class Value>
class VendorGraphblas : public SpmmMethod {
 public:
  explicit VendorGraphblas(const MethodInput& input)
      : op_a_(input.op_a), team_(input.team), a_(op_a_, &input.budget), threads_(team_.threads) {
    if (op_a_.nnz() == 0) return;
    const auto dense_cols = static_cast<GrB_Index>(input.problem.dense_cols);
    check_graphblas(
        GrB_Matrix_new(&b_, Kind::type(), static_cast<GrB_Index>(op_a_.cols()), dense_cols),
        "GrB_Matrix_new");
    check_graphblas(
        GrB_Matrix_new(&c_, Kind::type(), static_cast<GrB_Index>(op_a_.rows()), dense_cols),
        "GrB_Matrix_new");
  }
  VendorGraphblas(const VendorGraphblas&) = delete;
  VendorGraphblas& operator=(const VendorGraphblas&) = delete;
  ~VendorGraphblas() override {
    if (op_a_.nnz() == 0) return;
    GrB_Matrix_free(&b_);
    GrB_Matrix_free(&c_);
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
    check_graphblas(GxB_Matrix_pack_FullR(b_, &b_data, b_bytes, false, nullptr),
                    "GxB_Matrix_pack_FullR");
    check_graphblas(GxB_Matrix_pack_FullR(c_, &c_data, c_bytes, false, nullptr),
                    "GxB_Matrix_pack_FullR");
    const GrB_Info info =
        GrB_mxm(c_, nullptr, Kind::plus(), Kind::plus_times(), a_.get(), b_, threads_.get());
    const GrB_Info done = info == GrB_SUCCESS ? GrB_Matrix_wait(c_, GrB_MATERIALIZE) : info;
    GrB_Index size = 0;
    bool is_iso = false;
    check_graphblas(GxB_Matrix_unpack_FullR(b_, &b_data, &size, &is_iso, nullptr),
                    "GxB_Matrix_unpack_FullR");
    check_graphblas(GxB_Matrix_unpack_FullR(c_, &c_data, &size, &is_iso, nullptr),
                    "GxB_Matrix_unpack_FullR");
    check_graphblas(done, "GrB_mxm");
    if (c_data != c) {  // GraphBLAS made another array and freed ours
      throw Error("GraphBLAS replaced the memory of C, which belongs to the caller");
    }
  }

  std::string choice() const override { return graphblas_version(); }

 private:
  using Kind = GraphblasKind<Value>;
  CsrMatrix op_a_;
  Team team_;
  GraphblasMatrix<Value> a_;
  GraphblasThreads threads_;
  GrB_Matrix b_ = nullptr, c_ = nullptr;
};

}  // namespace

std::unique_ptr<SpmmMethod> make_vendor_graphblas(const MethodInput& input) {
  return make_vendor<VendorGraphblas>(input);
}

}  // namespace csrkit::cpu
