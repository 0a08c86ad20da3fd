#include "tools/operation/operations/spmm_words.h"

#include "api/rooms.h"
#include "core/contract/spmm.h"

namespace csrkit {

OperationFacts spmm_facts() {
  return {
      "spmm",
      kEverything,
      /*is_tunable=*/true,
      {".npy"},
      {{"k,dense-cols", "K", "columns of B and C; with --input, those of the file", "32"},
       {"input", "B.npy", "read B; otherwise it is random by --seed"},
       {"output", "C.npy", "write C, if --check is given only after it passed"},
       {"seed", "N", "of random operands", "1"},
       {"alpha", "X", "C = alpha * op(A) * B + beta * C", "1"},
       {"beta", "X", "see --alpha; C is random if this is not 0", "0"},
       {"transpose", "", "op(A) is the transpose of A"},
       {"dense-kind", "KIND",
        "kind of B: A's; if A has none, that of --input, or f32; f16, bf16 with f32: see --list"},
       {"output-kind", "KIND", "kind of C (default: that of the accumulation)"},
       {"memory-limit", "SIZE", "most memory for the plan, e.g. 512M or 8G"}},
      {{"k,dense-cols", "LIST", "columns of the dense operands", "32,128"}},
      {{"k,dense-cols", "LIST", "columns of the dense operands", "32,256"},
       {"machine", "FILE.json", "forecast times for this machine profile (see csr-probe)"},
       {"memory-limit", "SIZE", "as it will be given to the product"},
       {"out-of-core", "HOW", "as it will be given to csr-spmm-gpu", "auto"},
       {"panel-cols", "N", "as it will be given to csr-spmm-gpu"},
       {"panel-major", "", "as it will be given to csr-spmm-gpu"}}};
}

OperationFacts spmv_facts() {
  return {
      "spmv",
      kEverySpmv,
      /*is_tunable=*/true,
      {".npy"},
      {{"input", "X.npy", "read x, n x 1; otherwise it is random by --seed"},
       {"output", "Y.npy", "write y, if --check is given only after it passed"},
       {"seed", "N", "of random operands", "1"},
       {"alpha", "X", "y = alpha * op(A) * x + beta * y", "1"},
       {"beta", "X", "see --alpha; y is random if this is not 0", "0"},
       {"transpose", "", "op(A) is the transpose of A"},
       {"dense-kind", "KIND",
        "kind of x: A's (if A has no values, that of --input, or f32), or f64 with an f32 matrix"},
       {"output-kind", "KIND", "kind of y (default: that of the accumulation)"},
       {"memory-limit", "SIZE", "most memory for the plan, e.g. 512M or 8G"}},
      {},
      {}};
}

ToolPage spmm_page(const std::string& room) {
  const bool is_gpu = room == kGpu;
  ToolPage page{"MATRIX.csr",
                1,
                "Multiplies a sparse matrix with a dense one on a " +
                    std::string(is_gpu ? "GPU" : "CPU") +
                    ", checks the result and reports the throughput.",
                {{"graph.csr -k 64 --check", "check and measure the default kernel, 64 columns"},
                 {"graph.csr -k 32 --seed 7 --output product.npy --check=full",
                  "keep the product, after every row of it was checked"},
                 {std::string("graph.csr --kernel ") +
                      (is_gpu ? "v1_warp_per_row" : "row_parallel") + " --repeat 3 --json",
                  "one kernel, as JSON"}}};
  if (is_gpu) {
    page.examples.emplace_back("graph.csr -k 64 --tune tuned.json --save-plan graph.plan",
                               "find the fastest kernel for this matrix once, and keep the plan");
    page.examples.emplace_back("graph.csr -k 64 --load-plan graph.plan", "multiply by that plan");
  } else {
    page.examples.emplace_back("graph.csr -k 64 --tune tuned.json",
                               "find the fastest kernel and variant for this matrix once");
  }
  return page;
}

ToolPage spmv_page(const std::string& room) {
  return {"MATRIX.csr",
          1,
          "Multiplies a sparse matrix with a vector on a " +
              std::string(room == kGpu ? "GPU" : "CPU") +
              ", checks the result and reports the throughput.",
          {{"stencil.csr --check", "check and measure the default kernel"},
           {"stencil.csr --input x.npy --output y.npy --check=full",
            "keep the product, after every element of it was checked"},
           {"stencil.csr --value-kind f32 --dense-kind f64", "half the bytes of A, sums in f64"},
           {"stencil.csr --tune tuned.json", "find the fastest format for this matrix once"}}};
}

}  // namespace csrkit
