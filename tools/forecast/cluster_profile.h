// What several ranks can do together: the speed of one, what lies between them. docs/scaling.md
// lists the keys of the file.
#pragma once

#include <string>
#include <vector>

#include "core/facts/machine_profile.h"
#include "tools/cli/json.h"

namespace csrkit {

/// How fast rows of so many bytes are read from another GPU's memory.
struct RowRate {
  double row_bytes = 0, bytes_per_second = 0;
};

/// A way for rows of B: each rank, or node, sends and receives at this rate, both at once.
struct LinkProfile {
  double bytes_per_second = 0;
  double seconds_per_exchange = 0;  // of an exchange however small
  std::vector<RowRate> rows = {};   // of peers, ascending; empty: at the rate above, in whole lines
};

struct ClusterProfile {
  std::string name;
  Index nodes = 0;  // 0 = as many as are asked for
  Index ranks_per_node = 1;
  Index cores_per_rank = 1;
  double rank_memory_bytes = 0;
  LinkProfile link;      // of a rank, to ranks of its node; what it sends is packed
  LinkProfile peers;     // of a rank that reads its node's others' memory; rate 0 = it cannot
  LinkProfile network;   // of a node, to other nodes; shared by its ranks
  DeviceProfile device;  // of one rank
};

/// "h200x4", "cluster", or a JSON file. Throws UsageError for a name that is neither, InputError
/// for a file that is no such profile.
ClusterProfile read_cluster_profile(const std::string& name);

/// The keys of the file; csr-probe --cluster makes one.
Json to_json(const ClusterProfile& profile);

/// The whole file or nothing; `facts` (where and how it was measured) is kept beside the numbers.
void write_cluster_profile(const std::string& path, const ClusterProfile& profile,
                           const Json& facts);

}  // namespace csrkit
