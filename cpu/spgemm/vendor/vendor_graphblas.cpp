// vendor_graphblas: GrB_mxm of SuiteSparse:GraphBLAS.
// Owns     GraphBLAS's copies of A and op(B) (64-bit indices), and its C
// Reads    those copies
// Launch   GraphBLAS's own OpenMP threads, as many as the plan has; Gustavson's method or hashing
//          is its own choice
// Needs    stored values, alpha 1
// Against  the kernels here: the library of graph programs. Rows that it leaves unsorted for later
//          are sorted by it. Source: T. Davis, ACM TOMS 45 (2019)
#include "cpu/common/vendor/vendor_graphblas.h"

#include "cpu/spgemm/vendor/vendor.h"

namespace csrkit::cpu {

namespace {

template <class Value>
class GraphblasProduct : public VendorProduct {
 public:
  explicit GraphblasProduct(const VendorOperands& operands)
      : rows_(operands.a.rows()),
        cols_(operands.op_b.cols()),
        a_(operands.a),
        threads_(operands.threads) {
    if (!operands.b_is_a()) b_ = std::make_unique<GraphblasMatrix<Value>>(operands.op_b);
  }
  ~GraphblasProduct() override { GraphblasProduct::drop(); }

  void multiply() override {
    check_graphblas(GrB_Matrix_new(&c_, Kind::type(), static_cast<GrB_Index>(rows_),
                                   static_cast<GrB_Index>(cols_)),
                    "GrB_Matrix_new");
    check_graphblas(GrB_mxm(c_, nullptr, nullptr, Kind::plus_times(), a_.get(),
                            b_ ? b_->get() : a_.get(), threads_.get()),
                    "GrB_mxm");
  }

  void sort() override { check_graphblas(GrB_Matrix_wait(c_, GrB_MATERIALIZE), "GrB_Matrix_wait"); }

  CsrMatrix result() const override {
    GrB_Matrix copy = nullptr;
    check_graphblas(GrB_Matrix_dup(&copy, c_), "GrB_Matrix_dup");
    GrB_Type type = nullptr;
    GrB_Index rows = 0, cols = 0, offset_bytes = 0, col_bytes = 0, value_bytes = 0;
    GrB_Index *offsets = nullptr, *columns = nullptr;
    void* values = nullptr;
    bool is_iso = false;
    check_graphblas(
        GxB_Matrix_export_CSR(&copy, &type, &rows, &cols, &offsets, &columns, &values,
                              &offset_bytes, &col_bytes, &value_bytes, &is_iso, nullptr, nullptr),
        "GxB_Matrix_export_CSR");
    const std::unique_ptr<void, void (*)(void*)> keep[] = {
        {offsets, &std::free}, {columns, &std::free}, {values, &std::free}};
    const auto* stored = static_cast<const Value*>(values);
    if (!is_iso) return copy_of_product(rows_, cols_, offsets, columns, stored);
    // One value stands for all, as in a matrix of one entry.
    Buffer<Value> spread(static_cast<Offset>(offsets[rows_]));
    std::fill(spread.data(), spread.data() + spread.size(), *stored);
    return copy_of_product(rows_, cols_, offsets, columns, spread.data());
  }

  void drop() override { GrB_Matrix_free(&c_); }

  std::string choice() const override { return graphblas_version(); }

 private:
  using Kind = GraphblasKind<Value>;
  Index rows_, cols_;
  GraphblasMatrix<Value> a_;
  std::unique_ptr<GraphblasMatrix<Value>> b_;
  GraphblasThreads threads_;
  GrB_Matrix c_ = nullptr;
};

}  // namespace

std::unique_ptr<VendorProduct> make_spgemm_vendor_graphblas(const VendorOperands& operands) {
  return make_vendor_product<GraphblasProduct>(operands);
}

}  // namespace csrkit::cpu
