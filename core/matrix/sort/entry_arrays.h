// Entries while a sort moves them: three arrays, and values of which only the size matters.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/base/buffer.h"
#include "core/base/value_kind.h"

namespace csrkit {

struct Nothing {};  // the "value" of kind none

template <class Word>
inline constexpr bool kHasWord = !std::is_same_v<Word, Nothing>;

template <class Word>
struct EntryArrays {
  Index* rows;
  Index* cols;
  Word* words;
};

/// Values are moved, not computed with, while sorting: only their size counts.
template <class F>
decltype(auto) with_word_type(ValueKind kind, F&& f) {
  switch (size_of(kind)) {
    case 2: return f(TypeTag<std::uint16_t>{});
    case 4: return f(TypeTag<std::uint32_t>{});
    case 8: return f(TypeTag<std::uint64_t>{});
    default: return f(TypeTag<Nothing>{});
  }
}

}  // namespace csrkit
