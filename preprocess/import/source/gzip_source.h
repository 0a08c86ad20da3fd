// gzip data as a stream of its decompressed bytes.
#pragma once

#include <cstdint>
#include <memory>

#include "preprocess/import/source/byte_stream.h"

namespace csrkit {

/// The content of `compressed`, which holds one gzip member after the other (RFC 1952; pigz -i,
/// bgzip and cat make several). Checksums and sizes of all members are compared. Reading throws
/// InputError where the data is damaged, cut short, followed by anything but zeros, compressed once
/// more or larger than `limit_bytes`. By ISA-L where csrkit is built with it, else by zlib.
std::unique_ptr<ByteSource> gunzipped(std::unique_ptr<ByteSource> compressed,
                                      std::uint64_t limit_bytes);

}  // namespace csrkit
