#include "preprocess/import/numpy/npz_archive.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <set>

#include "core/base/counted.h"
#include "core/base/text.h"

namespace csrkit {

namespace {

constexpr char kSuffix[] = ".npy";
constexpr std::size_t kHeaderBytes = 4096;   // NumPy writes 64 to 128; structured types more
constexpr std::uint64_t kMaxDeflate = 1100;  // deflate shrinks by 1032 at the very most

std::string suffixed(const std::string& name) { return name + kSuffix; }

/// Fills `to` unless the source ends; returns how much came.
std::size_t read_fully(ByteSource& source, char* to, std::size_t wanted) {
  std::size_t done = 0;
  while (done < wanted) {
    const std::size_t count = source.read(to + done, wanted - done);
    if (count == 0) break;
    done += count;
  }
  return done;
}

NpyHeader parse_member_header(const std::string& head, const std::string& where) {
  return parse_npy_header(head.data(), head.size(), where);
}

bool names_object_type(const std::string& head) {
  return head.find("'|O'") != std::string::npos || head.find("'O'") != std::string::npos;
}

std::string read_head(ByteSource& source) {
  std::string head(kHeaderBytes, '\0');
  head.resize(read_fully(source, head.data(), head.size()));
  if (names_object_type(head.substr(0, 256))) {
    throw InputError(source.name() +
                     ": byte 0: expected an array of numbers, found pickled Python objects, which "
                     "only Python can read; load the file in Python and save the array with a "
                     "numeric dtype, or an adjacency matrix with scipy.sparse.save_npz");
  }
  return head;
}

/// The item size in "<f4", "|S3", "<U3"; 0 if there is none.
std::uint64_t item_bytes(const std::string& descr) {
  if (descr.size() < 3) return 0;
  std::uint64_t size = 0;
  for (std::size_t i = 2; i < descr.size(); ++i) {
    if (descr[i] < '0' || descr[i] > '9' || size > 1'000'000) return 0;
    size = 10 * size + static_cast<std::uint64_t>(descr[i] - '0');
  }
  return descr[1] == 'U' ? 4 * size : size;
}

std::string describe_shape(const NpyHeader& header) {
  std::string text = "(";
  for (const std::int64_t size : header.shape) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  }
  return text + ")";
}

template <class T>
T element(const char* elements, Offset position) {
  T value;
  std::memcpy(&value, elements + position * static_cast<Offset>(sizeof(T)), sizeof value);
  return value;
}

template <class T>
ValueArray widen(const Buffer<char>& elements, Offset size, ValueKind kind) {
  ValueArray values(kind, size);
#pragma omp parallel for schedule(static)
  for (Offset i = 0; i < size; ++i) {
    const T value = element<T>(elements.data(), i);
    if (kind == ValueKind::f32) {
      values.as<float>()[i] = static_cast<float>(value);
    } else {
      values.as<double>()[i] = static_cast<double>(value);
    }
  }
  return values;
}

}  // namespace

void NpyArray::refuse_element(Offset position, int element_bytes, const std::string& expected,
                              const std::string& found, const char* advice) const {
  throw InputError(where_ + ": byte " +
                   std::to_string(header_.data_offset + static_cast<std::uint64_t>(position) *
                                                            static_cast<unsigned>(element_bytes)) +
                   ": expected " + expected + ", found " + found + " as element " +
                   std::to_string(position) + advice);
}

void NpyArray::require_vector(Offset length) const {
  if (header_.shape.size() == 1 && (length < 0 || size() == length)) return;
  throw InputError(where_ + ": byte 0: expected one dimension" +
                   (length < 0 ? std::string() : " of " + counted(length, "element")) +
                   ", found shape " + describe_shape(header_) +
                   "; was the archive written by scipy.sparse.save_npz?");
}

void NpyArray::require_column(Offset length, const char* item) const {
  const std::vector<std::int64_t>& shape = header_.shape;
  const bool is_column = shape.size() == 1 || (shape.size() == 2 && shape[1] == 1);
  if (is_column && size() == length) return;
  throw InputError(where_ + ": byte 0: expected " + counted(length, "element") + ", one for each " +
                   item + ", found shape " + describe_shape(header_));
}

CooMatrix NpyArray::to_edges(Offset limit) const {
  const std::vector<std::int64_t>& shape = header_.shape;
  const bool has_rows = shape.size() == 2 && shape[0] == 2;
  const bool has_columns = shape.size() == 2 && shape[1] == 2;
  if (!has_rows && !has_columns) {
    throw InputError(where_ + ": byte 0: expected edges as an array of 2 rows, sources and " +
                     "targets, found shape " + describe_shape(header_));
  }
  const Buffer<Index> ids = to_indices(limit);
  const Offset count = ids.size() / 2;
  // Two rows in C order lie in memory as two columns do in Fortran order.
  const bool alternates = has_rows == header_.is_fortran_order;
  const Offset step = alternates ? 2 : 1, targets = alternates ? 1 : count;
  CooMatrix coo{0, 0, Buffer<Index>(count), Buffer<Index>(count),
                ValueArray(ValueKind::none, count)};
#pragma omp parallel for schedule(static)
  for (Offset i = 0; i < count; ++i) {
    coo.row_indices[i] = ids[i * step];
    coo.col_indices[i] = ids[targets + i * step];
  }
  return coo;
}

template <class F>
void NpyArray::for_integer_type(F&& f) const {
  const std::string& descr = header_.descr;
  if (descr == "<i4") return f(TypeTag<std::int32_t>{});
  if (descr == "<i8") return f(TypeTag<std::int64_t>{});
  if (descr == "<u4") return f(TypeTag<std::uint32_t>{});
  if (descr == "<u8") return f(TypeTag<std::uint64_t>{});
  if (descr == "<i2") return f(TypeTag<std::int16_t>{});
  if (descr == "<u2") return f(TypeTag<std::uint16_t>{});
  if (descr == "|i1") return f(TypeTag<std::int8_t>{});
  if (descr == "|u1") return f(TypeTag<std::uint8_t>{});
  throw InputError(where_ + ": byte 0: expected little-endian integers, found dtype '" + descr +
                   "'; convert the array with .astype('<i8') in NumPy");
}

Buffer<Index> NpyArray::to_indices(Offset limit) const {
  Buffer<Index> indices(size());
  for_integer_type([&](auto tag) {
    using T = typename decltype(tag)::type;
    const char* from = elements_.data();
    const Offset count = indices.size();
    Offset first_bad = count;
#pragma omp parallel for schedule(static) reduction(min : first_bad)
    for (Offset i = 0; i < count; ++i) {
      const T value = element<T>(from, i);
      // Through unsigned 64 bits, a negative number is far above every limit.
      if (static_cast<std::uint64_t>(value) >= static_cast<std::uint64_t>(limit)) {
        first_bad = std::min(first_bad, i);
      }
      indices[i] = static_cast<Index>(static_cast<std::uint64_t>(value));
    }
    if (first_bad < count) {
      refuse_element(first_bad, sizeof(T), "an index in [0, " + std::to_string(limit) + ")",
                     std::to_string(element<T>(from, first_bad)));
    }
  });
  return indices;
}

Buffer<Offset> NpyArray::to_offsets() const {
  Buffer<Offset> offsets(size());
  for_integer_type([&](auto tag) {
    using T = typename decltype(tag)::type;
    for (Offset i = 0; i < offsets.size(); ++i) {
      const T value = element<T>(elements_.data(), i);
      if (static_cast<std::uint64_t>(value) >
          static_cast<std::uint64_t>(std::numeric_limits<Offset>::max())) {
        refuse_element(i, sizeof(T), "a number of entries", std::to_string(value));
      }
      offsets[i] = static_cast<Offset>(static_cast<std::uint64_t>(value));
    }
  });
  return offsets;
}

ValueArray NpyArray::to_values() const {
  const std::string& descr = header_.descr;
  const Offset count = size();
  const auto copy = [&](ValueKind kind) {
    ValueArray values(kind, count);
    if (count > 0) std::memcpy(values.data(), elements_.data(), elements_.size_bytes());
    return values;
  };
  if (descr == "<f4") return copy(ValueKind::f32);
  if (descr == "<f8") return copy(ValueKind::f64);
  if (descr == "<f2") return copy(ValueKind::f16);
  if (descr == "|b1") {
    const bool all_true = std::all_of(elements_.begin(), elements_.end(), [](char c) { return c; });
    if (all_true) return ValueArray(ValueKind::none, count);
    ValueArray values(ValueKind::f32, count);
    for (Offset i = 0; i < count; ++i) values.as<float>()[i] = elements_[i] != 0 ? 1.0f : 0.0f;
    return values;
  }
  if (descr.size() < 2 || (descr[1] != 'i' && descr[1] != 'u')) {
    const bool is_complex = descr.size() > 1 && descr[1] == 'c';  // astype would drop half of it
    throw InputError(where_ + ": byte 0: expected real numbers, found dtype '" + descr + "'; " +
                     (is_complex ? "store the real part, matrix.real"
                                 : "convert the matrix with .astype('<f8') in SciPy"));
  }
  ValueArray values;
  for_integer_type([&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (sizeof(T) == 8) {
      constexpr auto kExact = std::uint64_t{1} << 53;
      for (Offset i = 0; i < count; ++i) {
        const T value = element<T>(elements_.data(), i);
        const auto word = static_cast<std::uint64_t>(value);
        const std::uint64_t magnitude = value < T{0} ? 0 - word : word;
        if (magnitude > kExact) {
          refuse_element(i, sizeof(T), "an integer that float64 holds exactly (up to 2^53)",
                         std::to_string(value),
                         "; .astype('<f8') in NumPy rounds them, --value-kind none leaves them");
        }
      }
    }
    values = widen<T>(elements_, count, sizeof(T) <= 2 ? ValueKind::f32 : ValueKind::f64);
  });
  return values;
}

std::string NpyArray::to_text() const {
  const char kind = header_.descr.size() > 1 ? header_.descr[1] : '\0';
  if (kind != 'S' && kind != 'U') {
    throw InputError(where_ + ": byte 0: expected a string, found dtype '" + header_.descr +
                     "'; was the archive written by scipy.sparse.save_npz?");
  }
  std::string text;
  for (Offset i = 0; i < elements_.size(); i += kind == 'U' ? 4 : 1) {
    if (elements_[i] != '\0') text += elements_[i];
  }
  return text;
}

NpyArray read_npy_array(ByteSource& source, std::uint64_t possible_bytes) {
  const std::string head = read_head(source);
  NpyHeader header = parse_member_header(head, source.name());
  const std::uint64_t size = item_bytes(header.descr);
  const auto count = static_cast<std::uint64_t>(header.elements());
  if (size == 0) {
    throw InputError(source.name() + ": byte 0: expected an array of numbers or a string, found " +
                     "dtype '" + header.descr + "'; was the archive written by " +
                     "scipy.sparse.save_npz?");
  }
  if (count > possible_bytes / size) {
    throw InputError(source.name() +
                     ": byte 0: expected an array that fits the file, found shape " +
                     describe_shape(header) + " of '" + header.descr + "'; fetch the file again");
  }
  const std::uint64_t wanted = count * size;
  Buffer<char> elements(static_cast<Offset>(wanted));
  const std::uint64_t in_head = std::min<std::uint64_t>(wanted, head.size() - header.data_offset);
  std::copy_n(head.data() + header.data_offset, in_head, elements.data());
  const std::uint64_t arrived =
      in_head + read_fully(source, elements.data() + in_head, wanted - in_head);
  char beyond;
  const bool has_more = head.size() - header.data_offset > wanted ||
                        (arrived == wanted && source.read(&beyond, 1) != 0);
  if (arrived < wanted || has_more) {
    throw InputError(source.name() + ": byte " + std::to_string(header.data_offset + arrived) +
                     ": expected " + counted(wanted, "byte") + " of elements, found " +
                     (has_more ? "more" : std::to_string(arrived)) + "; fetch the file again");
  }
  return NpyArray(source.name(), std::move(header), std::move(elements));
}

NpzArchive::NpzArchive(ArchivePlace archive, const SourceLimits& limits)
    : archive_(std::move(archive)), limits_(limits), members_(list_archive(archive_, limits)) {
  std::set<std::string> names;
  for (const ArchiveMember& member : members_) {
    if (names.insert(member.name).second) continue;
    throw InputError(path() + ": byte 0: expected every member once, found two called " +
                     member.name + "; write the archive again");
  }
  std::error_code ignored;
  const std::uint64_t disk_bytes = std::filesystem::file_size(archive_.file, ignored);
  possible_bytes_ = archive_.member.empty() ? disk_bytes * kMaxDeflate  // deflated once
                                            : limits.decompressed_bytes(disk_bytes);
}

bool NpzArchive::has(const std::string& name) const {
  return std::any_of(members_.begin(), members_.end(),
                     [&](const ArchiveMember& member) { return member.name == suffixed(name); });
}

std::vector<std::string> NpzArchive::names() const {
  std::vector<std::string> names;
  const std::string suffix = kSuffix;
  for (const ArchiveMember& member : members_) {
    if (member.name.size() > suffix.size() && ends_with(member.name, suffix)) {
      names.push_back(member.name.substr(0, member.name.size() - suffix.size()));
    }
  }
  return names;
}

NpyHeader NpzArchive::read_header(const std::string& name) const {
  const std::unique_ptr<ByteSource> source = open_archive_member(archive_, suffixed(name), limits_);
  return parse_member_header(read_head(*source), source->name());
}

NpyArray NpzArchive::read(const std::string& name) const {
  const std::unique_ptr<ByteSource> source = open_archive_member(archive_, suffixed(name), limits_);
  return read_npy_array(*source, possible_bytes_);
}

}  // namespace csrkit
