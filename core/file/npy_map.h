// .npy arrays used where they lie: operands that memory need not hold.
#pragma once

#include <memory>
#include <string>

#include "core/base/atomic_file.h"
#include "core/file/npy_file.h"
#include "core/matrix/dense_matrix.h"

namespace csrkit {

class FileMemory;

/// An array in a file, mapped for reading. The file must stay as it is meanwhile.
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

/// An array in a file that is being made. What the array holds is what the file will hold; it
/// begins as zeros. The file appears under its name in commit (see AtomicFile); the array may be
/// used on.
class MappedNpyOutput {
 public:
  /// bf16 is none of NumPy's.
  static bool can_map(ValueKind kind) {
    return kind == ValueKind::f32 || kind == ValueKind::f64 || kind == ValueKind::f16;
  }
  /// Takes the room on the disk at once: a disk that is full says so here (IoError).
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
