#include "preprocess/import/text/entry_piece.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

namespace csrkit {
namespace {

/// What the lines of a text hold: each of these has a parser of its own.
struct Layout {
  bool has_ids, has_value, is_integer, is_csv;
  ValueKind kind;
};

std::vector<Layout> all_layouts() {
  std::vector<Layout> layouts = {{true, false, false, false, ValueKind::none},
                                 {true, false, false, true, ValueKind::none}};
  for (const ValueKind kind :
       {ValueKind::none, ValueKind::f32, ValueKind::f64, ValueKind::f16, ValueKind::bf16}) {
    for (const bool is_integer : {false, true}) {
      layouts.push_back({false, true, is_integer, false, kind});
      layouts.push_back({true, true, is_integer, false, kind});
      layouts.push_back({true, true, is_integer, true, kind});
    }
  }
  return layouts;
}

std::string shown(const Layout& layout) {
  return std::string(layout.has_ids ? "ids " : "") + (layout.has_value ? "value " : "") +
         (layout.is_integer ? "integer " : "") + (layout.is_csv ? "csv " : "") +
         name_of(layout.kind);
}

struct Outcome {
  EntryPiece piece;
  EntryStore store;
};

Outcome parsed(const Layout& layout, const std::string& text, bool must_be_exact = false) {
  EntryLineOptions options;
  options.comments = "%/";
  options.has_ids = layout.has_ids;
  options.is_csv_like = layout.is_csv;
  options.value_kind = layout.kind;
  options.values_are_integers = layout.is_integer;
  options.integers_must_be_exact = must_be_exact;
  Outcome outcome;
  outcome.store.has_ids = layout.has_ids;
  outcome.store.values = ValueArray(layout.kind, 0);
  outcome.store.reserve(8);
  outcome.piece.text.text = text;
  choose_parser(options, layout.has_value)(options, {1, 100, 100}, outcome.store, outcome.piece);
  return outcome;
}

/// Row, column and value as far as the layout has them; what follows them stays.
std::vector<std::string> fields_of(const Layout& layout, std::vector<std::string> fields) {
  if (!layout.has_value && fields.size() > 2) fields.erase(fields.begin() + 2);
  if (!layout.has_ids) fields.erase(fields.begin(), fields.begin() + 2);
  return fields;
}

std::string line_of(const Layout& layout, const std::vector<std::string>& fields,
                    const std::string& separator) {
  std::string line;
  for (const std::string& field : fields_of(layout, fields)) {
    line += (line.empty() ? "" : separator) + field;
  }
  return line;
}

TEST(EntryPiece, EveryLayoutReadsTheSameLines) {
  for (const Layout& layout : all_layouts()) {
    SCOPED_TRACE(shown(layout));
    const std::string text = "% comment\n\n \r\n// comment\n  " +
                             line_of(layout, {"3", "4", "7"}, layout.is_csv ? " , " : "\t ") +
                             "\n" + line_of(layout, {"100", "1", "-2"}, layout.is_csv ? ";" : " ") +
                             " \r\n" + line_of(layout, {"1", "100", "+5"}, " ") + "\n";
    const Outcome outcome = parsed(layout, text);
    const EntryPiece& piece = outcome.piece;
    const EntryStore& store = outcome.store;
    ASSERT_EQ(piece.fault, Fault::none) << text.substr(piece.fault_at - text.data());
    ASSERT_EQ(piece.count, 3);
    EXPECT_EQ(piece.largest_row, layout.has_ids ? 99 : -1);
    EXPECT_EQ(piece.largest_col, layout.has_ids ? 99 : -1);
    const Index rows[] = {2, 99, 0}, cols[] = {3, 0, 99};
    const double values[] = {7, -2, 5};
    for (Index i = 0; i < 3; ++i) {
      if (layout.has_ids) {
        EXPECT_EQ(store.rows[i], rows[i]);
        EXPECT_EQ(store.cols[i], cols[i]);
      }
      if (layout.has_value) {
        with_value_type(layout.kind, [&](auto tag) {
          using Stored = typename decltype(tag)::type;
          if constexpr (!std::is_same_v<Stored, ImplicitOne>) {
            EXPECT_EQ(load_as<double>(store.values.as<Stored>()[i]), values[i]);
          }
        });
      }
    }
  }
}

/// How often `word` as a value is kept as 0, and whether that is where the text has it.
Offset underflows_of(const Layout& layout, const std::string& word) {
  const std::string separator = layout.is_csv ? "," : " ";
  const std::string first = line_of(layout, {"1", "1", "1"}, separator) + "\n";
  const std::string line = line_of(layout, {"1", "2", word}, separator) + "\n";
  const std::string text = first + line + line;
  const EntryPiece piece = parsed(layout, text).piece;
  EXPECT_EQ(piece.fault, Fault::none);
  if (piece.underflows > 0) {
    EXPECT_EQ(piece.first_underflow - text.data(),
              static_cast<std::ptrdiff_t>(first.size() + line.find(word)));
  }
  return piece.underflows;
}

TEST(EntryPiece, EveryLayoutCountsWhatIsKeptAsZero) {
  for (const Layout& layout : all_layouts()) {
    if (!layout.has_value || layout.is_integer) continue;
    SCOPED_TRACE(shown(layout));
    for (const char* zero : {"0", "-0", "+0.000", "0e-999", "-.0d5", "00.0E+9"}) {
      EXPECT_EQ(underflows_of(layout, zero), 0) << zero;
    }
    const bool is_kept = layout.kind != ValueKind::none;
    for (const char* tiny : {"1e-400", "-2.5E-4000", "+0.0001d-400"}) {
      EXPECT_EQ(underflows_of(layout, tiny), is_kept ? 2 : 0) << tiny;
    }
    const bool is_narrow = is_kept && layout.kind != ValueKind::f64;
    EXPECT_EQ(underflows_of(layout, "1e-50"), is_narrow ? 2 : 0);
    EXPECT_EQ(underflows_of(layout, "1e-8"), layout.kind == ValueKind::f16 ? 2 : 0);
    EXPECT_EQ(underflows_of(layout, "1e-7"), 0);
  }
}

/// `word` is the field that the fault is found in, `shift` how far in it.
struct Bad {
  std::vector<std::string> fields;
  Fault fault;
  std::size_t word;
  std::size_t shift = 0;
};

void expect_fault(const Layout& layout, const Bad& bad, bool must_be_exact = false) {
  const std::string separator = layout.is_csv ? "," : " ";
  const std::string good = line_of(layout, {"1", "1", "1"}, separator) + "\n";
  std::string text = good;
  std::size_t place = 0;
  for (std::size_t i = 0; i < bad.fields.size(); ++i) {
    // A comma behind the last field would be what is too much.
    if (i > 0) text += bad.fault == Fault::extra && i == bad.word ? " " : separator;
    if (i == bad.word) place = text.size() + bad.shift;
    text += bad.fields[i];
  }
  if (bad.word == bad.fields.size()) place = text.size();
  text += "\n" + good;
  SCOPED_TRACE(shown(layout) + ": " + text.substr(good.size(), 40));
  const EntryPiece piece = parsed(layout, text, must_be_exact).piece;
  EXPECT_EQ(piece.fault, bad.fault);
  ASSERT_NE(piece.fault_at, nullptr);
  EXPECT_EQ(piece.fault_at - text.data(), static_cast<std::ptrdiff_t>(place));
}

TEST(EntryPiece, EveryLayoutRefusesTheSameIds) {
  const std::string huge(19, '9');
  for (const Layout& layout : all_layouts()) {
    if (!layout.has_ids) continue;
    const auto with_value = [&](std::vector<std::string> fields) {
      if (layout.has_value) fields.emplace_back("1");
      return fields;
    };
    for (const char* row : {"x", "1.5", "1e1", "1E1", "1x", "-1"}) {
      expect_fault(layout, {with_value({row, "1"}), Fault::row, 0});
    }
    for (const std::string& row : {std::string("0"), std::string("101"), huge}) {
      expect_fault(layout, {with_value({row, "1"}), Fault::row_range, 0});
    }
    for (const char* col : {"x", "1.5", "1e1", "1E1", "-1"}) {
      expect_fault(layout, {with_value({"1", col}), Fault::col, 1});
    }
    for (const std::string& col : {std::string("0"), std::string("101"), huge}) {
      expect_fault(layout, {with_value({"1", col}), Fault::col_range, 1});
    }
    expect_fault(layout, {{"1"}, Fault::col, 1});
    expect_fault(layout, layout.has_value ? Bad{{"1", "2x", "1"}, Fault::col, 1}
                                          : Bad{{"1", "2x"}, Fault::extra, 1, 1});
  }
}

TEST(EntryPiece, EveryLayoutRefusesTheSameValues) {
  const std::string beyond(400, '9'), inexact(20, '9');
  for (const Layout& layout : all_layouts()) {
    const std::vector<std::string> ids =
        layout.has_ids ? std::vector<std::string>{"1", "2"} : std::vector<std::string>{};
    const auto behind = [&](std::vector<std::string> words) {
      words.insert(words.begin(), ids.begin(), ids.end());
      return words;
    };
    if (!layout.has_value) {
      expect_fault(layout, {behind({"3"}), Fault::extra, ids.size()});
      expect_fault(layout, {behind({"\r3"}), Fault::extra, ids.size()});
      continue;
    }
    const std::size_t at = ids.size();
    expect_fault(layout, {behind({"1", "4"}), Fault::extra, at + 1});
    const Fault no_number = layout.is_integer ? Fault::integer : Fault::value;
    for (const char* word : {"x", "-x", "+"}) expect_fault(layout, {behind({word}), no_number, at});
    if (layout.has_ids) expect_fault(layout, {ids, Fault::value, at});
    if (layout.is_integer) {
      for (const char* word : {"1.5", "1e3", "1E3"}) {
        expect_fault(layout, {behind({word}), Fault::integer, at});
      }
      for (const std::string& word : {inexact, std::string("-9007199254740993")}) {
        expect_fault(layout, {behind({word}), Fault::inexact, at}, true);
      }
    } else {
      expect_fault(layout, {behind({"1e9999"}), Fault::overflow, at});
      expect_fault(layout, {behind({"-1e9999"}), Fault::overflow, at});
    }
    expect_fault(layout, {behind({beyond}), Fault::overflow, at});
    if (layout.kind == ValueKind::f16) {
      expect_fault(layout, {behind({"99999"}), Fault::overflow, at});
    }
    if (layout.kind == ValueKind::f32 || layout.kind == ValueKind::bf16) {
      expect_fault(layout, {behind({std::string(40, '9')}), Fault::overflow, at});
    }
  }
}

}  // namespace
}  // namespace csrkit
