// What the iteration knows of a preconditioner.
#pragma once

namespace csrkit::cpu {

template <class T>
class CpuPreconditioner {
 public:
  virtual ~CpuPreconditioner() = default;
  /// The factor of every row if M is diagonal: then loops that pass over r anyway apply it. Null if
  /// M is not diagonal: then `apply` must be called.
  virtual const T* inverse_diagonal() const { return nullptr; }
  /// z = M^-1 r, all columns.
  virtual void apply(const T*, T*) {}
};

}  // namespace csrkit::cpu
