// Matrix Market, coordinate general, 1-based. The format has no value kinds: a comment names ours,
// which the importer obeys, so that every bit comes back.
#include "preprocess/export/export_format.h"
#include "preprocess/export/ordered_text.h"

namespace csrkit {

namespace {

void write_all(ByteSink& sink, const CsrMatrix& matrix, const ProgressCallback& progress) {
  const ValueKind kind = matrix.value_kind();
  std::string head = "%%MatrixMarket matrix coordinate ";
  head += kind == ValueKind::none ? "pattern general\n" : "real general\n";
  if (kind != ValueKind::none) head += std::string("% values are ") + name_of(kind) + "\n";
  append_number(head, matrix.rows());
  head += ' ';
  append_number(head, matrix.cols());
  head += ' ';
  append_number(head, matrix.nnz());
  head += '\n';
  sink.write(head.data(), head.size());
  write_entry_lines(matrix, 1, ' ', sink, progress);
  sink.finish();
}

}  // namespace

std::string loss_matrix_market(const CsrMatrix&, const Parameters&) { return {}; }
std::string loss_matrix_market_gz(const CsrMatrix&, const Parameters&) { return {}; }

void write_matrix_market(const std::string& path, const CsrMatrix& matrix,
                         const WriteRequest& request) {
  write_all(*text_sink(path), matrix, request.progress);
}

void write_matrix_market_gz(const std::string& path, const CsrMatrix& matrix,
                            const WriteRequest& request) {
  write_all(*gzip_sink(path), matrix, request.progress);
}

}  // namespace csrkit
