#include "core/matrix/dense_block.h"

#include "core/base/hash.h"

namespace csrkit {

void fill_random_block(DenseView block, std::uint64_t seed, Index first_row, Index first_col) {
  with_value_type(block.kind, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, ImplicitOne>) {
      const bool is_parallel = Offset{block.rows} * block.cols > (1 << 14);
#pragma omp parallel for schedule(static) if (is_parallel)
      for (Index i = 0; i < block.rows; ++i) {
        T* const row = block.as<T>() + i * block.leading_dim;
        const auto whole_row =
            static_cast<std::uint64_t>(first_row) + static_cast<std::uint64_t>(i);
        for (Index j = 0; j < block.cols; ++j) {
          const auto whole_col =
              static_cast<std::uint64_t>(first_col) + static_cast<std::uint64_t>(j);
          row[j] = store_as<T>(random_value(seed, whole_row, whole_col));
        }
      }
    }
  });
}

}  // namespace csrkit
