#include "gpu/face.h"

#include <gtest/gtest.h>

#include <string>

#include "core/base/build_id.h"

namespace csrkit::gpu {

TEST(Face, IsOfTheSameBuildAsTheLibraryItUses) {
  EXPECT_EQ(csrkit_gpu_face()->build_id, std::string(build_id()));
}

TEST(Face, SaysOfWhichSourcesItsSavedAnalysesAre) {
  EXPECT_EQ(std::string(csrkit_gpu_face()->analysis_id).size(), 32u);
}

TEST(Face, OffersTheTablesWithoutAGpu) {
  const Face& face = *csrkit_gpu_face();
  EXPECT_FALSE(face.spmm_kernels().empty());
  EXPECT_FALSE(face.spmm_marks().empty());
  EXPECT_FALSE(face.spmv_kernels().empty());
  EXPECT_FALSE(face.spgemm_kernels().empty());
  EXPECT_FALSE(face.sddmm_kernels().empty());
  EXPECT_FALSE(face.solve_kernels().empty());
}

TEST(Face, HasAFunctionOnEveryLine) {
  const Face& face = *csrkit_gpu_face();
  EXPECT_NE(face.forecast_spmm_bytes, nullptr);
  EXPECT_NE(face.forecast_spmv_bytes, nullptr);
  EXPECT_NE(face.forecast_out_of_core_spmm, nullptr);
  EXPECT_NE(face.forecast_spgemm, nullptr);
  EXPECT_NE(face.device_info, nullptr);
  EXPECT_NE(face.copy_seconds, nullptr);
  EXPECT_NE(face.clock_reader, nullptr);
  EXPECT_NE(face.fill_sums, nullptr);
  EXPECT_NE(face.ranks.make, nullptr);
  EXPECT_NE(face.ranks.join, nullptr);
  EXPECT_NE(face.ranks.why_no_nccl, nullptr);
  EXPECT_NE(face.ranks.make_links, nullptr);
}

}  // namespace csrkit::gpu
