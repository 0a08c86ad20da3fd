// SciPy's save_npz layout of a CSR matrix. SciPy wants offsets and columns of one type: int32 as
// long as nnz fits. Without values, data is all true, which our import reads as "without values"
// again. bf16, unknown to NumPy, is written as float32: every number is the same, and importing
// with kind bf16 restores the bits.
#include <algorithm>
#include <limits>
#include <vector>

#include "core/file/npy_file.h"
#include "preprocess/export/byte_sink.h"
#include "preprocess/export/export_format.h"

namespace csrkit {

namespace {

constexpr Offset kStep = 1 << 18;  // elements converted at once

class NpzWriter {
 public:
  NpzWriter(const std::string& path, const CsrMatrix& matrix, const ProgressCallback& progress)
      : zip_(path), progress_(progress) {
    const auto nnz = static_cast<std::uint64_t>(matrix.nnz());
    total_bytes_ = nnz * 8 + static_cast<std::uint64_t>(matrix.rows()) * 8;
  }

  /// Elements that lie in memory as NumPy wants them.
  template <class T>
  void add(const std::string& name, const char* descr, const std::vector<std::int64_t>& shape,
           const T* elements, Offset count) {
    begin(name, descr, shape, count * static_cast<Offset>(sizeof(T)));
    for (Offset at = 0; at < count; at += kStep) {
      put(elements + at, std::min(kStep, count - at) * static_cast<Offset>(sizeof(T)));
    }
  }

  /// One-dimensional; `element(i)` gives element i as a Stored.
  template <class Stored, class Element>
  void add_converted(const std::string& name, const char* descr, Offset count, Element&& element) {
    begin(name, descr, {count}, count * static_cast<Offset>(sizeof(Stored)));
    std::vector<Stored> block;
    for (Offset at = 0; at < count; at += kStep) {
      block.clear();
      for (Offset i = at; i < std::min(count, at + kStep); ++i) block.push_back(element(i));
      put(block.data(), static_cast<Offset>(block.size() * sizeof(Stored)));
    }
  }

  void finish() { zip_.finish(); }

 private:
  void begin(const std::string& name, const char* descr, const std::vector<std::int64_t>& shape,
             Offset bytes) {
    const std::string header = make_npy_header(descr, shape);
    zip_.begin_member(name + ".npy", header.size() + static_cast<std::uint64_t>(bytes));
    zip_.write(header.data(), header.size());
  }

  void put(const void* data, Offset bytes) {
    zip_.write(data, static_cast<std::uint64_t>(bytes));
    done_bytes_ += static_cast<std::uint64_t>(bytes);
    if (progress_) progress_("writing", std::min(done_bytes_, total_bytes_), total_bytes_);
  }

  ZipWriter zip_;
  const ProgressCallback& progress_;
  std::uint64_t done_bytes_ = 0, total_bytes_ = 0;
};

template <class Stored>
void add_pattern(NpzWriter& archive, const CsrMatrix& matrix, const char* descr) {
  archive.add_converted<Stored>("indices", descr, matrix.nnz(), [&](Offset i) {
    return static_cast<Stored>(matrix.col_indices()[i]);
  });
  archive.add_converted<Stored>("indptr", descr, Offset{matrix.rows()} + 1, [&](Offset i) {
    return static_cast<Stored>(matrix.row_offsets()[i]);
  });
}

}  // namespace

std::string loss_npz(const CsrMatrix&, const Parameters&) { return {}; }

void write_npz(const std::string& path, const CsrMatrix& matrix, const WriteRequest& request) {
  NpzWriter archive(path, matrix, request.progress);
  const Offset nnz = matrix.nnz();
  if (nnz <= std::numeric_limits<std::int32_t>::max()) {
    add_pattern<std::int32_t>(archive, matrix, "<i4");
  } else {
    add_pattern<std::int64_t>(archive, matrix, "<i8");
  }
  archive.add("format", "|S3", {}, "csr", 3);
  const std::int64_t shape[2] = {matrix.rows(), matrix.cols()};
  archive.add("shape", "<i8", {2}, shape, 2);
  switch (matrix.value_kind()) {
    case ValueKind::none:
      archive.add_converted<char>("data", "|b1", nnz, [](Offset) { return '\1'; });
      break;
    case ValueKind::f16:
      archive.add("data", "<f2", {nnz}, static_cast<const f16*>(matrix.values()), nnz);
      break;
    case ValueKind::f32:
      archive.add("data", "<f4", {nnz}, static_cast<const float*>(matrix.values()), nnz);
      break;
    case ValueKind::f64:
      archive.add("data", "<f8", {nnz}, static_cast<const double*>(matrix.values()), nnz);
      break;
    case ValueKind::bf16: {
      const auto* values = static_cast<const bf16*>(matrix.values());
      archive.add_converted<float>("data", "<f4", nnz,
                                   [&](Offset i) { return to_float(values[i]); });
      break;
    }
  }
  archive.finish();
}

}  // namespace csrkit
