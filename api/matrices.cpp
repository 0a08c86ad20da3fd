// Matrices of csrkit.h: where they come from, what is in them, where they go.
#include "api/handles.h"
#include "api/measured_flags.h"
#include "api/reordering.h"
#include "core/base/ending.h"
#include "core/contract/parse_name.h"
#include "core/matrix/csr_checks.h"
#include "preprocess/import/import.h"

namespace csrkit::api {

namespace {

ParameterValues values_of(const csrkit_parameter* parameters, std::size_t count) {
  ParameterValues values;
  if (count > 0) require_given(parameters, "parameters");
  for (std::size_t i = 0; i < count; ++i) {
    require_given(parameters[i].name, "the name of a parameter");
    require_given(parameters[i].value, "the value of a parameter");
    values[parameters[i].name] = parameters[i].value;
  }
  return values;
}

csrkit_matrix* handle_of(CsrFile file, std::string warnings = {}) {
  return new csrkit_matrix{std::move(file), std::move(warnings)};
}

/// Gives borrowed arrays back when the last handle is gone. Empty until nothing can fail any more.
struct Lender {
  Lender() = default;
  Lender(const Lender&) = delete;
  Lender& operator=(const Lender&) = delete;
  ~Lender() {
    if (release != nullptr) release(owner);
  }
  void (*release)(void*) = nullptr;
  void* owner = nullptr;
};

/// The caller's arrays. Throws UsageError, InputError that names the array and says how to mend it.
CsrMatrix borrowed(const csrkit_arrays& arrays, std::shared_ptr<const Lender> lender) {
  const auto rows = checked_cast<Index, UsageError>(arrays.rows, "the number of rows");
  const auto cols = checked_cast<Index, UsageError>(arrays.cols, "the number of columns");
  if (rows < 0 || cols < 0) throw UsageError("rows and cols must not be negative");
  require_given(arrays.row_offsets, "row_offsets");
  require_aligned(arrays.row_offsets, int{sizeof(Offset)}, "row_offsets");
  const Offset nnz = arrays.row_offsets[rows];
  const ValueKind kind = kind_of(arrays.kind, ValueKind::none);
  if (nnz > 0) {  // else they may be anywhere, as empty arrays of Python are
    require_given(arrays.col_indices, "col_indices");
    require_aligned(arrays.col_indices, int{sizeof(Index)}, "col_indices");
    if (kind != ValueKind::none) {
      require_given(arrays.values, "values");
      require_aligned(arrays.values, size_of(kind), "values");
    }
  }
  require_row_offsets(arrays.row_offsets, rows, nnz, "row_offsets",
                      "pass where the entries of each row begin, and at last their number");
  require_columns(arrays.row_offsets, arrays.col_indices, rows, cols, "col_indices",
                  "count columns from 0, sort each row and add up its repeated entries");
  return CsrMatrix(rows, cols, arrays.row_offsets, arrays.col_indices, kind, arrays.values,
                   std::move(lender));
}

}  // namespace

}  // namespace csrkit::api

using namespace csrkit;
using namespace csrkit::api;

csrkit_status csrkit_open(const char* path, uint32_t flags, csrkit_matrix** matrix) {
  return guarded([&] {
    require_given(path, "path");
    require_given(matrix, "matrix");
    if ((flags & ~CSRKIT_UNCHECKED) != 0) {
      throw UsageError("flags are " + std::to_string(flags) + "; use 0 or CSRKIT_UNCHECKED");
    }
    CsrReadOptions options;
    options.is_checked = (flags & CSRKIT_UNCHECKED) == 0;
    *matrix = handle_of(read_csr_file(path, options));
  });
}

csrkit_status csrkit_wrap(const csrkit_arrays* arrays, csrkit_matrix** matrix) {
  return guarded([&] {
    require_given(arrays, "arrays");
    require_given(matrix, "matrix");
    const csrkit_arrays given = read_options(arrays, "csrkit_arrays");
    const auto lender = std::make_shared<Lender>();
    auto handle = std::make_unique<csrkit_matrix>();
    handle->file.matrix = borrowed(given, lender);
    lender->release = given.release;
    lender->owner = given.owner;
    *matrix = handle.release();
  });
}

csrkit_status csrkit_import(const char* path, const csrkit_import_options* options,
                            csrkit_matrix** matrix) {
  return guarded([&] {
    require_given(path, "path");
    require_given(matrix, "matrix");
    const csrkit_import_options given = read_options(options, "csrkit_import_options");
    ImportOptions how;
    how.format = text_or(given.format, "auto");
    how.value_kind = text_or(given.value_kind, "auto");
    how.duplicates = parse_duplicates(text_or(given.duplicates, "sum"));
    how.parameters = values_of(given.parameters, given.parameter_count);
    const ImportResult imported = import_matrix(path, how);
    CsrFile file;
    file.matrix = imported.matrix;
    file.flags = measured_flags(file.matrix);
    std::string warnings;
    for (const std::string& warning : imported.warnings) warnings += warning + "\n";
    *matrix = handle_of(std::move(file), std::move(warnings));
  });
}

csrkit_status csrkit_reorder(const csrkit_matrix* matrix, const char* method,
                             const csrkit_reorder_options* options, csrkit_matrix** reordered) {
  return guarded([&] {
    require_given(matrix, "matrix");
    require_given(method, "method");
    require_given(reordered, "reordered");
    const csrkit_reorder_options given = read_options(options, "csrkit_reorder_options");
    if (std::string(method) == "undo") {
      *reordered = handle_of(restored(matrix->file));
      return;
    }
    ReorderOptions how;
    how.parameters = values_of(given.parameters, given.parameter_count);
    if (given.seed != 0) how.seed = given.seed;
    if (given.memory_limit_bytes != 0) how.memory_limit_bytes = given.memory_limit_bytes;
    const Sides sides =
        given.sides == nullptr
            ? sides_of("", matrix->file.matrix)
            : parse_name(given.sides, {Sides::rows, Sides::cols, Sides::both}, "side of a matrix");
    *reordered = handle_of(csrkit::reordered(matrix->file, std::string(method), sides, how));
  });
}

csrkit_status csrkit_save(const csrkit_matrix* matrix, const char* path) {
  return guarded([&] {
    require_given(matrix, "matrix");
    require_given(path, "path");
    require_ending(path, {".csr"});
    write_csr_file(path, matrix->file);
  });
}

csrkit_status csrkit_info(const csrkit_matrix* matrix, csrkit_matrix_info* info) {
  return guarded([&] {
    require_given(matrix, "matrix");
    const CsrFile& file = matrix->file;
    csrkit_matrix_info found{};
    found.rows = file.matrix.rows();
    found.cols = file.matrix.cols();
    found.nnz = file.matrix.nnz();
    found.row_offsets = file.matrix.row_offsets();
    found.col_indices = file.matrix.col_indices();
    found.values = file.matrix.values();
    found.kind = static_cast<std::int32_t>(file.matrix.value_kind());
    found.is_pattern_symmetric = file.flags.is_pattern_symmetric ? 1 : 0;
    found.is_value_symmetric = file.flags.is_value_symmetric ? 1 : 0;
    if (file.row_order) found.row_order = file.row_order->new_of_old();
    if (file.col_order) found.col_order = file.col_order->new_of_old();
    if (file.partition) {
      found.parts = file.partition->parts;
      found.part_of_row = file.partition->part_of_row->data();
    }
    found.provenance = file.provenance.c_str();
    found.warnings = matrix->warnings.c_str();
    write_info(found, info, "csrkit_matrix_info");
  });
}

void csrkit_matrix_free(csrkit_matrix* matrix) { delete matrix; }
