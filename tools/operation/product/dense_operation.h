// What operations with dense operands share: their width is a part of a case, and reading rows of
// an operand is what takes the time.
#pragma once

#include <optional>
#include <vector>

#include "core/facts/spmm_forecast.h"
#include "tools/operation/product/typed_operation.h"

namespace csrkit {

template <class Op>
class DenseOperation : public TypedOperation<Op> {
 public:
  using TypedOperation<Op>::TypedOperation;

  std::vector<Request> bench_requests(const Options& options,
                                      const Request& shared) const override {
    std::vector<Request> requests;
    for (const Index dense_cols : widths(options)) {
      requests.push_back(shared);
      requests.back().dense_cols = dense_cols;
    }
    return requests;
  }
  void write_case(const Request& request, Json* identity) const override {
    (*identity)["dense_cols"] = request.dense_cols;
  }
  void read_case(const JsonField& identity, Request* request) const override {
    request->dense_cols = static_cast<Index>(identity["dense_cols"].integer(1, kMaxIndex));
  }

 protected:
  /// That csr-bench and csr-forecast are asked for.
  virtual std::vector<Index> widths(const Options& options) const {
    return read_dense_cols(options);
  }
};

/// Times of products with A on the machine of a forecast; none without a machine.
class RowReadTimes {
 public:
  explicit RowReadTimes(const ForecastQuery& query) : device_(query.device) {
    if (device_ != nullptr) reads_ = read_profile(query.operands.a, *device_);
  }

  /// Seconds of a product in which each entry of A reads a row of `dense_cols` elements.
  std::optional<double> seconds(Index dense_cols, ValueKind kind) const {
    if (!reads_) return std::nullopt;
    const double row_bytes = static_cast<double>(dense_cols) * size_of(kind);
    return forecast_spmm(*device_, *reads_, row_bytes).seconds;
  }

 private:
  const DeviceProfile* device_;
  std::optional<ReadProfile> reads_;
};

}  // namespace csrkit
