#include "core/base/ending.h"

#include "core/base/error.h"
#include "core/base/parameters.h"
#include "core/base/text.h"

namespace csrkit {

void require_ending(const std::string& output, const std::vector<std::string>& right) {
  const std::string name = lower_case(output);  // as Windows takes them: X.MTX is x.mtx
  for (const std::string& ending : right) {
    if (ends_with(name, ending)) return;
  }
  for (const char* wrong :
       {".csr", ".npy", ".npz", ".mtx", ".mtx.gz", ".petsc", ".graph", ".txt", ".csv", ".tsv",
        ".json", ".jsonl", ".png", ".jpg", ".jpeg", ".svg", ".pdf", ".html"}) {
    if (!ends_with(name, wrong)) continue;
    throw UsageError("the output '" + output + "' would not be what its name says, but a " +
                     alternatives(right) + " file; name it so" +
                     (right.front() == ".csr" ? ", and let csr-export make other formats" : ""));
  }
}

}  // namespace csrkit
