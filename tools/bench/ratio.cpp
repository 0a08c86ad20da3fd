#include "tools/bench/ratio.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace csrkit {

Samples samples_of(const Json& record) {
  return {record.at("samples_seconds").get<std::vector<double>>()};
}

namespace {

bool are_of_the_same_rounds(const Json& a, const Json& b) {
  return a.contains("turns") && b.contains("turns") && a["turns"]["id"] == b["turns"]["id"];
}

}  // namespace

Ratio ratio_of_pairs(const Samples& above, const Samples& below) {
  Samples ratios;
  for (std::size_t i = 0; i < above.seconds.size(); ++i) {
    if (!(above.seconds[i] > 0) || !(below.seconds[i] > 0)) return {};
    ratios.seconds.push_back(above.seconds[i] / below.seconds[i]);
  }
  return {ratios.median_seconds(), ratios.median_interval()};
}

Ratio ratio_of_medians(const Samples& above, const Samples& below) {
  const double top = above.median_seconds(), bottom = below.median_seconds();
  if (!(top > 0) || !(bottom > 0)) return {};
  const Interval of_top = above.median_interval(), of_bottom = below.median_interval();
  const double down = std::hypot(std::log(of_bottom.high / bottom), std::log(top / of_top.low));
  const double up = std::hypot(std::log(bottom / of_bottom.low), std::log(of_top.high / top));
  const double ratio = top / bottom;
  return {ratio, {ratio * std::exp(-down), ratio * std::exp(up)}};
}

Ratio speed_against(const Json& base, const Json& own) {
  const Samples above = samples_of(base), below = samples_of(own);
  const bool are_pairs =
      are_of_the_same_rounds(base, own) && above.seconds.size() == below.seconds.size();
  return are_pairs ? ratio_of_pairs(above, below) : ratio_of_medians(above, below);
}

}  // namespace csrkit
