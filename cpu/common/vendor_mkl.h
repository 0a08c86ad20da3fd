// How MKL's errors and threads are dealt with, in every vendor_mkl.
#pragma once

#include <mkl_service.h>
#include <mkl_spblas.h>

#include <string>

#include "core/base/error.h"

namespace csrkit::cpu {

inline void check_mkl(sparse_status_t status, const char* call) {
  if (status == SPARSE_STATUS_SUCCESS) return;
  if (status == SPARSE_STATUS_ALLOC_FAILED) {
    throw MemoryError(std::string(call) + ": MKL could not allocate; use a kernel of csrkit");
  }
  throw Error(std::string(call) + " failed with MKL status " + std::to_string(status));
}

inline std::string mkl_version() {
  char version[200] = {};
  mkl_get_version_string(version, sizeof version - 1);
  return version;
}

/// MKL's threads for this thread's calls.
class MklThreads {
 public:
  explicit MklThreads(int threads) : before_(mkl_set_num_threads_local(threads)) {}
  ~MklThreads() { mkl_set_num_threads_local(before_); }
  MklThreads(const MklThreads&) = delete;
  MklThreads& operator=(const MklThreads&) = delete;

 private:
  int before_;
};

}  // namespace csrkit::cpu
