#include "tools/ranks/csr_output.h"

#include <algorithm>
#include <cstring>

#include "core/file/csr_file_frame.h"
#include "ranks/spgemm.h"
#include "tools/ranks/rank_tool.h"

namespace csrkit {

using ranks::Communicator;

namespace {

/// One section: what every rank has of it, and this rank's bytes.
struct SharedSection {
  CsrSection section;
  std::vector<std::uint64_t> borders;  // bytes; rank r has [borders[r], borders[r + 1])
  const char* mine = nullptr;
};

/// The checksums of the chunks that begin in this rank's bytes. Where one ends in those of the next
/// ranks they send what it takes.
std::vector<std::uint64_t> checksums_of(Communicator& communicator, const SharedSection& shared) {
  const std::uint64_t chunk = CsrFileFrame::chunk_bytes();
  const auto up = [&](std::uint64_t at) { return (at + chunk - 1) / chunk * chunk; };
  const auto rank = static_cast<std::size_t>(communicator.rank());
  const std::vector<std::uint64_t>& borders = shared.borders;
  const std::uint64_t begin = borders[rank], end = borders[rank + 1];

  std::vector<ranks::Outgoing> outgoing;
  if (begin < end && begin % chunk != 0) {
    const std::uint64_t first = begin / chunk * chunk;
    const auto owner = std::upper_bound(borders.begin(), borders.end(), first) - 1;
    outgoing.push_back(
        {static_cast<int>(owner - borders.begin()), shared.mine, std::min(end, up(begin)) - begin});
  }
  std::vector<std::uint64_t> checksums;
  std::vector<ranks::Incoming> incoming;
  std::vector<char> last;  // the chunk that this rank begins and may not end
  const std::uint64_t first = up(begin);
  std::uint64_t at = first;
  if (first < end) {
    const std::uint64_t last_begin = (end - 1) / chunk * chunk;
    for (; at < last_begin; at += chunk) {
      checksums.push_back(CsrFileFrame::checksum(shared.mine + (at - begin), chunk));
    }
    const std::uint64_t padded = CsrFileFrame::padded_bytes(shared.section);
    last.assign(std::min(chunk, padded - last_begin), 0);
    std::memcpy(last.data(), shared.mine + (last_begin - begin), end - last_begin);
    for (std::size_t other = rank + 1; other + 1 < borders.size(); ++other) {
      const std::uint64_t from = borders[other];
      const std::uint64_t to = std::min(borders[other + 1], last_begin + chunk);
      if (from >= to) continue;
      incoming.push_back({static_cast<int>(other), last.data() + (from - last_begin), to - from});
    }
  }
  communicator.start(outgoing, incoming);
  communicator.finish();
  if (!last.empty()) checksums.push_back(CsrFileFrame::checksum(last.data(), last.size()));
  return checksums;
}

}  // namespace

void write_csr_together(Communicator& communicator, const std::string& path, const CsrMatrix& block,
                        const std::vector<Index>& borders, const CsrFile& beside) {
  const auto place = ranks::place_of_entries(communicator, block.nnz());
  const CsrFileFrame frame(block.value_kind(), borders.back(), block.cols(), place.total, beside);
  // Offsets of this rank's rows; the one behind the last row is the last rank's.
  const bool is_last = communicator.rank() + 1 == communicator.size();
  Buffer<Offset> offsets(Offset{block.rows()} + (is_last ? 1 : 0));
  for (Offset i = 0; i < offsets.size(); ++i) offsets[i] = place.first + block.row_offsets()[i];

  std::vector<SharedSection> sections;
  for (const CsrSection& section : frame.arrays()) {
    SharedSection shared{section, {}, nullptr};
    const bool is_offsets = sections.empty(), is_columns = sections.size() == 1;
    const auto width = static_cast<std::uint64_t>(
        is_offsets   ? sizeof(Offset)
        : is_columns ? sizeof(Index)
                     : static_cast<std::size_t>(size_of(block.value_kind())));
    for (std::size_t rank = 0; rank < borders.size(); ++rank) {
      const Offset item = is_offsets ? Offset{borders[rank]} : place.borders[rank];
      shared.borders.push_back(static_cast<std::uint64_t>(item) * width);
    }
    shared.borders.back() = section.size_bytes;
    shared.mine = is_offsets   ? reinterpret_cast<const char*>(offsets.data())
                  : is_columns ? reinterpret_cast<const char*>(block.col_indices())
                               : static_cast<const char*>(block.values());
    sections.push_back(std::move(shared));
  }
  const auto rank = static_cast<std::size_t>(communicator.rank());
  SharedFile output(communicator, path);
  output.write([&](AtomicFile& file) {
    for (const SharedSection& shared : sections) {
      const std::uint64_t begin = shared.borders[rank], end = shared.borders[rank + 1];
      if (begin < end) file.write_at(shared.section.offset_bytes + begin, shared.mine, end - begin);
    }
  });
  std::vector<std::uint64_t> checksums;
  for (const SharedSection& shared : sections) {
    const std::vector<std::uint64_t> mine = checksums_of(communicator, shared);
    const std::string bytes(reinterpret_cast<const char*>(mine.data()),
                            mine.size() * sizeof mine[0]);
    for (const std::string& text : communicator.gather(bytes)) {
      const std::size_t count = text.size() / sizeof(std::uint64_t), before = checksums.size();
      checksums.resize(before + count);
      if (count > 0) std::memcpy(checksums.data() + before, text.data(), text.size());
    }
  }
  output.write([&](AtomicFile& file) {
    if (communicator.rank() == 0) frame.write(file, checksums);
  });
  output.commit();
}

}  // namespace csrkit
