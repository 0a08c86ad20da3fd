// Makes the list of products of a known C.
// Owns     8 lanes: an entry of A; each of its products is searched for in its row of C, once to
//          count and once to fill. A block: an entry of A with a long row of B, or an entry of C
//          with many products. Then a block per piece sorts it
// Reads    B's columns twice, C's by binary search for every product, mostly from L2
// Launch   256 threads
// Needs    fewer than 2^32 products; C as a product of these operands
// Against  making the list together with C: here only users of new values pay. Products of an entry
//          come in any order at first; sorting restores the order of A

#include <algorithm>
#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>

#include "gpu/device/cub_scratch.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/grid.h"
#include "gpu/spgemm/product_list/order.cuh"
#include "gpu/spgemm/product_list/place.cuh"
#include "gpu/spgemm/product_list/product_list.h"
#include "gpu/spgemm/product_list/totals.h"

namespace csrkit::gpu {

using namespace product_list;

namespace {

Offset most_long_entries(Offset products) { return products / (kMostOfAnEntry + 1); }

/// Padding: kernels read beyond the last piece's places.
constexpr Offset kWordsBeyond = kMostOfAPiece / (sizeof(ListWord) / sizeof(std::uint16_t));

/// A long entry's first product is also in a piece.
Offset most_words(Offset products) { return products + most_long_entries(products) + kWordsBeyond; }

}  // namespace

std::uint64_t ProductList::making_bytes(Offset products, Offset output_nnz) {
  const auto listed = static_cast<std::uint64_t>(products);
  const auto entries = static_cast<std::uint64_t>(output_nnz);
  return static_cast<std::uint64_t>(most_words(products)) * sizeof(ListWord) +
         entries * sizeof(std::uint16_t) +
         (listed / kLeastShare + 2) * (sizeof(ListPiece) + sizeof(ListSlices)) +
         static_cast<std::uint64_t>(most_long_entries(products)) * sizeof(LongEntry) +
         2 * (entries + 1) * sizeof(std::uint32_t) + scan_scratch_bound(output_nnz + 1) +
         sizeof(ListTotals);
}

const char* ProductList::make(const SpgemmOperands& op, const DeviceProduct& c, Offset products,
                              DeviceMemory& memory) {
  *this = {};
  if (products == 0) return nullptr;
  if (products >= Offset{UINT32_MAX} || op.a.nnz >= Offset{UINT32_MAX} ||
      op.b.nnz >= Offset{UINT32_MAX}) {
    return "there are 2^32 products or entries, or more";
  }
  const cudaStream_t stream = memory.stream();
  const DeviceCsrView<void> view = c.view<void>();
  const DeviceBuffer<ListTotals> totals(memory, 1, "the totals of a list of products");
  DeviceBuffer<std::uint32_t> counts(memory, c.nnz + 1, "the products of C's entries");
  const DeviceBuffer<std::uint32_t> starts(memory, c.nnz + 1, "where C's products begin");
  words_ = DeviceBuffer<ListWord>(memory, most_words(products), "the list of C's products");
  entries_ = DeviceBuffer<std::uint16_t>(memory, c.nnz, "the entries of C by their products");
  long_entries_ =
      DeviceBuffer<LongEntry>(memory, most_long_entries(products), "the long entries of C");

  CHECK_CUDA(cudaMemsetAsync(totals.data(), 0, sizeof(ListTotals), stream));
  CHECK_CUDA(cudaMemsetAsync(counts.data(), 0, counts.size_bytes(), stream));
  place_all_products<false><<<blocks_of(op.a.nnz, kSources), kThreads, 0, stream>>>(
      op.a, op.b, view, {counts.data(), nullptr, nullptr});
  CHECK_LAUNCH("place_all_products", stream);
  find_long_entries<<<blocks_of(c.nnz, kThreads), kThreads, 0, stream>>>(
      counts.data(), c.nnz, long_entries_.data(), totals.data());
  CHECK_LAUNCH("find_long_entries", stream);
  with_cub_scratch(memory, "the sum of C's products", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveScan(
        scratch, bytes, static_cast<const std::uint32_t*>(counts.data()), starts.data(),
        cuda::std::plus<std::uint32_t>{}, 0u, c.nnz + 1, stream);
  });
  ListTotals found = {};
  std::uint32_t in_pieces = 0;
  CHECK_CUDA(cudaMemcpyAsync(&found, totals.data(), sizeof found, cudaMemcpyDeviceToHost, stream));
  CHECK_CUDA(cudaMemcpyAsync(&in_pieces, starts.data() + c.nnz, sizeof in_pieces,
                             cudaMemcpyDeviceToHost, stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  in_pieces_ = in_pieces;
  long_count_ = found.long_entries;
  // The last entry of a share may extend beyond it.
  const auto share = static_cast<std::uint32_t>(kMostOfAPiece) - std::max(found.longest, 1u) + 1;
  piece_count_ = (in_pieces_ + share - 1) / share;
  if (long_count_ > 0) {
    fill_long_entries<<<static_cast<unsigned>(long_count_), kThreads, 0, stream>>>(
        op.a, op.b, view, long_entries_.data(), words_.data() + in_pieces_);
    CHECK_LAUNCH("fill_long_entries", stream);
  }
  CHECK_CUDA(cudaMemsetAsync(words_.data() + in_pieces_ + found.long_products, 0,
                             kWordsBeyond * sizeof(ListWord), stream));
  if (piece_count_ > 0) {
    pieces_ = DeviceBuffer<ListPiece>(memory, piece_count_ + 1, "the pieces of C's products");
    slices_ = DeviceBuffer<ListSlices>(memory, piece_count_, "the lengths of C's entries");
    place_all_products<true><<<blocks_of(op.a.nnz, kSources), kThreads, 0, stream>>>(
        op.a, op.b, view, {counts.data(), starts.data(), words_.data()});
    CHECK_LAUNCH("place_all_products", stream);
    cut_pieces<<<blocks_of(piece_count_ + 1, kThreads), kThreads, 0, stream>>>(
        starts.data(), c.nnz, pieces_.data(), piece_count_, share);
    CHECK_LAUNCH("cut_pieces", stream);
    order_piece<<<static_cast<unsigned>(piece_count_), kThreads, 0, stream>>>(
        starts.data(), pieces_.data(), words_.data(), entries_.data(), slices_.data(),
        totals.data());
    CHECK_LAUNCH("order_piece", stream);
  }
  CHECK_CUDA(cudaMemcpyAsync(&found, totals.data(), sizeof found, cudaMemcpyDeviceToHost, stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  if (found.is_too_wide != 0) {
    *this = {};
    return "entries of A that meet in C lie too far apart";
  }
  return nullptr;
}

}  // namespace csrkit::gpu
