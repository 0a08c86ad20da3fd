#include "preprocess/import/foreign_file.h"

#include "core/base/text.h"
#include "tests/unit/preprocess/import/scratch_file.h"

namespace csrkit {
namespace {

using namespace std::string_literals;

std::string message_for(const std::string& content, const std::string& ending) {
  const ScratchFile file(content, ending);
  try {
    import_matrix(file.path());
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ForeignFile, IsNamedWithTheCommandThatUnpacksIt) {
  const struct {
    std::string content, what, command;
  } files[] = {
      {"\x04\x22\x4d\x18\x64\x40\xa7"s, "an lz4 file", "lz4 -d '"},
      {"LZIP\x01\x0c"s, "an lzip file", "lzip -d '"},
      {"\x89LZO\0\r\n\x1a\n\x10"s, "an lzop file", "lzop -d '"},
      {"\x1f\x9d\x90\x25"s, "a file of compress (.Z)", "gzip -d '"},
      {"7z\xbc\xaf\x27\x1c\0\4"s, "a 7z archive", "7z x '"},
      {"Rar!\x1a\x07\1\0"s, "a RAR archive", "unrar x '"},
  };
  for (const auto& file : files) {
    const std::string message = message_for(file.content, ".mtx it's");
    EXPECT_NE(message.find(": byte 0: expected a known format, found " + std::string(file.what) +
                           ", which csrkit does not read; unpack it: " + file.command),
              std::string::npos)
        << message;
    EXPECT_EQ(message.substr(message.size() - 13), ".mtx it'\\''s'") << message;
  }
}

TEST(ForeignFile, IsNamedWithTheLinesThatConvertIt) {
  const struct {
    std::string content, ending, what, line;
  } files[] = {
      {"MATLAB 5.0 MAT-file, Platform: GLNXA64", ".mat", "a MATLAB file (version 5)", "loadmat('"},
      {"MATLAB 7.3 MAT-file, Platform: GLNXA64", ".mat", "version 7.3",
       "(A.attrs['MATLAB_sparse'], len(A['jc']) - 1)"},
      {"\x89HDF\r\n\x1a\n"s + "\0\0"s, ".h5", "an HDF5 file", "X.attrs.get('shape')"},
      {"\x89HDF\r\n\x1a\n"s + "\0\0"s, ".mat", "version 7.3", "h5py.File('"},
      {"\x80\x02}q\0"s, ".pt", "a PyTorch file", "torch.load('"},
      {"\x80\x02}q\0"s, ".pth", "a PyTorch file", "torch.load('"},
      {"\x80\x04\x95\0"s, ".pkl", "a pickle of Python", "pickle.load("},
      {"A title of the matrix            KEY\n 5 1 2 2 0\nrua            5  5  13  0\n(26I3)\n",
       ".rb", "Harwell-Boeing", "hb_read('"},
      {"A title of the matrix            KEY\n 5 1 2 2 0\nRRA            5  4  13  0\n(26I3)\n",
       ".rra", "Harwell-Boeing file of a rectangular matrix", "hb_read(io.StringIO(text)"},
      {"A title of the matrix            KEY\n 5 1 2 2 0\nisa            5  5  13  0\n(26I3)\n",
       ".rsa", "Harwell-Boeing file of a symmetric matrix", "scipy.sparse.tril(L, -1).T"},
      {"PAR1\x15\0"s, ".parquet", "a Parquet file", "read_parquet('"},
      {"ARROW1\0\0"s, ".feather", "an Arrow", "read_feather('"},
      {"FEA1\0\0"s, ".feather", "an Arrow", "read_feather('"},
      {"SQLite format 3\0"s, ".db", "an SQLite database", "read_sql("},
      {"<?xml version=\"1.0\"?>\n<graphml>", ".graphml", "a GraphML file", "read_graphml('"},
      {"<gexf version=\"1.2\">", ".gexf", "a GEXF file", "read_gexf('"},
      {"graph [\n  node [ id 0 ]\n]\n", ".gml", "a GML file", "read_gml('"},
      {"graph\n[\n  node [ id 0 ]\n]\n", ".gml", "a GML file", "read_gml('"},
      {"*Vertices 3\n1 \"a\"\n", ".net", "a Pajek file", "read_pajek('"},
      {"*vertices 3\n1 \"a\"\n", ".net", "a Pajek file", "read_pajek('"},
      {"[{\"nodes\": []}]", ".json", "JSON", "node_link_graph("},
      {"{\"nodes\": []}", ".json", "JSON", "node_link_graph("},
      {"c a road network\np sp 3 2\na 1 2 5\n", ".gr", "a DIMACS graph", "writelines("},
      {"\xff\xfe\x30\0 \0\x31\0\n\0"s, ".txt", "text in UTF-16", "encoding='utf-16'"},
      {"\xfe\xff\0\x30\0 \0\x31\0\n"s, ".txt", "text in UTF-16", "encoding='utf-16'"},
      {"p sp 3 2\na 1 2 5\n", ".gr", "a DIMACS graph", "writelines("},
      {"p edge 3 2\ne 1 2\n", ".col", "a DIMACS graph", "writelines("},
      {"c colours\np col 3 2\ne 1 2\n", ".col", "a DIMACS graph", "writelines("},
      {"p max 4 5\nn 1 s\nn 4 t\na 1 2 4\n", ".max", "a DIMACS graph", "writelines("},
      {"+1 3:0.5 17:1\n-1 2:1\n", ".svm", "LIBSVM (svmlight) text", "load_svmlight_file('"},
      {"0.25\t1:-2\n", ".txt", "LIBSVM (svmlight) text", "load_svmlight_file('"},
      {"3 qid:1 1:.5\n", ".txt", "LIBSVM (svmlight) text", "load_svmlight_file('"},
      {"c colours\np edge 3 2\ne 1 2\n", ".col", "a DIMACS graph", "writelines("},
  };
  for (const auto& file : files) {
    const std::string message = message_for(file.content, file.ending);
    EXPECT_NE(message.find("found "), std::string::npos);
    EXPECT_NE(message.find(file.what), std::string::npos) << message;
    EXPECT_NE(message.find(file.line), std::string::npos) << message;
    EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 2) << message;
    EXPECT_EQ(message.find("FILE"), std::string::npos) << message;
  }
}

TEST(ForeignFile, HarwellBoeingThatSciPyDoesNotReadHasNoLines) {
  for (const char* type : {"psa", "pua", "rza", "rse", "cua", "CSA", "qra"}) {
    const std::string message =
        message_for("A title\n 5 1 2 2 0\n" + std::string(type) + "  5 5 13 0\n(26I3)\n", ".rb");
    EXPECT_NE(
        message.find("of type " + lower_case(type) + ", which neither csrkit nor SciPy reads"),
        std::string::npos)
        << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(ForeignFile, BytesThatOnlyResembleOneAreNotNamed) {
  for (const std::string& content :
       {"\x80"s, "\x80\x01}q\0"s, "\x80\x06}q\0"s, "<html>\n<body>\n"s, "graphs [\n"s,
        "a title\n1 2\nrux  5 5 13 0\n"s, "a title\n1 2\nruax 5 5 13 0\n"s,
        "a title\n1 2\nrxa  5 5 13 0\n"s}) {
    const std::string message = message_for(content, ".bin");
    EXPECT_NE(message, "accepted") << content;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;  // no lines that convert it
  }
}

TEST(ForeignFile, TextThatIsNoListOfEdgesIsShown) {
  const std::string named = message_for("# who\nalice,bob\r\nbob,carol\n", ".csv");
  EXPECT_NE(named.find("begins \"alice,bob\", \"bob,carol\"; a list of edges"), std::string::npos)
      << named;
  const std::string timed = message_for("0 1 0.5 1234567\n", ".txt");
  EXPECT_NE(timed.find("begins \"0 1 0.5 1234567\"; a list"), std::string::npos) << timed;
  const std::string line(100, 'x');
  EXPECT_NE(message_for(line, ".txt").find("\"" + line.substr(0, 40) + "...\""), std::string::npos);
  EXPECT_EQ(message_for("\x01\x02\0\x03"s, ".bin").find("text"), std::string::npos);
}

TEST(ForeignFile, LinesThatEndWithCrAloneAreNamedInTextOnly) {
  const std::string message = message_for("0 1\r1 2\r", ".txt");
  EXPECT_NE(message.find("found lines that end with CR alone"), std::string::npos) << message;
  EXPECT_NE(message.find("tr '\\r' '\\n' <OLD >NEW"), std::string::npos) << message;
  EXPECT_EQ(message_for("\x01\x02\r\0\x03"s, ".bin").find("CR alone"), std::string::npos);
  EXPECT_EQ(message_for("alice,bob\r\ncarol,dave\r\n", ".csv").find("CR alone"), std::string::npos);
}

TEST(ForeignFile, QuotesInAPathDoNotEndTheLine) {
  const std::string message = message_for("PAR1\x15\0"s, "it's.parquet");
  EXPECT_NE(message.find("it\\'s.parquet')"), std::string::npos) << message;
  const std::string slashed = message_for("PAR1\x15\0"s, "back\\slash.parquet");
  EXPECT_NE(slashed.find("back\\\\slash.parquet')"), std::string::npos) << slashed;
}

}  // namespace
}  // namespace csrkit
