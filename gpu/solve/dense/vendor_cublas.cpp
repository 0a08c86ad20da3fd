// vendor_symv, vendor_symv_atomics, vendor_gemv: cuBLAS's products q = A p.
// Reads    symv half of A, gemv all of it. The library's columns are A's rows, which are equal here
// Needs    cuBLAS, opened at run time
// Against  half
#include "gpu/solve/dense/product.h"
#include "gpu/solve/vendor/cublas.h"

namespace csrkit::gpu {

namespace {

template <class T>
class VendorProduct : public DenseProduct<T> {
 public:
  VendorProduct(const DenseInput<T>& input, bool is_symv, bool with_atomics)
      : a_(input.a),
        is_symv_(is_symv),
        cublas_(input.memory, CUBLAS_POINTER_MODE_HOST, with_atomics) {}

  void launch(const T* p, T* q, Index stride, cudaStream_t) override {
    const T one = 1, zero = 0;
    const int n = a_.rows, pitch = static_cast<int>(a_.pitch);
    const CublasCalls& calls = cublas_.calls();
    const cublasHandle_t handle = cublas_.handle();
    if constexpr (std::is_same_v<T, float>) {
      check_cublas(is_symv_ ? calls.ssymv(handle, CUBLAS_FILL_MODE_LOWER, n, &one, a_.data, pitch,
                                          p, stride, &zero, q, stride)
                            : calls.sgemv(handle, CUBLAS_OP_T, n, n, &one, a_.data, pitch, p,
                                          stride, &zero, q, stride),
                   "a product of cuBLAS");
    } else {
      check_cublas(is_symv_ ? calls.dsymv(handle, CUBLAS_FILL_MODE_LOWER, n, &one, a_.data, pitch,
                                          p, stride, &zero, q, stride)
                            : calls.dgemv(handle, CUBLAS_OP_T, n, n, &one, a_.data, pitch, p,
                                          stride, &zero, q, stride),
                   "a product of cuBLAS");
    }
  }

 private:
  SquareView<T> a_;
  bool is_symv_;
  Cublas cublas_;
};

}  // namespace

#define CSRKIT_FACTORY(name, is_symv, with_atomics)                                    \
  template <class T>                                                                   \
  std::unique_ptr<DenseProduct<T>> make_##name(const DenseInput<T>& input) {           \
    return std::make_unique<VendorProduct<T>>(input, is_symv, with_atomics);           \
  }                                                                                    \
  template std::unique_ptr<DenseProduct<float>> make_##name(const DenseInput<float>&); \
  template std::unique_ptr<DenseProduct<double>> make_##name(const DenseInput<double>&);
CSRKIT_FACTORY(vendor_symv, true, false)
CSRKIT_FACTORY(vendor_symv_atomics, true, true)
CSRKIT_FACTORY(vendor_gemv, false, false)
#undef CSRKIT_FACTORY

}  // namespace csrkit::gpu
