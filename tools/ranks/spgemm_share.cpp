#include "tools/ranks/spgemm_share.h"

#include "api/rooms.h"
#include "core/base/counted.h"
#include "core/facts/matrix_stats.h"
#include "core/file/csr_rows.h"
#include "core/matrix/row_parts.h"
#include "tools/operation/operands/orders.h"
#include "tools/ranks/rank_tool.h"

namespace csrkit {

using ranks::Communicator;

namespace {

CsrMatrix converted(const SpgemmDistOptions& options, const CsrMatrix& rows, Losses* losses) {
  if (!options.value_kind || *options.value_kind == rows.value_kind()) return rows;
  losses->note(rows, *options.value_kind, options.threads);
  return convert_values(rows, *options.value_kind, options.threads);
}

/// Whether the blocks are the parts of A.csr.
bool are_of_file(const SpgemmDistOptions& options, int ranks) {
  if (options.blocks != BlockSource::automatic) return options.blocks == BlockSource::file;
  for (const PartLevel& level : read_rank_heads(options.a)) {
    // Split rows would have to be put together before they are multiplied.
    if (level.parts.size() == static_cast<std::size_t>(ranks)) return !has_pieces(level);
  }
  return false;
}

/// Every rank reads the heads, its own lists and its own rows: no messages.
PartLists read_part_of_file(const SpgemmDistOptions& options, const Communicator& communicator,
                            SpgemmShare* share) {
  StoredPart part =
      read_stored_part(options.a, communicator.size(), communicator.rank(), options.io);
  for (const PartLevel& level : read_rank_heads(options.a)) {
    if (level.parts.size() != static_cast<std::size_t>(communicator.size())) continue;
    share->row_borders = share->b_borders = {0};
    for (const PartHead& head : level.parts) {
      share->row_borders.push_back(head.row_end);
      share->b_borders.push_back(head.col_end);
    }
  }
  share->lists = ranks::lists_of(part.lists, communicator.size());
  share->a = converted(options, part.rows, &share->a_losses);
  return std::move(part.lists);
}

/// What C carries on, and a warning where columns of A and rows of B have moved in different ways.
CsrFile read_beside(const SpgemmDistOptions& options, Index inner) {
  CsrFile a = read_csr_beside(options.a);
  const CsrFile b = options.b == options.a ? a : read_csr_beside(options.b);
  warn_of_other_order(a.col_order, b.row_order, inner,
                      "columns of '" + options.a + "' and rows of '" + options.b + "'");
  a.col_order = b.col_order;
  return a;
}

}  // namespace

CsrMatrix read_rows(const SpgemmDistOptions& options, const std::string& path, Index begin,
                    Index end, Losses* losses) {
  return converted(options, read_csr_rows(path, begin, end, options.io), losses);
}

SpgemmShare read_share(const SpgemmDistOptions& options, Communicator& communicator) {
  SpgemmShare share;
  std::vector<Offset> products;
  bool is_of_file = false;
  PartLists of_file;
  const auto told = telling_together(communicator, [&] {
    share.a_header = read_csr_header(options.a);
    share.b_header = read_csr_header(options.b);
    if (share.a_header.cols != share.b_header.rows) {
      throw UsageError("'" + options.a + "' has " + counted(share.a_header.cols, "column") +
                       " and '" + options.b + "' " + counted(share.b_header.rows, "row") +
                       "; a product needs as many");
    }
    if (communicator.rank() == 0) share.beside = read_beside(options, share.a_header.cols);
    share.b_offsets = read_row_offsets(options.b);
    if ((is_of_file = are_of_file(options, communicator.size()))) {
      of_file = read_part_of_file(options, communicator, &share);
      return told_of_lists(communicator.rank(), of_file);
    }
    const auto range = ranks::rows_to_count(communicator, share.a_header.rows);
    products.resize(static_cast<std::size_t>(range.end - range.begin));
    spgemm_products(read_csr_rows(options.a, range.begin, range.end, options.io),
                    share.b_offsets.data(), products.data(), options.threads);
    return std::string();
  });
  if (is_of_file) {
    require_lists_fit(communicator, communicator.rank(), of_file, options.a, told);
  } else {
    share.row_borders =
        ranks::borders_by_products(communicator, share.a_header.rows, std::move(products));
    share.b_borders =
        balanced_borders(share.b_offsets.data(), share.b_header.rows, communicator.size());
  }
  const auto rank = static_cast<std::size_t>(communicator.rank());
  together(communicator, [&] {
    if (!is_of_file) {
      share.a = read_rows(options, options.a, share.row_borders[rank], share.row_borders[rank + 1],
                          &share.a_losses);
    }
    share.b = read_rows(options, options.b, share.b_borders[rank], share.b_borders[rank + 1],
                        &share.b_losses);
    share.products = spgemm_products(share.a, share.b_offsets.data(), nullptr, options.threads);
  });
  if (options.value_kind) {
    const bool is_square = options.a == options.b;
    warn_of_losses_together(communicator, is_square ? options.a : "A, " + options.a,
                            share.a_losses);
    if (!is_square) warn_of_losses_together(communicator, "B, " + options.b, share.b_losses);
  }
  return share;
}

void share_operands(const SpgemmDistOptions& options, Communicator& communicator, int device,
                    SpgemmShare* share) {
  const std::uint64_t bytes = csr_bytes(
      share->b_header.rows, share->b_offsets[share->b_header.rows], share->b.value_kind());
  bool fits_everywhere = true;
  for (const std::string& fits : telling_together(communicator, [&] {
         const auto info = require_gpu_room("--device gpu").device_info(device);
         return std::string(bytes <= info.free_memory_bytes / 4 ? "yes" : "");
       })) {
    fits_everywhere = fits_everywhere && !fits.empty();
  }
  if (!fits_everywhere) return;
  std::string why_not;
  share->all_of_b =
      ranks::share_b(communicator, share->b, share->b_borders, share->b_offsets, &why_not);
  if (!share->all_of_b) return;
  share->b = {};
  if (communicator.size() == 1 && options.a == options.b) share->a = *share->all_of_b;
}

}  // namespace csrkit
