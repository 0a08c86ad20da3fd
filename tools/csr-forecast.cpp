// csr-forecast: what a product will take before it is run, and what to ask Slurm for.
#include "core/csr_file.h"
#include "tools/support/forecast.h"
#include "tools/support/run_tool.h"
#ifdef CSRKIT_HAVE_CUDA
#include "gpu/spgemm/forecast.h"
#include "gpu/spgemm/registry.h"
#include "gpu/spmm/forecast.h"
#include "gpu/spmm/registry.h"
#endif

using namespace csrkit;

namespace {

GpuForecasts gpu_forecasts() {
#ifdef CSRKIT_HAVE_CUDA
  return {&gpu::spmm_kernels(), &gpu::spgemm_kernels(), gpu::forecast_spmm_bytes,
          gpu::forecast_spgemm};
#else
  return {};
#endif
}

}  // namespace

int main(int argc, char** argv) {
  return run_tool("csr-forecast", [&] {
    const GpuForecasts gpu = gpu_forecasts();
    ForecastToolOptions options = parse_forecast_options(argc, argv, gpu);
    options.process_bytes = resident_bytes(options.is_gpu);  // before there is any matrix
    const CsrMatrix stored = read_csr_file(options.a, options.read).matrix;
    report_forecasts(options, stored, make_forecasts(options, gpu, stored));
    return kExitDone;
  });
}
