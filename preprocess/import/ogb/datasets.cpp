// Source: master.csv of ogb 1.3.6, the rows download_name and add_inverse_edge, in nodeproppred,
// linkproppred and graphproppred. Names of earlier versions follow.
#include "preprocess/import/ogb/datasets.h"

#include <algorithm>

namespace csrkit {

namespace {

constexpr OgbDataset kDatasets[] = {
    {"ogbn-proteins", "proteins", true},
    {"ogbn-products", "products", true},
    {"ogbn-arxiv", "arxiv", false},
    {"ogbn-mag", "mag", false},
    {"ogbn-papers100M", "papers100M-bin", false},
    {"ogbl-ppa", "ppassoc", true},
    {"ogbl-collab", "collab", true},
    {"ogbl-citation2", "citation-v2", false},
    {"ogbl-wikikg2", "wikikg-v2", false},
    {"ogbl-ddi", "ddi", true},
    {"ogbl-biokg", "biokg", false},
    {"ogbl-vessel", "vessel", false},
    {"ogbg-molbace", "bace", true},
    {"ogbg-molbbbp", "bbbp", true},
    {"ogbg-molclintox", "clintox", true},
    {"ogbg-molmuv", "muv", true},
    {"ogbg-molpcba", "pcba", true},
    {"ogbg-molsider", "sider", true},
    {"ogbg-moltox21", "tox21", true},
    {"ogbg-moltoxcast", "toxcast", true},
    {"ogbg-molhiv", "hiv", true},
    {"ogbg-molesol", "esol", true},
    {"ogbg-molfreesolv", "freesolv", true},
    {"ogbg-mollipo", "lipophilicity", true},
    {"ogbg-molchembl", "chembl", true},
    {"ogbg-ppa", "ogbg_ppi_medium", true},
    {"ogbg-code2", "code2", false},
    {"ogbl-citation", "citation", false},
    {"ogbl-wikikg", "wikikg", false},
};

/// Lower case, with - for _.
std::string normal(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c == '_' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return name;
}

/// Without "ogbn-" and the like.
std::string without_task(const std::string& name) {
  const bool has_task = name.size() > 5 && name.compare(0, 3, "ogb") == 0 && name[4] == '-';
  return has_task ? name.substr(5) : name;
}

}  // namespace

const OgbDataset* find_ogb_dataset(const std::string& name) {
  const std::string wanted = normal(name);
  // A whole name first: "ogbg-ppa" is not "ogbl-ppa".
  for (const OgbDataset& dataset : kDatasets) {
    if (wanted == normal(dataset.name) || wanted == normal(dataset.download_name)) return &dataset;
  }
  const std::string bare = without_task(wanted);
  for (const OgbDataset& dataset : kDatasets) {
    if (bare == without_task(normal(dataset.name))) return &dataset;
    if (bare == normal(dataset.download_name)) return &dataset;
  }
  return nullptr;
}

}  // namespace csrkit
