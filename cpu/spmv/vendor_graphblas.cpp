// vendor_graphblas: GrB_mxv of SuiteSparse:GraphBLAS, y += A * x with x and y full.
// Owns     GraphBLAS's copy of A (64-bit indices); the work is GraphBLAS's
// Reads    x and y in place: they are packed into vectors and unpacked again for every call
// Launch   GraphBLAS's own OpenMP threads, as many as the plan has
// Needs    stored values, x and y without gaps, alpha 1 and beta 0
// Against  the kernels here: the library of graph programs. y starts as zeros, because only the
//          form that adds into a full y has a kernel of its own in GraphBLAS
#include "cpu/common/vendor/vendor_graphblas.h"

#include "cpu/common/vendor/vendor.h"

namespace csrkit::cpu::spmv {

namespace {

template <class Value>
class VendorGraphblas : public SpmmMethod {
 public:
  explicit VendorGraphblas(const MethodInput& input)
      : op_a_(input.op_a), team_(input.team), a_(op_a_, &input.budget), threads_(team_.threads) {
    if (op_a_.nnz() == 0) return;
    check_graphblas(GrB_Vector_new(&x_, Kind::type(), static_cast<GrB_Index>(op_a_.cols())),
                    "GrB_Vector_new");
    check_graphblas(GrB_Vector_new(&y_, Kind::type(), static_cast<GrB_Index>(op_a_.rows())),
                    "GrB_Vector_new");
  }
  VendorGraphblas(const VendorGraphblas&) = delete;
  VendorGraphblas& operator=(const VendorGraphblas&) = delete;
  ~VendorGraphblas() override {
    if (op_a_.nnz() == 0) return;
    GrB_Vector_free(&x_);
    GrB_Vector_free(&y_);
  }

  void multiply(const MethodCall& call) override {
    scale_output<Value>(call);
    if (op_a_.nnz() == 0) return;
    auto* y = call.c.as<Value>();
    void* x_data = const_cast<void*>(call.b.data);
    void* y_data = y;
    check_graphblas(GxB_Vector_pack_Full(x_, &x_data, bytes_of(call.b.rows), false, nullptr),
                    "GxB_Vector_pack_Full");
    check_graphblas(GxB_Vector_pack_Full(y_, &y_data, bytes_of(call.c.rows), false, nullptr),
                    "GxB_Vector_pack_Full");
    const GrB_Info info =
        GrB_mxv(y_, nullptr, Kind::plus(), Kind::plus_times(), a_.get(), x_, threads_.get());
    const GrB_Info done = info == GrB_SUCCESS ? GrB_Vector_wait(y_, GrB_MATERIALIZE) : info;
    GrB_Index size = 0;
    bool is_iso = false;
    check_graphblas(GxB_Vector_unpack_Full(x_, &x_data, &size, &is_iso, nullptr),
                    "GxB_Vector_unpack_Full");
    check_graphblas(GxB_Vector_unpack_Full(y_, &y_data, &size, &is_iso, nullptr),
                    "GxB_Vector_unpack_Full");
    check_graphblas(done, "GrB_mxv");
    if (y_data != y) {  // GraphBLAS made another array and freed ours
      throw Error("GraphBLAS replaced the memory of y, which belongs to the caller");
    }
  }

  std::string choice() const override { return graphblas_version(); }

 private:
  using Kind = GraphblasKind<Value>;

  static GrB_Index bytes_of(Index elements) {
    return static_cast<GrB_Index>(elements) * sizeof(Value);
  }

  CsrMatrix op_a_;
  Team team_;
  GraphblasMatrix<Value> a_;
  GraphblasThreads threads_;
  GrB_Vector x_ = nullptr, y_ = nullptr;
};

}  // namespace

std::unique_ptr<SpmmMethod> make_vendor_graphblas(const MethodInput& input) {
  return make_vendor<VendorGraphblas>(input);
}

}  // namespace csrkit::cpu::spmv
