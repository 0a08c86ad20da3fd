#include "preprocess/import/name_promise.h"

#include "tests/unit/preprocess/import/scratch_file.h"

namespace csrkit {
namespace {

std::string refusal_of_file(const std::string& content, const std::string& ending,
                            const ImportOptions& options = {}) {
  const ScratchFile file(content, ending);
  try {
    import_matrix(file.path(), options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

// Without its first line, the sizes would be the first edge.
constexpr char kNoBanner[] = "3 3 2\n1 2 0.5\n3 1 2\n";

TEST(NamePromise, MatrixMarketWithoutItsBannerIsNoListOfEdges) {
  for (const char* ending : {".mtx", ".graph.mtx"}) {
    const std::string refusal = refusal_of_file(kNoBanner, ending);
    EXPECT_NE(refusal.find(std::string(ending) + ":1: expected the format matrix-market"),
              std::string::npos)
        << refusal;
    EXPECT_NE(refusal.find("%%MatrixMarket matrix coordinate"), std::string::npos) << refusal;
    EXPECT_NE(refusal.find("say --format=edge-list"), std::string::npos) << refusal;
  }
  ImportOptions options;
  options.format = "edge-list";
  EXPECT_EQ(refusal_of_file(kNoBanner, ".mtx", options), "accepted");
  EXPECT_EQ(refusal_of_file(kNoBanner, ".txt"), "accepted");
}

TEST(NamePromise, OtherNamesPromiseToo) {
  const std::string market = "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n";
  EXPECT_NE(refusal_of_file(market, ".npz").find("expected the format npz"), std::string::npos);
  EXPECT_NE(refusal_of_file("0 1 2\n2 3 4\n", ".graph").find("expected the format metis-graph"),
            std::string::npos);
  // Content that nothing matches: the name is the better explanation.
  const std::string unknown = refusal_of_file("a sentence\n", ".mtx.gz");
  EXPECT_NE(unknown.find("found none of the known ones"), std::string::npos) << unknown;
  EXPECT_EQ(unknown.find("--format"), std::string::npos) << unknown;
  EXPECT_EQ(refusal_of_file(market, ".mtx"), "accepted");
  EXPECT_EQ(refusal_of_file("0 1\n1 0\n", ".csv"), "accepted");
}

}  // namespace
}  // namespace csrkit
