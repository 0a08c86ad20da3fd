#include "preprocess/generate/drawn_rows/column_model.h"

#include <algorithm>
#include <cmath>

#include "core/base/hash.h"

namespace csrkit {

std::vector<Parameter> column_model_parameters() {
  using namespace parameter;
  return {
      integer("community", "32", 0, kMaxIndex, "mean size of a planted community; 0 = none"),
      number("cliques", "0", 0, 1000,
             "above 0, instead of community: rows of like length form a community this many times "
             "as large"),
      number("inside", "0.5", 0, 1, "share of a row's entries inside its community"),
      integer("coarse", "64", 0, kMaxIndex,
              "number of coarse communities around the small ones; 0 = none"),
      number("inside_coarse", "0.25", 0, 1, "share of a row's entries inside its coarse community"),
      number("near", "0", 0, 1,
             "share of a row's entries close to the diagonal, closer ones more often"),
      integer("reach", "64", 1, kMaxIndex, "how far from the diagonal 'near' goes"),
      choice("popularity", "row-length", {"uniform", "row-length", "power-law"},
             "which columns are drawn more often"),
      number("popularity_exponent", "3", 1.01, 100, "exponent of popularity=power-law"),
      choice("order", "shuffled", {"shuffled", "coarse", "planted"},
             "order of the ids; coarse = shuffled inside coarse communities"),
      choice("diagonal", "never", {"never", "allowed", "always"}, "entries on the diagonal"),
  };
}

ColumnModel column_model_of(const Parameters& parameters) {
  ColumnModel model;
  model.community = parameters.index("community");
  model.cliques = parameters.number("cliques");
  model.inside = parameters.number("inside");
  model.coarse = parameters.index("coarse");
  model.inside_coarse = parameters.number("inside_coarse");
  model.near = parameters.number("near");
  model.reach = parameters.index("reach");
  model.popularity = static_cast<ColumnModel::Popularity>(parameters.choice("popularity"));
  model.popularity_exponent = parameters.number("popularity_exponent");
  model.order = static_cast<ColumnModel::Order>(parameters.choice("order"));
  model.diagonal = static_cast<ColumnModel::Diagonal>(parameters.choice("diagonal"));
  if (model.community == 0 && model.cliques == 0) model.inside = 0;
  if (model.coarse == 0) model.inside_coarse = 0;
  if (model.inside + model.inside_coarse + model.near > 1 + 1e-9) {
    parameters.refuse_all(
        "inside, inside_coarse and near are shares of the same entries and add up to more than 1");
  }
  return model;
}

void place_lengths(ColumnModel* model, Buffer<Index>* lengths, std::uint64_t seed) {
  const Offset rows = lengths->size();
  RandomStream random(seed);
  if (model->cliques == 0) {
    for (Offset i = rows - 1; i > 0; --i) {
      std::swap((*lengths)[i],
                (*lengths)[static_cast<Offset>(random.below(static_cast<std::uint64_t>(i) + 1))]);
    }
    return;
  }
  std::vector<std::pair<Offset, Offset>> groups;  // begin and end among the ascending lengths
  for (Offset begin = 0; begin < rows;) {
    const auto size = std::max<Offset>(2, std::llround(model->cliques * (*lengths)[begin]) + 1);
    groups.emplace_back(begin, std::min(rows, begin + size));
    begin = groups.back().second;
  }
  const Buffer<Index> order = random_order(static_cast<Index>(groups.size()), seed);
  Buffer<Index> placed(rows);
  Offset next = 0;
  for (const Index group : order) {
    const auto [begin, end] = groups[static_cast<std::size_t>(group)];
    model->groups.push_back(static_cast<Index>(next));
    std::copy(lengths->begin() + begin, lengths->begin() + end, placed.begin() + next);
    next += end - begin;
  }
  *lengths = std::move(placed);
}

}  // namespace csrkit
