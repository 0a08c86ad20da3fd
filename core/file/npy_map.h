// .npy arrays used in place: operands that need not fit in memory.
#pragma once

#include <memory>
#include <string>

#include "core/base/atomic_file.h"
#include "core/file/npy_file.h"
#include "core/matrix/dense_matrix.h"

namespace csrkit {

class FileMemory;

/// An array in a file, mapped for reading. The file must not change while it is mapped.
class MappedNpy {
 public:
  /// Whether the array can be used as it lies: row-major.
  static bool can_map(const NpyFile& file) {
    return !file.header().is_fortran_order || file.rows() == 1 || file.cols() == 1;
  }
  /// Throws IoError, MemoryError.
  explicit MappedNpy(const NpyFile& file);
  ~MappedNpy();
  ConstDenseView view() const { return view_; }

 private:
  std::unique_ptr<FileMemory> memory_;
  ConstDenseView view_;
};

/// The array of a file that is being made; it begins as zeros. The file gets the array's content,
/// and appears under its name in commit (see AtomicFile). The array may be used after
/// that.
class MappedNpyOutput {
 public:
  /// NumPy has no bf16.
  static bool can_map(ValueKind kind) {
    return kind == ValueKind::f32 || kind == ValueKind::f64 || kind == ValueKind::f16;
  }
  /// Takes the room on the disk at once, so that a full disk shows here (IoError).
  MappedNpyOutput(const std::string& path, Index rows, Index cols, ValueKind kind);
  ~MappedNpyOutput();
  MappedNpyOutput(const MappedNpyOutput&) = delete;
  MappedNpyOutput& operator=(const MappedNpyOutput&) = delete;

  DenseView view() const { return view_; }
  void commit();

 private:
  AtomicFile file_;
  void* memory_ = nullptr;
  std::uint64_t bytes_ = 0;
  DenseView view_;
};

}  // namespace csrkit
