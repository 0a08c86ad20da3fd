// like: the stand-in of a published dataset, made by another pattern with the parameters of
// like.inc.
#include <algorithm>
#include <cmath>
#include <sstream>
#include <vector>

#include "core/base/suggestion.h"
#include "core/base/text.h"
#include "preprocess/generate/drawn_rows/column_model.h"
#include "preprocess/generate/generate.h"

namespace csrkit {

namespace {

/// Names in use for the same thing lead to the same row: ogbn-arxiv, arxiv_like, com-Amazon.
std::string canonical_name(std::string name) {
  name = lower_case(name);
  std::replace(name.begin(), name.end(), '-', '_');
  const auto drop_prefix = [&](const std::string& prefix) {
    if (name.compare(0, prefix.size(), prefix) == 0) name.erase(0, prefix.size());
  };
  drop_prefix("ogbn_");
  drop_prefix("ogbl_");
  const std::string suffix = "_like";
  if (ends_with(name, suffix)) name.erase(name.size() - suffix.size());
  if (name == "citation") return "citation2";
  if (name == "amazon_cogdl" || name == "amazonproducts") return "amazon_products";
  return name;
}

const LikeDataset& find_dataset(const std::string& given) {
  const std::string name = canonical_name(given);
  if (name == "amazon") {
    throw UsageError("'" + given +
                     "' could be three datasets: say com_amazon (334,863 rows), "
                     "amazon0601 (403,394) or amazon_products (1,569,960)");
  }
  std::string names;
  for (const LikeDataset& dataset : like_datasets()) {
    if (name == lower_case(dataset.name)) return dataset;
    append_item(names, dataset.name);
  }
  throw UsageError("no dataset named '" + given + "' to imitate; there are: " + names +
                   did_you_mean(name, lower_case(names)));
}

/// A box of `scale` times the volume. A smaller one loses its longest sides first, because slender
/// boxes scaled evenly would be all surface, and their rows short.
std::vector<double> rescaled_box(std::vector<double> sizes, double scale) {
  double volume = scale;
  for (const double size : sizes) volume *= size;
  if (scale > 1) {
    for (double& size : sizes) size *= std::cbrt(scale);
    return sizes;
  }
  double low = 0, high = *std::max_element(sizes.begin(), sizes.end());
  for (int step = 0; step < 60; ++step) {  // the length at which to cut, by bisection
    const double cut = (low + high) / 2;
    double left = 1;
    for (const double size : sizes) left *= std::min(size, cut);
    (left < volume ? low : high) = cut;
  }
  for (double& size : sizes) size = std::min(size, high);
  return sizes;
}

/// Makes every size of a pattern smaller or larger, so that rows grow by about `scale` and the mean
/// row length and the shape stay.
class Rescaling {
 public:
  Rescaling(const LikeDataset& dataset, double scale, ParameterValues* parameters)
      : dataset_(dataset), scale_(scale), parameters_(*parameters) {}

  void run() {
    const std::pair<const char*, void (Rescaling::*)()> patterns[] = {
        {"row-lengths", &Rescaling::row_lengths},
        {"communities", &Rescaling::communities},
        {"rmat", &Rescaling::rmat},
        {"banded", &Rescaling::banded},
        {"arrow", &Rescaling::arrow},
        {"epidemic", &Rescaling::epidemic},
        {"proximity", &Rescaling::proximity},
        {"poisson", &Rescaling::poisson},
        {"fem-blocks", &Rescaling::fem_blocks}};
    for (const auto& [pattern, rescale] : patterns) {
      if (pattern == std::string(dataset_.pattern)) return (this->*rescale)();
    }
    throw UsageError("the stand-in of " + std::string(dataset_.name) +
                     " has one size: leave scale at 1");
  }

 private:
  std::string& text(const char* name) { return parameters_[name]; }
  double number(const char* name) const { return std::stod(parameters_.at(name)); }
  Offset integer(const char* name) { return std::stoll(text(name)); }

  /// Leaves out what the dataset does not set.
  void multiply(const char* name, double factor, double least) {
    if (parameters_.count(name) == 0) return;
    text(name) = std::to_string(std::llround(std::max(least, std::round(number(name) * factor))));
  }

  void row_lengths() {
    std::ostringstream digits;
    digits.precision(17);
    digits << scale_;
    text("scale") = digits.str();
  }

  void communities() {
    multiply("n", scale_, 1);
    multiply("cols", scale_, 1);
    // No more than half full, every row at least one entry, an even number if edges come in pairs.
    const Offset n = integer("n");
    const Offset cols = parameters_.count("cols") > 0 ? integer("cols") : n;
    const bool has_diagonal = text("diagonal") == "always";
    const Offset room = has_diagonal || cols != n ? cols : cols - 1;
    Offset nnz = std::llround(static_cast<double>(dataset_.nnz) * scale_);
    nnz = std::max(std::min(nnz, n * room / 2), has_diagonal ? n : 0);
    if (text("undirected") == "yes") nnz -= (nnz - (has_diagonal ? n : 0)) & 1;
    text("nnz") = std::to_string(nnz);
    text("longest") = std::to_string(std::min<Offset>(integer("longest"), room));
    if (nnz < n) text("shortest") = "0";
    for (const char* name : {"diagonal", "undirected"}) {
      if (text(name).empty()) parameters_.erase(name);
    }
  }

  /// Sizes are powers of two; the edges follow the nearest one.
  void rmat() {
    const Offset old_scale = integer("scale");
    const auto step = std::max<Offset>(-old_scale, std::llround(std::log2(scale_)));
    text("scale") = std::to_string(old_scale + step);
    multiply("edges", std::exp2(static_cast<double>(step)), 0);
  }

  void banded() {
    multiply("n", scale_, 1);
    std::istringstream old_offsets(text("offsets"));
    std::string offset, offsets;
    Offset previous = 0;
    while (std::getline(old_offsets, offset, ',')) {
      previous = std::max<Offset>(previous + 1, std::llround(std::stod(offset) * scale_));
      append_item(offsets, std::to_string(previous), ",");
    }
    text("offsets") = offsets;
  }

  void arrow() {
    multiply("n", scale_, 1);
    multiply("hub", scale_, 0);
  }

  void epidemic() { multiply("size", std::sqrt(scale_), 0); }

  void proximity() {
    multiply("points", scale_, 1);
    const std::vector<double> sizes =
        rescaled_box({number("width"), number("depth"), number("height")}, scale_);
    text("width") = std::to_string(sizes[0]);
    text("depth") = std::to_string(sizes[1]);
    text("height") = std::to_string(sizes[2]);
  }

  /// Squares and cubes.
  void poisson() {
    const bool is_flat = text("stencil") == "5" || text("stencil") == "9";
    multiply("nx", is_flat ? std::sqrt(scale_) : std::cbrt(scale_), 1);
  }

  void fem_blocks() {
    const std::vector<double> sizes =
        rescaled_box({number("nx"), number("ny"), number("nz")}, scale_);
    const char* names[] = {"nx", "ny", "nz"};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      text(names[axis]) = std::to_string(std::max(1ll, std::llround(sizes[axis])));
    }
  }

  const LikeDataset& dataset_;
  const double scale_;
  ParameterValues& parameters_;
};

}  // namespace

const std::vector<LikeDataset>& like_datasets() {
  static const std::vector<LikeDataset> datasets = {
#define CSRKIT_LIKE(name, rows, cols, nnz, symmetric, lengths, pattern, parameters, summary) \
  {#name, rows, cols, nnz, lengths, summary, pattern, parameters, symmetric},
#include "preprocess/generate/patterns/like.inc"
#undef CSRKIT_LIKE
  };
  return datasets;
}

std::vector<Parameter> like_parameters() {
  using namespace parameter;
  std::vector<Parameter> parameters = {
      text("name", "", "the dataset: arxiv, reddit, cant, ..."),
      number("scale", "1", 1e-6, 1000, "share of the rows; mean row length and shape stay"),
  };
  // Graphs are made by the column model: these take the place of what like.inc says.
  for (const char* name :
       {"order", "community", "inside", "inside_coarse", "near", "reach", "popularity"}) {
    Parameter own = *find_parameter(column_model_parameters(), name);
    own.default_value = own.name == "order" ? "natural" : "auto";
    own.summary += own.name == "order" ? "; natural = as far as known" : ", for graphs";
    parameters.push_back(own);
  }
  return parameters;
}

CsrMatrix generate_like(const PatternRequest& request) {
  const LikeDataset& dataset = find_dataset(request.parameters.text("name"));
  GenerateOptions options;
  options.pattern = dataset.pattern;
  options.seed = request.seed;
  options.seed_is_given = request.seed_is_given;
  options.value_kind = request.value_kind;
  options.progress = request.progress;

  std::istringstream words(dataset.parameters);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    options.parameters[word.substr(0, equals)] = word.substr(equals + 1);
  }
  const double scale = request.parameters.number("scale");
  if (scale != 1) Rescaling(dataset, scale, &options.parameters).run();
  for (const Parameter& parameter : like_parameters()) {
    const std::string& name = parameter.name;
    if (name == "name" || name == "scale" || !request.parameters.is_set(name)) continue;
    options.parameters[name] = request.parameters.text(name);
  }
  return generate_matrix(options);
}

}  // namespace csrkit
