/* Opens a matrix, multiplies it with a dense one of f32, and prints the first row of the product.
 *
 *   multiply MATRIX.csr [DENSE_COLS]
 *
 * MATRIX.csr has values of f32, as csr-import makes with --value-kind f32, or none. */
#include <csrkit.h>
#include <stdio.h>
#include <stdlib.h>

/* Every call that fails says why. */
static void require(csrkit_status status) {
  if (status == CSRKIT_OK) return;
  fprintf(stderr, "multiply: error: %s\n", csrkit_last_error());
  exit(status);
}

int main(int argc, char **argv) {
  csrkit_matrix *a = NULL;
  csrkit_plan *plan = NULL;
  csrkit_matrix_info info = {.size = sizeof info};
  csrkit_plan_options options = {.size = sizeof options};
  if (argc < 2) {
    fprintf(stderr, "usage: multiply MATRIX.csr [DENSE_COLS]\n");
    return CSRKIT_USAGE;
  }
  require(csrkit_open(argv[1], 0, &a));
  require(csrkit_info(a, &info));

  /* Once for many products. */
  options.dense_cols = argc > 2 ? atoi(argv[2]) : 4;
  options.b_kind = CSRKIT_F32;
  require(csrkit_plan_make(a, &options, &plan));

  const size_t cols = (size_t)options.dense_cols, b_size = (size_t)info.cols * cols;
  float *b_data = malloc((b_size + 1) * sizeof(float));
  float *c_data = malloc(((size_t)info.rows * cols + 1) * sizeof(float));
  if (b_data == NULL || c_data == NULL) return CSRKIT_MEMORY;
  for (size_t i = 0; i < b_size; ++i) b_data[i] = (float)(i % cols + 1);
  csrkit_dense b = {sizeof b, b_data, info.cols, options.dense_cols, 0, CSRKIT_F32, CSRKIT_HOST};
  csrkit_dense c = {sizeof c, c_data, info.rows, options.dense_cols, 0, CSRKIT_F32, CSRKIT_HOST};

  /* As often as wanted: multiply again for other contents of B, bind again for other arrays. */
  require(csrkit_bind(plan, &b, &c));
  require(csrkit_multiply(plan, 1, 0));
  require(csrkit_fetch(plan));

  printf("%lld x %lld, %lld nonzeros; row 0 of the product:", (long long)info.rows,
         (long long)info.cols, (long long)info.nnz);
  for (size_t j = 0; info.rows > 0 && j < cols; ++j) printf(" %g", (double)c_data[j]);
  printf("\n");
  free(b_data);
  free(c_data);
  csrkit_plan_free(plan);
  csrkit_matrix_free(a);
  return CSRKIT_OK;
}
