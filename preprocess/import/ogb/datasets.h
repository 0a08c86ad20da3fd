// The data sets of the Open Graph Benchmark, and what it says of them.
#pragma once

#include <string>

namespace csrkit {

struct OgbDataset {
  const char* name;           // "ogbn-arxiv"
  const char* download_name;  // of the archive and the folder in it: "arxiv"
  bool adds_inverse;          // every edge is stored once, and the loader adds it reversed
};

/// The data set of that name, in any spelling that folders have: "ogbn-arxiv", "ogbn_arxiv",
/// "arxiv", "ogbl-citation2", "citation-v2". Null if there is none.
const OgbDataset* find_ogb_dataset(const std::string& name);

}  // namespace csrkit
