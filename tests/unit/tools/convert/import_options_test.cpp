// What csr-import, csr-export and csr-generate understand and refuse, before any file is read.
#include "tools/convert/import_options.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tools/convert/export_run.h"
#include "tools/convert/generate_run.h"

namespace csrkit {
namespace {

template <class Parse>
auto parsed(Parse&& parse, std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "tool");
  return parse(static_cast<int>(arguments.size()), arguments.data());
}

TEST(ImportOptions, EveryParameterOfAFormatIsAnOption) {
  const ImportToolOptions options =
      parsed(parse_import_options, {"a", "b.csr", "--base=1", "--rows", "3", "--cols=4",
                                    "--add-inverse", "--symmetrize", "--self-loops=add"});
  EXPECT_EQ(
      options.import.parameters,
      (ParameterValues{{"add-inverse", "true"}, {"cols", "4"}, {"base", "1"}, {"rows", "3"}}));
  EXPECT_TRUE(options.symmetrize);
  EXPECT_EQ(options.self_loops, "add");
  for (const char* bad : {"--base=2", "--rows=0", "--cols=-1", "--add-inverse=maybe",
                          "--values=zero", "--duplicates=last", "--value-kind=f8"}) {
    EXPECT_THROW(parsed(parse_import_options, {"a", "b.csr", bad}), UsageError) << bad;
  }
  EXPECT_THROW(parsed(parse_import_options, {"a", "b.csr", "--value-kind=none", "--gcn-normalize"}),
               UsageError);
}

TEST(ImportOptions, ASeedIsForRandomValues) {
  EXPECT_EQ(parsed(parse_import_options, {"a", "b.csr", "--values=random", "--seed=7"}).seed, 7u);
  EXPECT_EQ(parsed(parse_import_options, {"a", "b.csr", "--values=random"}).seed, 1u);
  for (const char* how : {"--values=keep", "--values=ones", "--transpose"}) {
    EXPECT_THROW(parsed(parse_import_options, {"a", "b.csr", how, "--seed=7"}), UsageError) << how;
  }
}

TEST(ExportOptions, ParametersAreOptions) {
  const ExportToolOptions options =
      parsed(parse_export_options, {"a.csr", "b.tsv", "--base", "1", "--lossy"});
  EXPECT_EQ(options.how.parameters, (ParameterValues{{"base", "1"}}));
  EXPECT_TRUE(options.how.allow_loss);
  EXPECT_EQ(options.how.format, "auto");
  EXPECT_THROW(parsed(parse_export_options, {"a.csr", "b.tsv", "--base=2"}), UsageError);
}

TEST(GenerateOptions, ASeedThatIsGivenIsKnownToBe) {
  const GenerateOptions given = parsed(parse_generate_options, {"rmat", "a", "--seed=1"}).generate;
  EXPECT_TRUE(given.seed_is_given);
  EXPECT_EQ(given.seed, 1u);
  EXPECT_FALSE(parsed(parse_generate_options, {"rmat", "a"}).generate.seed_is_given);
}

TEST(GenerateOptions, SettingsAreNamedOnce) {
  const GenerateToolOptions options =
      parsed(parse_generate_options, {"rmat", "a.csr", "--set", "scale=4", "--set=a=0.5"});
  EXPECT_EQ(options.generate.parameters, (ParameterValues{{"a", "0.5"}, {"scale", "4"}}));
  EXPECT_EQ(parsed(parse_generate_options, {"--like", "arxiv", "a.csr"}).generate.pattern, "like");
  for (const auto& bad : std::vector<std::vector<const char*>>{
           {"rmat"},
           {"rmat", "a.csr", "--set", "scale"},
           {"rmat", "a.csr", "--set", "=3"},
           {"rmat", "a.csr", "--set", "scale=3", "--set", "scale=4"},
           {"rmat", "--like", "arxiv", "a.csr"},
           {"--like", "arxiv", "a.csr", "--set", "name=reddit"}}) {
    EXPECT_THROW(parsed(parse_generate_options, bad), UsageError) << bad.size();
  }
}

}  // namespace
}  // namespace csrkit
