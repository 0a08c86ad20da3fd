#include "preprocess/import/binary/plain_file.h"

namespace csrkit {

Buffer<Offset> widen_offsets(const Buffer<std::int32_t>& offsets) {
  Buffer<Offset> wide(offsets.size());
#pragma omp parallel for schedule(static)
  for (Offset i = 0; i < offsets.size(); ++i) wide[i] = offsets[i];
  return wide;
}

}  // namespace csrkit
