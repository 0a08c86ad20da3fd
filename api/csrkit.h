/* csrkit in C: open or import a sparse matrix, plan a product once, multiply many times.
 *
 *   csrkit_matrix *a = NULL;
 *   csrkit_plan *plan = NULL;
 *   csrkit_plan_options options = {.size = sizeof options};
 *   options.dense_cols = 64;
 *   if (csrkit_open("graph.csr", 0, &a) != CSRKIT_OK ||
 *       csrkit_plan_make(a, &options, &plan) != CSRKIT_OK ||
 *       csrkit_bind(plan, &b, &c) != CSRKIT_OK ||       (csrkit_dense: arrays of the caller)
 *       csrkit_multiply(plan, 1, 0) != CSRKIT_OK ||     (as often as wanted)
 *       csrkit_fetch(plan) != CSRKIT_OK) {
 *     fprintf(stderr, "%s\n", csrkit_last_error());
 *   }
 *
 * Every function that can fail returns a csrkit_status, 0 for success. After a failure
 * csrkit_last_error() holds a sentence for people. What is returned through a pointer is only
 * written on success.
 *
 * Structures begin with their own size, which the caller sets; every other member may be 0 or NULL
 * and then means the default. So programs keep working with later libraries, which only add
 * members at the end. Nothing else here changes within a major version of the library.
 *
 * Several threads may use a matrix at once; a plan serves one thread at a time. Nothing here
 * prints or throws.
 */
#ifndef CSRKIT_H
#define CSRKIT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a function returns. The numbers are the exit codes of the tools. */
typedef enum csrkit_status {
  CSRKIT_OK = 0,
  CSRKIT_CHECK_FAILED = 1, /**< a result is wrong, or a system has no solution */
  CSRKIT_USAGE = 2,        /**< the call asks for something that does not exist or does not fit */
  CSRKIT_BAD_INPUT = 3,    /**< a file or an array holds something wrong */
  CSRKIT_IO = 4,           /**< the system refused to read or write */
  CSRKIT_MEMORY = 5,       /**< not enough memory, forecast or real */
  CSRKIT_NO_GPU = 6,       /**< no GPU that can be used, or no GPU library */
  CSRKIT_DEVICE = 7,       /**< a call to the GPU failed */
  CSRKIT_INTERNAL = 70     /**< a bug of csrkit, or a helper program that died */
} csrkit_status;

/** Kinds of numbers. Matrices of kind CSRKIT_NONE store no values: every entry is 1. */
typedef enum csrkit_kind {
  CSRKIT_NONE = 0, /**< in options: the default */
  CSRKIT_F32 = 1,
  CSRKIT_F64 = 2,
  CSRKIT_F16 = 3, /**< IEEE half precision */
  CSRKIT_BF16 = 4 /**< the upper half of an f32 */
} csrkit_kind;

/** Where dense operands are. */
typedef enum csrkit_space { CSRKIT_HOST = 0, CSRKIT_DEVICE_MEMORY = 1 } csrkit_space;

/** A sparse matrix that does not change, with its orders and its partition. */
typedef struct csrkit_matrix csrkit_matrix;

/** A prepared product: everything derived from one matrix. */
typedef struct csrkit_plan csrkit_plan;

/** A parameter of a format or an ordering, both parts as text: "parts", "8". */
typedef struct csrkit_parameter {
  const char* name;
  const char* value;
} csrkit_parameter;

/** The version of the library, "0.2.0". */
const char* csrkit_version(void);

/** Why the last call on this thread failed, "" if it did not. Valid until this thread's next call.
 */
const char* csrkit_last_error(void);

/* ------------------------------------------------------------------------------- matrices */

/** For csrkit_open: map the file and look at its header only. For a file that was checked before;
 * multiplying a damaged one reads and writes anywhere. */
#define CSRKIT_UNCHECKED 1u

/** Opens a .csr file and checks all of it, as the tools do: checksums, offsets, columns. Large
 * files are mapped, not copied; they must keep their length while the matrix lives. `flags`: 0 or
 * CSRKIT_UNCHECKED. */
csrkit_status csrkit_open(const char* path, uint32_t flags, csrkit_matrix** matrix);

/** Arrays of a matrix in host memory. */
typedef struct csrkit_arrays {
  size_t size;
  int64_t rows, cols;         /**< 0 to 2^31 - 1 */
  const int64_t* row_offsets; /**< rows + 1 numbers, from 0, never decreasing; the last is nnz */
  const int32_t* col_indices; /**< nnz numbers in [0, cols), ascending and unique in every row */
  const void* values;         /**< nnz numbers of `kind`; NULL for CSRKIT_NONE */
  int32_t kind;               /**< csrkit_kind */
  /** Called with `owner` when nothing needs the arrays any more, by the thread that frees the last
   * handle. NULL: the caller keeps them, longer than the matrix and every plan made from it. */
  void (*release)(void* owner);
  void* owner;
} csrkit_arrays;

/** A matrix that borrows the caller's arrays. They are checked, and must not change. If this
 * fails, `release` is not called. */
csrkit_status csrkit_wrap(const csrkit_arrays* arrays, csrkit_matrix** matrix);

/** How to import; all members may be 0. */
typedef struct csrkit_import_options {
  size_t size;
  const char* format;     /**< a name from `csr-import --list`; NULL detects it from the content */
  const char* value_kind; /**< "none", "f32", ...; NULL keeps the file's numbers without loss */
  const char* duplicates; /**< "sum" (NULL), "first" or "error" */
  const csrkit_parameter* parameters; /**< of the format */
  size_t parameter_count;
} csrkit_import_options;

/** Imports a file of another program: Matrix Market, edge lists, NumPy archives and more. `options`
 * may be NULL. */
csrkit_status csrkit_import(const char* path, const csrkit_import_options* options,
                            csrkit_matrix** matrix);

/** How to reorder; all members may be 0. */
typedef struct csrkit_reorder_options {
  size_t size;
  const char* sides; /**< "rows", "cols", "both"; NULL: both of a square matrix, else rows */
  uint64_t seed;     /**< of random choices; 0 means 1 */
  uint64_t memory_limit_bytes;        /**< 0: what is there */
  const csrkit_parameter* parameters; /**< of the method */
  size_t parameter_count;
} csrkit_reorder_options;

/** The matrix in a new order: by a method of `csr-reorder --list`, or, with `method` "undo", in
 * the order that it had at import. The new matrix carries the orders that lead there. `options`
 * may be NULL. */
csrkit_status csrkit_reorder(const csrkit_matrix* matrix, const char* method,
                             const csrkit_reorder_options* options, csrkit_matrix** reordered);

/** Writes a .csr file, whole or not at all. A file of that name is replaced; a name that ends as
 * files of another format do is refused (CSRKIT_USAGE). */
csrkit_status csrkit_save(const csrkit_matrix* matrix, const char* path);

/** What is in a matrix. The pointers are valid as long as the matrix is. */
typedef struct csrkit_matrix_info {
  size_t size;
  int64_t rows, cols, nnz;
  const int64_t* row_offsets;                       /**< rows + 1 */
  const int32_t* col_indices;                       /**< nnz */
  const void* values;                               /**< nnz of `kind`; NULL for CSRKIT_NONE */
  int32_t kind;                                     /**< csrkit_kind */
  int32_t is_pattern_symmetric, is_value_symmetric; /**< 1: known to be; 0: unknown, or not */
  int32_t parts;                                    /**< of the partition; 0 without */
  const int32_t* row_order;   /**< rows: stored row of the row i at import; NULL if never moved */
  const int32_t* col_order;   /**< cols: the same for columns */
  const int32_t* part_of_row; /**< rows numbers in [0, parts); NULL without partition */
  const char* provenance;     /**< JSON text that came with the file, or "" */
  const char* warnings;       /**< of the import, such as values made 0, a line each; or "" */
} csrkit_matrix_info;

/** Fills as much of `info` as `info->size` says. */
csrkit_status csrkit_info(const csrkit_matrix* matrix, csrkit_matrix_info* info);

/** Forgets a matrix; NULL is allowed. Plans made from it go on working. */
void csrkit_matrix_free(csrkit_matrix* matrix);

/* --------------------------------------------------------- products with dense operands */

/** C = alpha * op(A) * B + beta * C, B and C dense: what is to be planned. */
typedef struct csrkit_plan_options {
  size_t size;
  const char* room;     /**< "cpu" (NULL) or "gpu" */
  const char* kernel;   /**< a name from `csr-spmm-cpu --list` and the like; NULL chooses (auto) */
  int64_t dense_cols;   /**< columns of B and C; 0 means 1. One column uses the kernels of SpMV */
  int32_t transpose;    /**< 1: op(A) is the transpose of A */
  int32_t b_kind;       /**< csrkit_kind of B; CSRKIT_NONE: that of A, f32 if A has no values */
  int32_t c_kind;       /**< of C; CSRKIT_NONE: f64 if B is, else f32 */
  int32_t may_vary;     /**< 1: results may differ in their last bits from run to run */
  const char* semiring; /**< "plus-times" (NULL), "min-plus", "max-times", "or-and" */
  /** variant of a kernel, NULL for the default. "off-vectors" tells auto on a GPU that rows of B or
   * C will begin at no multiples of 16 bytes, though dense_cols let them: it shows only at bind */
  const char* variant;
  uint64_t memory_limit_bytes; /**< of the plan; 0: what is there */
  int32_t threads;             /**< CPU, <= 4096; 0: what OpenMP was told (OMP_NUM_THREADS) */
  int32_t device;              /**< GPU: ordinal among the visible ones */
  void* stream;                /**< GPU: cudaStream_t to work in; NULL: one of the plan's own */
} csrkit_plan_options;

/** Analyses the matrix: once for many products. */
csrkit_status csrkit_plan_make(const csrkit_matrix* matrix, const csrkit_plan_options* options,
                               csrkit_plan** plan);

/** Keeps the kernel and what it derived from the matrix in a file; one of that name is replaced. */
csrkit_status csrkit_plan_save(csrkit_plan* plan, const char* path);

/** As csrkit_plan_make, with what csrkit_plan_save kept for an equal matrix, equal options, the
 * same build and the same model of GPU; anything else is refused by name (CSRKIT_USAGE). The file
 * names the kernel: options->kernel must be NULL. */
csrkit_status csrkit_plan_load(const char* path, const csrkit_matrix* matrix,
                               const csrkit_plan_options* options, csrkit_plan** plan);

/** What a plan does. Texts are valid as long as the plan is. */
typedef struct csrkit_plan_info {
  size_t size;
  const char* kernel;                          /**< that multiplies */
  const char* choice;                          /**< what was decided and why, for people; or "" */
  int64_t output_rows, input_rows, dense_cols; /**< C: output_rows x dense_cols; B: input_rows */
  int32_t b_kind, c_kind;
  double analysis_seconds;
  uint64_t peak_bytes; /**< most memory held so far, operands of the caller excluded */
} csrkit_plan_info;

/** Fills as much of `info` as `info->size` says. */
csrkit_status csrkit_plan_describe(csrkit_plan* plan, csrkit_plan_info* info);

/** A dense operand: element (i, j) is data[i * leading_dim + j]. */
typedef struct csrkit_dense {
  size_t size;
  void* data; /**< B is only read */
  int64_t rows, cols;
  int64_t leading_dim; /**< elements from row to row; 0 means cols */
  int32_t kind;        /**< csrkit_kind */
  int32_t space;       /**< csrkit_space; device memory only for plans on that device */
} csrkit_dense;

/** Borrows B and C until the next bind; they may not share elements. A plan on a GPU uploads a B in
 * host memory here and now. */
csrkit_status csrkit_bind(csrkit_plan* plan, const csrkit_dense* b, const csrkit_dense* c);

/** C = alpha * op(A) * B + beta * C. C is only read if beta is not 0. Finite factors beyond the
 * range of f32 where sums are of f32 are refused (CSRKIT_USAGE). On a GPU it may return before the
 * work is done; with operands in device memory it only queues work in the stream, so that a CUDA
 * graph can capture it. */
csrkit_status csrkit_multiply(csrkit_plan* plan, double alpha, double beta);

/** Queues further work of a plan on a GPU in another stream (a cudaStream_t, not NULL), after what
 * the plan has queued so far. Where a stream is being captured for a graph, nothing orders the two:
 * wait before a capture begins. Operands in host memory bring the plan back to its first stream,
 * which must outlive it. A plan on the CPU refuses (CSRKIT_USAGE). */
csrkit_status csrkit_plan_use_stream(csrkit_plan* plan, void* stream);

/** The next products are made with these values: nnz numbers of the matrix's kind in the order of
 * its entries, borrowed until the next call or the end of the plan. For plans that do not
 * transpose. On the CPU they are in host memory, and the kernel is one that reads A where it lies:
 * "nnz_balanced", or "csr_balanced" for one column. On a GPU they are in device memory, there are
 * two columns or more, and what the kernel derived from values is derived anew there, best by
 * "row_bins"; the call waits for that and cannot be captured in a CUDA graph. Others refuse
 * (CSRKIT_USAGE). */
csrkit_status csrkit_plan_set_values(csrkit_plan* plan, const void* values);

/** Waits until C is complete and where the caller wants it. */
csrkit_status csrkit_fetch(csrkit_plan* plan);

/** Frees a plan; NULL is allowed. */
void csrkit_plan_free(csrkit_plan* plan);

/* ------------------------------------------- dense products where a matrix has entries (SDDMM) */

/** A prepared SDDMM. */
typedef struct csrkit_sddmm csrkit_sddmm;

/** C = alpha * S * (row i of X . row j of Y) + beta * C for every entry (i, j) of a matrix, with
 * S = 1 or the matrix's value: what is to be planned. */
typedef struct csrkit_sddmm_options {
  size_t size;
  const char* room;     /**< "cpu" (NULL) or "gpu" */
  const char* kernel;   /**< a name from `csr-sddmm-cpu --list` and the like; NULL chooses (auto) */
  int64_t dense_cols;   /**< columns of X and of Y; 0 means 1 */
  int32_t times_values; /**< 1: S is the matrix's value */
  int32_t kind;    /**< csrkit_kind of X and Y; CSRKIT_NONE: the matrix's, f32 if it has none */
  int32_t c_kind;  /**< of C; CSRKIT_NONE: f64 if X and Y are, else f32 */
  int32_t threads; /**< CPU, <= 4096; 0: what OpenMP was told (OMP_NUM_THREADS) */
  int32_t device;  /**< GPU: ordinal among the visible ones */
  uint64_t memory_limit_bytes; /**< of the plan; 0: what is there */
  void* stream;                /**< GPU: cudaStream_t to work in; NULL: one of the plan's own */
} csrkit_sddmm_options;

/** Analyses the matrix: once for many products. */
csrkit_status csrkit_sddmm_make(const csrkit_matrix* matrix, const csrkit_sddmm_options* options,
                                csrkit_sddmm** plan);

/** X has the matrix's rows, Y its columns as rows; C is nnz x 1 without gaps, in the order of the
 * entries, shares no element with them, and is only read if beta is not 0. Factors are refused as
 * csrkit_multiply does. Returns when a C in host memory is complete; with all operands in device
 * memory it only queues work in the stream. */
csrkit_status csrkit_sddmm_multiply(csrkit_sddmm* plan, const csrkit_dense* x,
                                    const csrkit_dense* y, const csrkit_dense* c, double alpha,
                                    double beta);

/** As csrkit_plan_use_stream. */
csrkit_status csrkit_sddmm_use_stream(csrkit_sddmm* plan, void* stream);

/** What a plan does: the kernel, and what was decided and why. The texts are valid as long as the
 * plan is. Each pointer may be NULL. */
csrkit_status csrkit_sddmm_describe(csrkit_sddmm* plan, const char** kernel, const char** choice);

/** Frees a plan; NULL is allowed. */
void csrkit_sddmm_free(csrkit_sddmm* plan);

/* -------------------------------------------------------------- products of two matrices */

/** C = A * op(B), all sparse; all members may be 0. */
typedef struct csrkit_spgemm_options {
  size_t size;
  const char* room;          /**< "cpu" (NULL) or "gpu" */
  const char* kernel;        /**< a name from `csr-spgemm-cpu --list` and the like; NULL chooses */
  int32_t transpose;         /**< 1: op(B) is the transpose of B */
  int32_t threads;           /**< CPU, <= 4096; 0: what OpenMP was told */
  int32_t device;            /**< GPU: ordinal among the visible ones */
  double drop_below;         /**< entries of a smaller magnitude are left out */
  const csrkit_matrix* mask; /**< only its positions are kept; NULL: all */
  const char* semiring;      /**< as in csrkit_plan_options */
  uint64_t memory_limit_bytes; /**< of the product; 0: what is there */
} csrkit_spgemm_options;

/** The product, its columns sorted and unique. It carries the order of A's rows and that of the
 * columns of op(B). `options` may be NULL. */
csrkit_status csrkit_spgemm(const csrkit_matrix* a, const csrkit_matrix* b,
                            const csrkit_spgemm_options* options, csrkit_matrix** c);

#ifdef __cplusplus
}
#endif

#endif
