// Cases that stand side by side are measured in turn, so that what disturbs the machine for a while
// disturbs all of them.
#pragma once

#include <memory>
#include <vector>

#include "tools/bench/case.h"

namespace csrkit {

/// A kernel, what is asked of it, and its plan once it has one. The plan stays here, so that cold
/// caches after warm ones need no second plan.
struct BenchCase {
  const BenchKernel* kernel;
  Request request;
  std::unique_ptr<Run> run = nullptr;
};

/// Measures all cases of one matrix and makes their records, in the order of `cases` and whatever
/// happens to them: a kernel that fails is a result ("status" says so).
///
/// Every case is planned and checked first. Then each round takes one sample of every case, in an
/// order shuffled by the seed of the first; so sample i of one case and sample i of another were
/// taken within one round, and their ratio is one of equals. With warm caches an untimed product of
/// the same case comes before each sample, for the case before has left its own operands there.
/// Rounds end when every case has the samples its request asks for; the time limit of a case is
/// multiplied by their number. "turns" in a record names what was measured in the same rounds: the
/// same "id", and how many "cases" it has.
///
/// All plans are in memory together. A case that finds too little memory beside the others is
/// measured after them. Throws NoDeviceError.
std::vector<Json> record_cases(BenchMatrix& matrix, std::vector<BenchCase>& cases,
                               const BenchPlace& place);

}  // namespace csrkit
