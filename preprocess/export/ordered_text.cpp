#include "preprocess/export/ordered_text.h"

#include <omp.h>

#include <algorithm>
#include <exception>
#include <vector>

namespace csrkit {

void write_in_order(
    Offset items, Offset piece, ByteSink& sink, const ProgressCallback& progress,
    const std::function<void(Offset begin, Offset end, std::string& text)>& format) {
  // A few pieces per thread even out rows of different lengths; more would only hold memory.
  const Offset pieces_at_once = 4 * std::max(1, omp_get_max_threads());
  std::vector<std::string> texts(static_cast<std::size_t>(pieces_at_once));
  for (Offset done = 0; done < items;) {
    const Offset count = std::min(pieces_at_once, (items - done + piece - 1) / piece);
    bool is_out_of_memory = false;  // exceptions must not leave a parallel region
#pragma omp parallel for schedule(dynamic, 1)
    for (Offset i = 0; i < count; ++i) {
      try {
        texts[i].clear();
        format(done + i * piece, std::min(items, done + (i + 1) * piece), texts[i]);
      } catch (const std::exception&) {
#pragma omp atomic write
        is_out_of_memory = true;
      }
    }
    if (is_out_of_memory) throw MemoryError("not enough memory to format a block of the matrix");
    for (Offset i = 0; i < count; ++i) sink.write(texts[i].data(), texts[i].size());
    done = std::min(items, done + count * piece);
    if (progress) {
      progress("writing", static_cast<std::uint64_t>(done), static_cast<std::uint64_t>(items));
    }
  }
}

void write_entry_lines(const CsrMatrix& matrix, Offset base, char separator, ByteSink& sink,
                       const ProgressCallback& progress) {
  constexpr Offset kEntriesPerPiece = 1 << 15;
  matrix.visit([&](auto a) {
    write_in_order(a.nnz(), kEntriesPerPiece, sink, progress,
                   [&](Offset begin, Offset end, std::string& text) {
                     const Offset* after =
                         std::upper_bound(a.row_offsets, a.row_offsets + a.rows + 1, begin);
                     Offset row = after - a.row_offsets - 1;
                     for (Offset at = begin; at < end; ++at) {
                       while (a.row_offsets[row + 1] <= at) ++row;
                       append_number(text, row + base);
                       text += separator;
                       append_number(text, a.col_indices[at] + base);
                       if constexpr (!std::is_same_v<decltype(a), CsrView<ImplicitOne>>) {
                         text += separator;
                         append_value(text, a.values[at]);
                       }
                       text += '\n';
                     }
                   });
  });
}

}  // namespace csrkit
