// Numbers become text in parallel, and reach the file in order.
#pragma once

#include <charconv>
#include <functional>
#include <string>

#include "core/base/progress.h"
#include "core/matrix/csr_matrix.h"
#include "preprocess/export/byte_sink.h"

namespace csrkit {

/// Calls `format(begin, end, text)`, which appends the text of the items [begin, end), for pieces
/// of at most `piece` items, several at once, and writes the texts in order.
void write_in_order(Offset items, Offset piece, ByteSink& sink, const ProgressCallback& progress,
                    const std::function<void(Offset begin, Offset end, std::string& text)>& format);

/// Writes the line `row + base <separator> col + base [<separator> value]` of every entry.
void write_entry_lines(const CsrMatrix& matrix, Offset base, char separator, ByteSink& sink,
                       const ProgressCallback& progress);

inline void append_number(std::string& text, Offset number) {
  char digits[24];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

/// The shortest digits that give the same number back: to a reader of its own precision for f32 and
/// f64, to a reader of f64 for the 16-bit kinds (which makes them exact in any reader).
inline void append_value(std::string& text, float value) {
  char digits[32];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}
inline void append_value(std::string& text, double value) {
  char digits[32];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}
inline void append_value(std::string& text, f16 value) {
  append_value(text, static_cast<double>(to_float(value)));
}
inline void append_value(std::string& text, bf16 value) {
  append_value(text, static_cast<double>(to_float(value)));
}

}  // namespace csrkit
