// Names of outputs end as what is written, in tools and in the library.
#pragma once

#include <string>
#include <vector>

namespace csrkit {

/// Refuses (UsageError) a name that ends as files of another format do: what is written does not
/// follow the name, and programs that go by the name would fail on it. `right`: ".csr", ".npy".
void require_ending(const std::string& output, const std::vector<std::string>& right);

}  // namespace csrkit
