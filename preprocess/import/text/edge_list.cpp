// Edge lists: one edge per line, two ids and perhaps a weight (SNAP, KONECT, csv, tsv).
//
// Row = the first id, column = the second. Without --rows and --cols the matrix is square, and the
// largest id is its last row and column. With one of them, the largest id of the other side sets
// that side. A first line that names columns ("source,target") is skipped and noted; names in
// another order than source, target, weight are refused, and so are more columns than names. Ids
// count from 1 if none is 0 and one is 1, unless --base or a comment of csr-export ("counted from
// 0") says.
#include <algorithm>
#include <cctype>

#include "core/base/error.h"
#include "core/base/text.h"
#include "preprocess/import/format_reader.h"
#include "preprocess/import/text/entry_lines.h"

namespace csrkit {

namespace {

constexpr std::string_view kComments = "#%/";

bool is_separator(char c) { return scan::is_blank(c) || c == ',' || c == ';'; }

bool is_comment_or_blank(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return true;
  if (line[first] == '/') return line.substr(first, 2) == "//";
  return kComments.find(line[first]) != std::string_view::npos;
}

std::vector<std::string_view> words_of(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < line.size();) {
    while (at < line.size() && is_separator(line[at])) ++at;
    const std::size_t begin = at;
    while (at < line.size() && !is_separator(line[at])) ++at;
    if (at > begin) words.push_back(line.substr(begin, at - begin));
  }
  return words;
}

bool is_id(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), scan::is_digit);
}

/// Two or three words, each beginning like a name and not like a number ("nan" is no column name).
bool names_columns(const std::vector<std::string_view>& words) {
  if (words.size() < 2 || words.size() > 3) return false;
  return std::all_of(words.begin(), words.end(), [](std::string_view word) {
    const char c = word[0] == '"' && word.size() > 1 ? word[1] : word[0];
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
  });
}

bool is_edge(const std::vector<std::string_view>& words) {
  return (words.size() == 2 || words.size() == 3) && is_id(words[0]) && is_id(words[1]);
}

constexpr int kUnknownBase = -1;

/// The column that a name is usually given to, `otherwise` for others.
std::size_t usual_column(std::string_view word, std::size_t otherwise) {
  std::string name = lower_case(word);
  name.erase(std::remove(name.begin(), name.end(), '"'), name.end());
  if (name == "source" || name == "src" || name == "from") return 0;
  if (name == "target" || name == "dst" || name == "to") return 1;
  return name == "weight" ? 2 : otherwise;
}

/// A transposed matrix, or weights taken for ids, would be an error that nobody sees.
void require_usual_order(const std::vector<std::string_view>& names, const LineReader& lines,
                         std::string_view line) {
  for (std::size_t at = 0; at < names.size(); ++at) {
    if (usual_column(names[at], at) == at) continue;
    lines.refuse(lines.line(),
                 "expected the columns source, target and perhaps weight in this "
                 "order, found \"" +
                     std::string(line.substr(0, 80)) +
                     "\"; put them in this order, or take the names away");
  }
}

/// What comments say of the edges.
struct EdgeFacts {
  int base = kUnknownBase;
  ValueKind kind = ValueKind::f64;
  bool is_bipartite = false;
};

/// Whether the line says "counted from <number>": this number, not the beginning of a year.
bool says_counted_from(std::string_view line, int number) {
  const std::string statement = "counted from " + std::to_string(number);
  const std::size_t at = line.find(statement);
  if (at == std::string_view::npos) return false;
  std::string_view rest = line.substr(at + statement.size());
  if (!rest.empty() && (rest[0] == '.' || rest[0] == ',')) rest.remove_prefix(1);
  return rest.empty() || !std::isalnum(static_cast<unsigned char>(rest[0]));
}

/// Reads what csr-export, SNAP and KONECT write into comments: where ids begin, the kind of the
/// values (0.1 of f32 is another number in f64), whether edges have a direction, and whether rows
/// and columns are different things. "Each unordered pair of nodes is saved once" says nothing:
/// SNAP writes it over directed graphs (web-Google, Wiki-Vote), too.
void read_comment(std::string_view line, EdgeFacts& facts, ImportResult& result) {
  for (const int number : {0, 1}) {
    if (says_counted_from(line, number)) facts.base = number;
  }
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f16, ValueKind::bf16}) {
    const std::string statement = std::string("row, column, value (") + name_of(kind) + ")";
    if (line.find(statement) != std::string_view::npos) facts.kind = kind;
  }
  const std::string text = lower_case(line.substr(0, 1024));
  const auto has = [&](const char* words) { return text.find(words) != std::string::npos; };
  if (has("undirected graph") || text.rfind("% sym ", 0) == 0) {
    result.notes["direction"] =
        "undirected, a comment says; --symmetrize adds the other direction of edges listed once";
  }
  if (text.rfind("% bip ", 0) == 0) facts.is_bipartite = true;
}

/// Skips comments and a line of column names.
EdgeFacts read_head(LineReader& lines, ImportResult& result) {
  EdgeFacts facts;
  std::size_t names = 0;
  for (std::string_view line; lines.peek_line(line); lines.next_line(line)) {
    const auto words = words_of(line);
    if (is_comment_or_blank(line)) {
      read_comment(line, facts, result);
    } else if (names == 0 && names_columns(words)) {
      require_usual_order(words, lines, line);
      names = words.size();
      result.notes["column names"] = std::string(line.substr(0, 80));
    } else if (names > 0 && words.size() > names) {
      lines.refuse(lines.line(), "expected " + std::to_string(names) +
                                     " columns, as many as have names, found " +
                                     std::to_string(words.size()) +
                                     "; pandas writes its index as a first column without a name: "
                                     "index=False leaves it out");
    } else {
      break;
    }
  }
  return facts;
}

struct Ids {
  Index smallest, largest_row, largest_col;  // 0, -1 and -1 where there are none
};
Ids ids_of(const CooMatrix& coo) {
  Index smallest = coo.nnz() > 0 ? coo.row_indices[0] : 0, largest_row = -1, largest_col = -1;
#pragma omp parallel for schedule(static) reduction(min         \
                                                    : smallest) \
    reduction(max                                               \
              : largest_row, largest_col)
  for (Offset at = 0; at < coo.nnz(); ++at) {
    const Index row = coo.row_indices[at], col = coo.col_indices[at];
    smallest = std::min({smallest, row, col});
    largest_row = std::max(largest_row, row);
    largest_col = std::max(largest_col, col);
  }
  return {smallest, largest_row, largest_col};
}

/// Whether the first line reads as the numbers of nodes and edges of what follows, as some programs
/// write them. Of a few edges any pair may.
bool begins_with_sizes(const CooMatrix& coo, int base) {
  constexpr Offset kFewEdges = 4;
  const Offset edges = coo.nnz() - 1;
  if (edges < kFewEdges || Offset{coo.col_indices[0]} + base != edges) return false;
  Index largest = 0;
#pragma omp parallel for schedule(static) reduction(max : largest)
  for (Offset at = 1; at <= edges; ++at) {
    largest = std::max({largest, coo.row_indices[at], coo.col_indices[at]});
  }
  return largest <= coo.row_indices[0];
}

void count_from_zero(CooMatrix& coo) {
#pragma omp parallel for schedule(static)
  for (Offset at = 0; at < coo.nnz(); ++at) {
    --coo.row_indices[at];
    --coo.col_indices[at];
  }
}

ImportResult read_edges(const std::string& path, const ReadRequest& request, int asked);

/// An edge names node 0, and another one a node as large as a size that the user gave. Reading
/// again by base 0 finds its line.
void refuse_beyond(const std::string& path, const ReadRequest& request) {
  if (!request.pipe) read_edges(path, request, 0);
  throw InputError(path +
                   ": expected ids below --rows and --cols, as an edge names node 0, found " +
                   "one that is as large; give larger sizes");
}

/// The sizes that the user gave; 0 where none.
struct GivenSizes {
  Offset rows, cols;
};

EntryLineOptions line_options(const ReadRequest& request, const GivenSizes& given, int base,
                              ValueKind kind) {
  const bool is_guessed = base == kUnknownBase;
  // Ids that count from 1 reach one further.
  const auto limit = [&](Offset size) {
    return size > 0 && is_guessed ? std::min(size + 1, kMaxIndex) : size;
  };
  EntryLineOptions how;
  how.index_base = is_guessed ? 0 : base;
  how.row_limit = limit(given.rows);
  how.col_limit = limit(given.cols);
  how.comments = kComments;
  how.value_kind = wanted_kind(request.value_kind, kind);
  how.progress = request.progress;
  return how;
}

/// Guesses the base from the ids, and makes the matrix count from 0. Returns the base.
int settle_base(const std::string& path, const ReadRequest& request, const GivenSizes& given,
                CooMatrix& coo) {
  const Ids ids = ids_of(coo);
  const bool is_beyond = (given.rows > 0 && ids.largest_row == given.rows) ||
                         (given.cols > 0 && ids.largest_col == given.cols);
  const int base = ids.smallest == 1 || (ids.smallest > 0 && is_beyond) ? 1 : 0;
  if (base == 0 && is_beyond) refuse_beyond(path, request);
  if (base == 1) count_from_zero(coo);
  coo.rows = given.rows > 0 ? static_cast<Index>(given.rows) : ids.largest_row + 1 - base;
  coo.cols = given.cols > 0 ? static_cast<Index>(given.cols) : ids.largest_col + 1 - base;
  return base;
}

/// `asked`: the base that the user gave, or kUnknownBase.
ImportResult read_edges(const std::string& path, const ReadRequest& request, int asked) {
  ImportResult result;
  result.inputs.push_back({path, 0, {}});
  const std::shared_ptr<ByteSource> source = open_input(path, request);
  LineReader lines(*source);
  const EdgeFacts named = read_head(lines, result);
  int base = asked != kUnknownBase ? asked : named.base;
  const bool is_guessed = base == kUnknownBase;

  const Parameters& parameters = request.parameters;
  const GivenSizes given{parameters.is_set("rows") ? parameters.index("rows") : 0,
                         parameters.is_set("cols") ? parameters.index("cols") : 0};
  EntryLines entries = parse_entry_lines(lines, line_options(request, given, base, named.kind));
  CooMatrix& coo = entries.coo;
  result.entries_read = entries.entries;
  result.underflow = entries.underflow;
  if (!entries.doubt_of_end.empty()) result.warnings.push_back(entries.doubt_of_end);
  if (begins_with_sizes(coo, is_guessed ? 0 : base)) {
    result.warnings.push_back(
        "the first edge may be no edge but the numbers of nodes and edges, which fit what "
        "follows; if so, remove that line");
  }

  if (is_guessed) base = settle_base(path, request, given, coo);
  result.notes["base"] =
      std::to_string(base) + (is_guessed && base == 1
                                  ? ", as no edge names node 0; --base 0 makes one without edges"
                                  : "");
  if (asked == 0 && ids_of(coo).smallest == 1) {
    result.warnings.push_back(
        "no edge names node 0, so row 0 and column 0 are empty; if the first node is 1, say "
        "--base 1");
  }
  if (given.rows == 0 && given.cols == 0) {
    if (entries.entries == 0) {
      throw InputError(path +
                       ": expected at least one edge, found none; give --rows and --cols if "
                       "the matrix is meant to be empty");
    }
    make_square(coo);
    if (named.is_bipartite) {
      result.warnings.push_back(
          "a comment says that the network is bipartite (\"bip\"): row 5 and column 5 are "
          "different "
          "things, but the matrix is square; give --rows and --cols");
    }
  }
  finish_coo(std::move(coo), request, path, result);
  return result;
}

}  // namespace

bool matches_edge_list(const Peek& peek) {
  if (peek.is_directory || peek.is_tar || peek.is_zip) return false;
  bool names_seen = false;
  for (std::size_t at = 0; at < peek.head.size();) {
    const std::size_t end = std::min(peek.head.find('\n', at), peek.head.size());
    const std::string_view line = peek.head.substr(at, end - at);
    at = end + 1;
    if (is_comment_or_blank(line)) continue;
    const auto words = words_of(line);
    if (names_seen || !names_columns(words)) return is_edge(words);
    names_seen = true;
  }
  return false;
}

ImportResult read_edge_list(const std::string& path, const ReadRequest& request) {
  const Parameters& given = request.parameters;
  return read_edges(path, request, given.is_set("base") ? given.choice("base") : kUnknownBase);
}

}  // namespace csrkit
