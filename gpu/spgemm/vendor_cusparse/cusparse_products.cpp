#include "gpu/spgemm/vendor_cusparse/cusparse_products.h"

#include "core/base/counted.h"

namespace csrkit::gpu {

namespace {

constexpr cusparseOperation_t kPlain = CUSPARSE_OPERATION_NON_TRANSPOSE;

void allocate_offsets(DeviceMemory& memory, DeviceProduct& c) {
  if (c.narrow_offsets.size() > 0) return;
  c.narrow_offsets =
      DeviceBuffer<std::uint32_t>(memory, Offset{c.rows} + 1, "the row offsets of C");
}

DeviceCsrView<void> without_entries(const DeviceProduct& c) {
  DeviceCsrView<void> view = c.view<void>();
  view.nnz = 0;
  view.col_indices = nullptr;
  view.values = nullptr;
  return view;
}

/// What the library has counted. Throws MemoryError beyond 2^31 - 1.
Offset nnz_of(const CusparseMatrix& matrix) {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  CHECK_CUSPARSE(cusparseSpMatGetSize(matrix.get(), &rows, &cols, &nnz));
  if (nnz < 0 || nnz > kMaxIndex) {
    throw MemoryError("cusparseSpGEMM counted " + counted(nnz, "entry") +
                      " of C; its limit is 2^31 - 1");
  }
  return nnz;
}

// The library's protocol: allocate the counted entries, then set the pointers.
void give_entries(DeviceMemory& memory, const CusparseMatrix& matrix, DeviceProduct& c) {
  const Offset nnz = nnz_of(matrix);
  if (c.col_indices.size() == 0) {
    c.allocate_entries(memory, nnz);
  } else if (c.nnz != nnz) {
    throw DeviceError("cuSPARSE counted " + counted(nnz, "entry") + " of C where there were " +
                      std::to_string(c.nnz));
  }
  CHECK_CUSPARSE(cusparseCsrSetPointers(matrix.get(), c.narrow_offsets.data(), c.col_indices.data(),
                                        c.values.data()));
}

}  // namespace

void cusparse_product(const CusparseHandle& handle, ValueKind kind, cusparseSpGEMMAlg_t algorithm,
                      float chunk_fraction, const SpgemmOperands& operands, DeviceMemory& memory,
                      DeviceProduct& c) {
  allocate_offsets(memory, c);
  const CusparseMatrix a(operands.a, kind), b(operands.b, kind);
  const CusparseMatrix result(without_entries(c), kind);
  const CusparseWork work;
  const CusparseScalar alpha(operands.alpha, kind), beta(0, kind);
  const cudaDataType type = cuda_type_of(kind);

  std::size_t bytes = 0;
  const auto estimate = [&](void* buffer) {
    CHECK_CUSPARSE(cusparseSpGEMM_workEstimation(handle.get(), kPlain, kPlain, alpha.get(), a.get(),
                                                 b.get(), beta.get(), result.get(), type, algorithm,
                                                 work.get(), &bytes, buffer));
  };
  estimate(nullptr);
  const DeviceBuffer<std::byte> estimated = cusparse_buffer(memory, bytes);
  estimate(estimated.data());

  std::size_t compute_bytes = 0;
  const auto compute = [&](void* buffer) {
    CHECK_CUSPARSE(cusparseSpGEMM_compute(handle.get(), kPlain, kPlain, alpha.get(), a.get(),
                                          b.get(), beta.get(), result.get(), type, algorithm,
                                          work.get(), &compute_bytes, buffer));
  };
  if (chunk_fraction > 0) {
    std::size_t memory_bytes = 0;
    const auto estimate_memory = [&](void* buffer, std::size_t* wanted) {
      CHECK_CUSPARSE(cusparseSpGEMM_estimateMemory(
          handle.get(), kPlain, kPlain, alpha.get(), a.get(), b.get(), beta.get(), result.get(),
          type, algorithm, work.get(), chunk_fraction, &memory_bytes, buffer, wanted));
    };
    estimate_memory(nullptr, nullptr);
    const DeviceBuffer<std::byte> scratch = cusparse_buffer(memory, memory_bytes);
    estimate_memory(scratch.data(), &compute_bytes);
  } else {
    compute(nullptr);
  }
  const DeviceBuffer<std::byte> computed = cusparse_buffer(memory, compute_bytes);
  compute(computed.data());
  give_entries(memory, result, c);
  CHECK_CUSPARSE(cusparseSpGEMM_copy(handle.get(), kPlain, kPlain, alpha.get(), a.get(), b.get(),
                                     beta.get(), result.get(), type, algorithm, work.get()));
}

void CusparseReuse::find_structure(const SpgemmOperands& operands, DeviceMemory& memory,
                                   DeviceProduct& c) {
  allocate_offsets(memory, c);
  a_ = std::make_unique<CusparseMatrix>(operands.a, kind_);
  b_ = std::make_unique<CusparseMatrix>(operands.b, kind_);
  c_ = std::make_unique<CusparseMatrix>(without_entries(c), kind_);

  std::size_t bytes[4] = {};
  const auto estimate = [&](void* buffer) {
    CHECK_CUSPARSE(cusparseSpGEMMreuse_workEstimation(handle_.get(), kPlain, kPlain, a_->get(),
                                                      b_->get(), c_->get(), algorithm_, work_.get(),
                                                      &bytes[0], buffer));
  };
  estimate(nullptr);
  DeviceBuffer<std::byte> estimated = cusparse_buffer(memory, bytes[0]);
  estimate(estimated.data());

  const auto count = [&](void* second, void* third, void* fourth) {
    CHECK_CUSPARSE(cusparseSpGEMMreuse_nnz(handle_.get(), kPlain, kPlain, a_->get(), b_->get(),
                                           c_->get(), algorithm_, work_.get(), &bytes[1], second,
                                           &bytes[2], third, &bytes[3], fourth));
  };
  count(nullptr, nullptr, nullptr);
  DeviceBuffer<std::byte> second = cusparse_buffer(memory, bytes[1]);
  const DeviceBuffer<std::byte> third = cusparse_buffer(memory, bytes[2]);
  kept_ = cusparse_buffer(memory, bytes[3]);
  count(second.data(), third.data(), kept_.data());
  estimated = {};
  second = {};
  give_entries(memory, *c_, c);

  std::size_t copy_bytes = 0;
  const auto copy = [&](void* buffer) {
    CHECK_CUSPARSE(cusparseSpGEMMreuse_copy(handle_.get(), kPlain, kPlain, a_->get(), b_->get(),
                                            c_->get(), algorithm_, work_.get(), &copy_bytes,
                                            buffer));
  };
  copy(nullptr);
  copied_ = cusparse_buffer(memory, copy_bytes);
  copy(copied_.data());
}

void CusparseReuse::compute(double alpha) {
  const CusparseScalar factor(alpha, kind_), beta(0, kind_);
  CHECK_CUSPARSE(cusparseSpGEMMreuse_compute(handle_.get(), kPlain, kPlain, factor.get(), a_->get(),
                                             b_->get(), beta.get(), c_->get(), cuda_type_of(kind_),
                                             algorithm_, work_.get()));
}

}  // namespace csrkit::gpu
