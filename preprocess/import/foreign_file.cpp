#include "preprocess/import/foreign_file.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/base/text.h"
#include "preprocess/import/format_reader.h"
#include "preprocess/import/source/line_reader.h"
#include "preprocess/import/source/scan.h"

namespace csrkit {

namespace {

using namespace std::string_view_literals;

/// FILE stands for the path in the lines of Python. They name the shape where a file has it: SciPy
/// would end the matrix with its last entry.
struct Conversion {
  const char* what;
  const char* imports;
  const char* line;
};

constexpr Conversion kMatlab5 = {
    "a MATLAB file (version 5)", "import scipy.io, scipy.sparse",
    "scipy.sparse.save_npz('FILE.npz', scipy.sparse.csr_matrix(scipy.io.loadmat('FILE')['A']))"
    "  # 'A': its name"};
constexpr Conversion kMatlab7 = {
    "a MATLAB file (version 7.3, HDF5)", "import h5py, scipy.sparse; A = h5py.File('FILE')['A']",
    "scipy.sparse.save_npz('FILE.npz', scipy.sparse.csc_matrix((A['data'][:], A['ir'][:], "
    "A['jc'][:]), (A.attrs['MATLAB_sparse'], len(A['jc']) - 1)))  # 'A': its name"};
constexpr Conversion kHdf5 = {
    "an HDF5 file", "import h5py, scipy.sparse; X = h5py.File('FILE')['X']",
    "scipy.sparse.save_npz('FILE.npz', scipy.sparse.csr_matrix((X['data'][:], X['indices'][:], "
    "X['indptr'][:]), X.attrs.get('shape')))  # 'X': its group"};
constexpr Conversion kTorch = {
    "a PyTorch file", "import torch, numpy",
    "numpy.save('FILE.npy', torch.load('FILE', weights_only=False).edge_index.numpy())  # or what "
    "it holds"};
constexpr Conversion kPickle = {
    "a pickle of Python", "import pickle, scipy.sparse  # runs code of the file: trust its source",
    "scipy.sparse.save_npz('FILE.npz', scipy.sparse.csr_matrix(pickle.load(open('FILE', 'rb'))))"};
// SciPy takes files of the symmetry U alone, so the others are called U, and what they leave out is
// added: the upper triangle of a symmetric matrix.
constexpr Conversion kHarwellBoeing = {
    "a Rutherford-Boeing or Harwell-Boeing file", "import scipy.io, scipy.sparse",
    "scipy.sparse.save_npz('FILE.npz', scipy.io.hb_read('FILE').tocsr())"};
constexpr Conversion kHarwellBoeingRectangular = {
    "a Rutherford-Boeing or Harwell-Boeing file of a rectangular matrix",
    "import io, re, scipy.io, scipy.sparse; text = re.sub(r'\\A((.*\\n){2}.)r', r'\\1u', "
    "open('FILE').read(), flags=re.I)",
    "scipy.sparse.save_npz('FILE.npz', scipy.io.hb_read(io.StringIO(text)).tocsr())"};
constexpr Conversion kHarwellBoeingSymmetric = {
    "a Rutherford-Boeing or Harwell-Boeing file of a symmetric matrix",
    "import io, re, scipy.io, scipy.sparse; text = re.sub(r'\\A((.*\\n){2}.)s', r'\\1u', "
    "open('FILE').read(), flags=re.I)",
    "L = scipy.io.hb_read(io.StringIO(text)); scipy.sparse.save_npz('FILE.npz', "
    "(L + scipy.sparse.tril(L, -1).T).tocsr())"};
constexpr Conversion kParquet = {
    "a Parquet file", "import pandas",
    "pandas.read_parquet('FILE').to_csv('FILE.tsv', sep='\\t', header=False, index=False)"};
constexpr Conversion kFeather = {
    "an Arrow (Feather) file", "import pandas",
    "pandas.read_feather('FILE').to_csv('FILE.tsv', sep='\\t', header=False, index=False)"};
constexpr Conversion kExcel = {
    "an Excel workbook", "import pandas",
    "pandas.read_excel('FILE').to_csv('FILE.tsv', sep='\\t', header=False, index=False)"};
constexpr Conversion kGraphMl = {
    "a GraphML file", "import networkx, scipy.sparse",
    "scipy.sparse.save_npz('FILE.npz', "
    "scipy.sparse.csr_matrix(networkx.to_scipy_sparse_array(networkx.read_graphml('FILE'))))"};
constexpr Conversion kGexf = {
    "a GEXF file", "import networkx, scipy.sparse",
    "scipy.sparse.save_npz('FILE.npz', "
    "scipy.sparse.csr_matrix(networkx.to_scipy_sparse_array(networkx.read_gexf('FILE'))))"};
constexpr Conversion kGml = {
    "a GML file", "import networkx, scipy.sparse",
    "scipy.sparse.save_npz('FILE.npz', "
    "scipy.sparse.csr_matrix(networkx.to_scipy_sparse_array(networkx.read_gml('FILE'))))"};
constexpr Conversion kPajek = {
    "a Pajek file", "import networkx, scipy.sparse",
    "scipy.sparse.save_npz('FILE.npz', "
    "scipy.sparse.csr_matrix(networkx.to_scipy_sparse_array(networkx.read_pajek('FILE'))))"};
constexpr Conversion kJson = {
    "JSON", "import json, networkx, scipy.sparse",
    "scipy.sparse.save_npz('FILE.npz', scipy.sparse.csr_matrix(networkx.to_scipy_sparse_array("
    "networkx.node_link_graph(json.load(open('FILE'))))))"};
constexpr Conversion kSqlite = {
    "an SQLite database", "import pandas, sqlite3",
    "pandas.read_sql('select source, target from edges', sqlite3.connect('FILE'))"
    ".to_csv('FILE.tsv', sep='\\t', header=False, index=False)  # its own columns"};
// The size is in the header alone: the last nodes may have no edges. The weight is the last number.
constexpr Conversion kDimacs = {
    "a DIMACS graph (text)", "p, *e = (line for line in open('FILE') if line[0] in 'pae')",
    "open('FILE.mtx', 'w').writelines(' '.join(w) + '\\n' for part in ([['%%MatrixMarket matrix "
    "coordinate', 'real' if e and e[0].split()[3:] else 'pattern', 'general'], "
    "[*p.split()[2:3] * 2, str(len(e))]], (w[1:3] + w[3:][-1:] for w in map(str.split, e))) "
    "for w in part)"};
constexpr Conversion kLibSvm = {
    "LIBSVM (svmlight) text", "import scipy.sparse, sklearn.datasets",
    "scipy.sparse.save_npz('FILE.npz', sklearn.datasets.load_svmlight_file('FILE')[0])"};
constexpr Conversion kUtf16 = {"text in UTF-16, as Windows PowerShell writes it",
                               "text = open('FILE', encoding='utf-16').read()",
                               "open('FILE.txt', 'w').write(text)"};

/// What other programs unpack.
struct Packed {
  std::string_view magic;
  const char* what;
  const char* command;
};

constexpr Packed kPacked[] = {{"\x04\x22\x4d\x18", "an lz4 file", "lz4 -d"},
                              {"LZIP\x01", "an lzip file", "lzip -d"},
                              {"\x89LZO\0\r\n\x1a\n"sv, "an lzop file", "lzop -d"},
                              {"\x1f\x9d", "a file of compress (.Z)", "gzip -d"},
                              {"7z\xbc\xaf\x27\x1c", "a 7z archive", "7z x"},
                              {"Rar!\x1a\x07", "a RAR archive", "unrar x"}};

bool has_member(const Peek& peek, std::string_view ending) {
  return std::any_of(peek.members.begin(), peek.members.end(),
                     [&](const std::string& member) { return ends_with(member, ending); });
}

std::string_view line_of(std::string_view text, int number) {
  for (; number > 0; --number) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

/// The three letters that begin the third line of a Harwell-Boeing file, in small ones: numbers,
/// symmetry, assembled or not. "" for other files.
std::string harwell_boeing_type(const Peek& peek) {
  const std::string type = lower_case(line_of(peek.head, 2).substr(0, 4));
  const auto is_one_of = [&](std::size_t at, std::string_view letters) {
    return at < type.size() && letters.find(type[at]) != std::string_view::npos;
  };
  const bool is_one =
      is_one_of(0, "rcpiq") && is_one_of(1, "suhzr") && is_one_of(2, "ae") && is_one_of(3, " \r");
  return is_one ? type.substr(0, 3) : std::string();
}

/// What SciPy reads of Harwell-Boeing files, or nullptr.
const Conversion* conversion_of_harwell_boeing(const std::string& type) {
  if (type == "rua" || type == "iua") return &kHarwellBoeing;
  if (type == "rra" || type == "ira") return &kHarwellBoeingRectangular;
  if (type == "rsa" || type == "isa") return &kHarwellBoeingSymmetric;
  return nullptr;
}

/// A label, and then pairs of a column and a value: "+1 3:0.5 17:1".
bool is_libsvm(std::string_view line) {
  const std::size_t label = std::min(line.find_first_of(" \t"), line.size());
  if (label == 0 || line.find_first_not_of("0123456789+-.eE") < label) return false;
  line.remove_prefix(label);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const std::size_t colon = std::min(line.find(':'), line.size());
  const std::string_view column = line.substr(0, colon);
  return colon + 1 < line.size() &&
         (scan::is_digit(line[colon + 1]) || line[colon + 1] == '-' || line[colon + 1] == '.') &&
         (column == "qid" ||
          (!column.empty() && std::all_of(column.begin(), column.end(), scan::is_digit)));
}

/// "p", the kind of problem, and sizes, perhaps behind comments.
bool is_dimacs(std::string_view beginning) {
  for (const char* kind : {"sp", "edge", "col", "max", "min", "asn"}) {
    const std::string line = std::string("p ") + kind + " ";
    if (starts_with(beginning, line) || beginning.find("\n" + line) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

const Conversion* conversion_of(const Peek& peek) {
  std::string_view head = peek.head;
  const std::string name = lower_case(peek.path);
  if (starts_with(head, "MATLAB 5.0 MAT-file"sv)) return &kMatlab5;
  if (starts_with(head, "MATLAB 7.3 MAT-file"sv)) return &kMatlab7;
  if (starts_with(head, "\x89HDF\r\n\x1a\n"sv)) return ends_with(name, ".mat") ? &kMatlab7 : &kHdf5;
  if (has_member(peek, "data.pkl")) return &kTorch;
  if (has_member(peek, "xl/workbook.xml")) return &kExcel;
  if (starts_with(head, "\x80"sv) && head.size() > 1 && head[1] >= 2 && head[1] <= 5) {
    return ends_with(name, ".pt") || ends_with(name, ".pth") ? &kTorch : &kPickle;
  }
  if (starts_with(head, "\xff\xfe"sv) || starts_with(head, "\xfe\xff"sv)) return &kUtf16;
  if (starts_with(head, "PAR1"sv)) return &kParquet;
  if (starts_with(head, "ARROW1"sv) || starts_with(head, "FEA1"sv)) return &kFeather;
  if (starts_with(head, "SQLite format 3"sv)) return &kSqlite;
  const std::string harwell_boeing = harwell_boeing_type(peek);
  if (!harwell_boeing.empty()) return conversion_of_harwell_boeing(harwell_boeing);
  head.remove_prefix(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
  const std::string_view beginning = head.substr(0, 4096);
  if (starts_with(head, "<"sv)) {
    if (beginning.find("<graphml") != std::string_view::npos) return &kGraphMl;
    if (beginning.find("<gexf") != std::string_view::npos) return &kGexf;
  }
  if (starts_with(head, "graph ["sv) || starts_with(head, "graph\n["sv)) return &kGml;
  if (starts_with(head, "*Vertices"sv) || starts_with(head, "*vertices"sv)) return &kPajek;
  if (starts_with(head, "{"sv) || starts_with(head, "["sv)) return &kJson;
  if (is_dimacs(beginning)) return &kDimacs;
  if (is_libsvm(line_of(head, 0))) return &kLibSvm;
  return nullptr;
}

bool is_text(std::string_view head) {
  return std::none_of(head.begin(), head.end(), [](char c) {
    return c >= 0 && c < ' ' && c != '\t' && c != '\r' && c != '\n';
  });
}

/// As one word of a command line.
std::string shell_quoted(const std::string& path) {
  std::string word = "'";
  for (const char c : path) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

/// In quotes, shortened.
std::string shown(std::string_view line) {
  constexpr std::size_t kMost = 40;
  const std::string_view beginning = line.substr(0, kMost);
  const char* const rest = line.size() > kMost ? "..." : "";
  return '"' + std::string(beginning.substr(0, beginning.find('\r'))) + rest + '"';
}

}  // namespace

std::string filled(std::string lines, const std::string& path) {
  std::string quoted;
  for (const char c : path) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  for (std::size_t at = 0; (at = lines.find("FILE", at)) != std::string::npos;) {
    lines.replace(at, 4, quoted);
    at += quoted.size();
  }
  return lines;
}

std::string unknown_text(const Peek& peek) {
  if (!is_text(peek.head)) return {};
  std::vector<std::string_view> lines;  // the first two that say something
  for (std::string_view rest = peek.head; !rest.empty() && lines.size() < 2;) {
    const std::string_view line = line_of(rest, 0);
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos && line[first] != '#' && line[first] != '%')
      lines.push_back(line);
  }
  if (lines.empty()) return {};
  return "found text that begins " + shown(lines[0]) +
         (lines.size() > 1 ? ", " + shown(lines[1]) : "") +
         "; a list of edges has two whole numbers from 0 on, and perhaps a weight, in a line: drop "
         "other columns, and number nodes that have names";
}

std::string foreign_file(const Peek& peek) {
  for (const Packed& packed : kPacked) {
    if (!starts_with(peek.head, packed.magic)) continue;
    return std::string("found ") + packed.what +
           ", which csrkit does not read; unpack it: " + packed.command + " " +
           shell_quoted(peek.path);
  }
  const Conversion* found = conversion_of(peek);
  if (const std::string type = harwell_boeing_type(peek); found == nullptr && !type.empty()) {
    return "found a Rutherford-Boeing or Harwell-Boeing file of type " + type +
           ", which neither csrkit nor SciPy reads; the SuiteSparse Matrix Collection has its "
           "matrices as Matrix Market, too";
  }
  if (found == nullptr) return is_text(peek.head) ? found_lone_cr(peek.head) : std::string();
  return std::string("found ") + found->what +
         ", which csrkit does not read; Python converts it:\n  " +
         filled(found->imports, peek.path) + "\n  " + filled(found->line, peek.path);
}

}  // namespace csrkit
