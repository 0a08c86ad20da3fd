// vendor_librsb: rsb_spmm of librsb, A in recursive sparse blocks.
// Owns     librsb's copy of A; the work is librsb's
// Reads    B and C in place
// Launch   librsb's own OpenMP threads: those it was started with, at most the plan's
// Needs    stored values, below 2^31 nonzeros
// Against  the kernels here: blocks that fit the caches. Source: librsb 1.3
#include <rsb.h>

#include <mutex>

#include "cpu/common/vendor/vendor.h"

namespace csrkit::cpu {

namespace {

void check(rsb_err_t error, const char* call) {
  if (error == RSB_ERR_NO_ERROR) return;
  if (error == RSB_ERR_ENOMEM) {
    throw MemoryError(std::string(call) + ": librsb could not allocate; use a kernel of csrkit");
  }
  throw Error(std::string(call) + " failed with librsb status " + std::to_string(error));
}

/// librsb is started once and, because nobody knows who else uses it, never stopped.
void start_librsb() {
  static std::once_flag once;
  std::call_once(once, [] { check(rsb_lib_init(RSB_NULL_INIT_OPTIONS), "rsb_lib_init"); });
}

template <class Value>
class VendorLibrsb : public SpmmMethod {
 public:
  explicit VendorLibrsb(const MethodInput& input) : op_a_(input.op_a), team_(input.team) {
    if (op_a_.nnz() == 0) return;
    const Buffer<int> offsets = narrow_row_offsets(input, "librsb");
    const auto nnz = static_cast<std::uint64_t>(op_a_.nnz());
    input.budget.reserve(nnz * (2 * sizeof(int) + sizeof(Value)), "librsb's copy of A");
    start_librsb();
    use_threads();
    rsb_err_t error = RSB_ERR_NO_ERROR;
    a_ = rsb_mtx_alloc_from_csr_const(
        op_a_.view<Value>().values, offsets.data(), op_a_.col_indices(),
        static_cast<rsb_nnz_idx_t>(nnz),
        std::is_same_v<Value, float> ? RSB_NUMERICAL_TYPE_FLOAT : RSB_NUMERICAL_TYPE_DOUBLE,
        op_a_.rows(), op_a_.cols(), 0, 0, RSB_FLAG_DEFAULT_RSB_MATRIX_FLAGS, &error);
    check(error, "rsb_mtx_alloc_from_csr_const");
    if (a_ == nullptr) throw Error("rsb_mtx_alloc_from_csr_const made no matrix");
  }
  VendorLibrsb(const VendorLibrsb&) = delete;
  VendorLibrsb& operator=(const VendorLibrsb&) = delete;
  ~VendorLibrsb() override {
    if (a_ != nullptr) rsb_mtx_free(a_);
  }

  void multiply(const MethodCall& call) override {
    if (op_a_.nnz() == 0) return scale_output<Value>(call);
    use_threads();
    if (call.beta == 0) scale_output<Value>(call);  // librsb computes 0 * C
    const auto alpha = static_cast<Value>(call.alpha);
    const auto beta = static_cast<Value>(call.beta);
    check(rsb_spmm(RSB_TRANSPOSITION_N, &alpha, a_, call.c.cols, RSB_FLAG_WANT_ROW_MAJOR_ORDER,
                   call.b.data, static_cast<rsb_nnz_idx_t>(call.b.leading_dim), &beta, call.c.data,
                   static_cast<rsb_nnz_idx_t>(call.c.leading_dim)),
          "rsb_spmm");
  }

  std::string choice() const override { return "librsb " RSB_LIBRSB_VER_STRING; }

 private:
  void use_threads() const {
    const rsb_int_t threads = team_.threads;
    check(rsb_lib_set_opt(RSB_IO_WANT_EXECUTING_THREADS, &threads), "rsb_lib_set_opt");
  }

  CsrMatrix op_a_;
  Team team_;
  rsb_mtx_t* a_ = nullptr;
};

}  // namespace

std::unique_ptr<SpmmMethod> make_vendor_librsb(const MethodInput& input) {
  return make_vendor<VendorLibrsb>(input);
}

}  // namespace csrkit::cpu
