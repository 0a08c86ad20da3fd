// PETSc's binary matrix, big-endian, with float64 values (see preprocess/import/binary/petsc.cpp).
// Integers have 32 bits as long as the nonzeros fit, as in a PETSc of default configuration, else
// 64.
#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "preprocess/export/byte_sink.h"
#include "preprocess/export/export_format.h"

namespace csrkit {

namespace {

constexpr std::int32_t kMatrix = 1211216;  // MAT_FILE_CLASSID

/// Collects numbers in big-endian order and writes them in large pieces.
class BigEndianWriter {
 public:
  explicit BigEndianWriter(ByteSink& sink) : sink_(sink) {}

  template <class T>
  void put(T number) {
    char bytes[sizeof number];
    std::memcpy(bytes, &number, sizeof number);
    std::reverse(bytes, bytes + sizeof number);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof number);
    if (bytes_.size() >= kPiece) flush();
  }
  void flush() {
    sink_.write(bytes_.data(), bytes_.size());
    bytes_.clear();
  }

 private:
  static constexpr std::size_t kPiece = 1 << 20;
  ByteSink& sink_;
  std::vector<char> bytes_;
};

template <class Integer>
void write_matrix(BigEndianWriter& out, const CsrMatrix& matrix, const ProgressCallback& progress) {
  const Offset nnz = matrix.nnz();
  const auto total = static_cast<std::uint64_t>(2 * nnz + matrix.rows());
  for (const Offset number : {Offset{kMatrix}, Offset{matrix.rows()}, Offset{matrix.cols()}, nnz}) {
    out.put(static_cast<Integer>(number));
  }
  for (Index row = 0; row < matrix.rows(); ++row) {
    out.put(static_cast<Integer>(matrix.row_length(row)));
  }
  const auto report = [&](Offset done) {
    constexpr Offset kStep = 1 << 20;
    if (progress && done % kStep == 0) progress("writing", static_cast<std::uint64_t>(done), total);
  };
  for (Offset at = 0; at < nnz; ++at) {
    out.put(static_cast<Integer>(matrix.col_indices()[at]));
    report(at);
  }
  matrix.visit([&](auto view) {
    for (Offset at = 0; at < nnz; ++at) {
      out.put(view.template value_as<double>(at));
      report(nnz + at);
    }
  });
}

}  // namespace

std::string loss_petsc(const CsrMatrix&, const Parameters&) { return {}; }

void write_petsc(const std::string& path, const CsrMatrix& matrix, const WriteRequest& request) {
  const std::unique_ptr<ByteSink> sink = plain_sink(path);
  BigEndianWriter out(*sink);
  if (matrix.nnz() <= std::numeric_limits<std::int32_t>::max()) {
    write_matrix<std::int32_t>(out, matrix, request.progress);
  } else {
    write_matrix<std::int64_t>(out, matrix, request.progress);
  }
  out.flush();
  sink->finish();
}

}  // namespace csrkit
