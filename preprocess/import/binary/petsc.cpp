// PETSc's binary matrices (MatView and MatLoad; https://petsc.org/release/manualpages/Mat/MatLoad),
// big-endian: 1211216, rows, columns, nonzeros, length of each row, columns, float64 values.
// Integers have 32 bits, or 64 where PETSc was configured so. What follows the matrix, such as a
// right-hand side, is left out.
#include "core/base/counted.h"
#include "preprocess/import/binary/binary_reader.h"
#include "preprocess/import/format_reader.h"

namespace csrkit {

namespace {

constexpr std::int64_t kMatrix = 1211216, kVector = 1211214;  // MAT_FILE_CLASSID, VEC_FILE_CLASSID

constexpr std::string_view kMatrix32("\x00\x12\x7b\x50", 4);
constexpr std::string_view kMatrix64("\x00\x00\x00\x00\x00\x12\x7b\x50", 8);

template <class Integer>
ImportResult read_matrix(BinaryReader& reader, const std::string& path,
                         const ReadRequest& request) {
  const auto count = [&](const char* what, std::int64_t most) {
    const std::uint64_t at = reader.position();
    const Integer number = reader.number<Integer>(what);
    if (number >= 0 && number <= most) return static_cast<Offset>(number);
    reader.refuse(at, std::string("expected ") + what + " from 0 to " + std::to_string(most) +
                          ", found " + std::to_string(number) +
                          (number == -1 ? ", a dense matrix; store it as MATAIJ"
                                        : "; is this a matrix of PETSc?"));
  };
  const Offset rows = count("a number of rows", kMaxIndex);
  const Offset cols = count("a number of columns", kMaxIndex);
  const Offset nnz = count("a number of nonzeros", std::int64_t{1} << 56);
  const std::uint64_t lengths_at = reader.position();
  const Buffer<Integer> lengths = reader.array<Integer>(rows, "lengths of the rows");
  Buffer<Offset> offsets(rows + 1);
  offsets[0] = 0;
  for (Offset row = 0; row < rows; ++row) {
    if (lengths[row] < 0 || lengths[row] > nnz - offsets[row]) {
      reader.refuse(lengths_at + static_cast<std::uint64_t>(row) * sizeof(Integer),
                    "expected a row length within the " + counted(nnz, "nonzero") + ", found " +
                        std::to_string(lengths[row]) + "; was the file copied completely?");
    }
    offsets[row + 1] = offsets[row] + lengths[row];
  }
  const Buffer<Integer> stored = reader.array<Integer>(nnz, "columns");
  Buffer<Index> columns(nnz);
  for (Offset i = 0; i < nnz; ++i) {
    columns[i] = stored[i] >= 0 && stored[i] < cols ? static_cast<Index>(stored[i]) : Index{-1};
  }
  ValueArray values = ValueArray::from(reader.array<double>(nnz, "float64 values"));
  ImportResult result;
  result.inputs = {{path, 0, {}}};
  result.entries_read = nnz;
  result.notes["integers"] = std::to_string(8 * sizeof(Integer)) + " bits";
  if (!reader.is_at_end()) {
    const std::uint64_t at = reader.position();
    const Integer next = reader.number<Integer>("another object of PETSc");
    if (next != kMatrix && next != kVector) {
      reader.refuse(at,
                    "expected the end of the file, or another matrix or vector of PETSc, "
                    "found more values; a PETSc of complex numbers or of other precision "
                    "wrote this: load it there and store it as real float64");
    }
    result.notes["left out"] =
        next == kVector ? "the vector behind the matrix" : "another matrix behind the first";
  }
  finish_csr({static_cast<Index>(rows), static_cast<Index>(cols), std::move(offsets),
              std::move(columns), std::move(values)},
             request, path, result);
  return result;
}

}  // namespace

bool matches_petsc(const Peek& peek) {
  return !peek.is_directory &&
         (peek.head.substr(0, 4) == kMatrix32 || peek.head.substr(0, 8) == kMatrix64);
}

ImportResult read_petsc(const std::string& path, const ReadRequest& request) {
  BinaryReader reader(open_input(path, request), ByteOrder::big);
  const auto first = reader.number<std::int32_t>("the number 1211216");
  if (first == kMatrix) return read_matrix<std::int32_t>(reader, path, request);
  if (first == 0 && reader.number<std::int32_t>("the number 1211216") == kMatrix) {
    return read_matrix<std::int64_t>(reader, path, request);
  }
  reader.refuse(
      0, "expected a matrix of PETSc, which begins with 1211216, found " + std::to_string(first));
}

}  // namespace csrkit
