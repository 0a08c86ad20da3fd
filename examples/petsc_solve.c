/* Solves A x = b on any number of ranks with PETSc: A is a symmetric positive definite system that csr-export wrote, b is
 * all ones, x goes to a .npy file that csr-solve-cpu reads.
 *
 *   csr-generate poisson grid.csr --set nx=300 --set ny=300 --value-kind f64
 *   csr-export grid.csr grid.petsc
 *   mpicc petsc_solve.c -o petsc_solve $(pkg-config --cflags --libs petsc)
 *   srun -n 4 ./petsc_solve grid.petsc x.npy -ksp_rtol 1e-9 -pc_type jacobi    # or mpirun -n 4
 *   csr-solve-cpu grid.csr --guess x.npy --tolerance 1e-8                      # 0 iterations: x solves the system
 *
 * Options after the files are PETSc's. Exit code 1 if its solver gave up.
 */
#include <petscksp.h>
#include <stdio.h>
#include <string.h>

enum { kHeaderBytes = 128 };

/* The first bytes of a .npy file of one column of float64. */
static void npy_header(char *header, long long rows) {
  char shape[kHeaderBytes];
  const int length = kHeaderBytes - 10;
  memset(header, ' ', kHeaderBytes);
  memcpy(header, "\x93NUMPY\x01\x00", 8);
  header[8] = (char)length;
  header[9] = 0;
  const int words = snprintf(shape, sizeof shape, "{'descr': '<f8', 'fortran_order': False, 'shape': (%lld, 1), }", rows);
  memcpy(header + 10, shape, (size_t)words);
  header[kHeaderBytes - 1] = '\n';
}

/* Every rank writes its own rows. The file gets its name when it is complete. */
static PetscErrorCode write_npy(Vec x, const char *path) {
  char header[kHeaderBytes], unfinished[PETSC_MAX_PATH_LEN];
  const PetscScalar *mine = NULL;
  PetscInt rows = 0, first = 0, end = 0;
  PetscMPIInt rank = 0;
  MPI_File file;
  PetscCall(VecGetSize(x, &rows));
  PetscCall(VecGetOwnershipRange(x, &first, &end));
  PetscCall(VecGetArrayRead(x, &mine));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  snprintf(unfinished, sizeof unfinished, "%s.unfinished", path);
  PetscCallMPI(MPI_File_open(PETSC_COMM_WORLD, unfinished, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
  npy_header(header, (long long)rows);
  if (rank == 0) PetscCallMPI(MPI_File_write_at(file, 0, header, kHeaderBytes, MPI_CHAR, MPI_STATUS_IGNORE));
  PetscCallMPI(MPI_File_write_at_all(file, kHeaderBytes + (MPI_Offset)first * 8, mine, (int)(end - first), MPI_DOUBLE,
                                     MPI_STATUS_IGNORE));
  PetscCallMPI(MPI_File_close(&file));
  PetscCall(VecRestoreArrayRead(x, &mine));
  if (rank == 0 && rename(unfinished, path) != 0) SETERRQ(PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "cannot rename to %s", path);
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: petsc_solve MATRIX.petsc X.npy [options of PETSc]\n");
    return 2;
  }
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscViewer file;
  Mat a;
  Vec b, x;
  KSP solver;
  KSPConvergedReason reason;
  PetscInt iterations = 0;
  PetscMPIInt ranks = 0;

  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, argv[1], FILE_MODE_READ, &file));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &a));
  PetscCall(MatSetFromOptions(a));
  PetscCall(MatLoad(a, file));
  PetscCall(PetscViewerDestroy(&file));
  PetscCall(MatCreateVecs(a, &x, &b));
  PetscCall(VecSet(b, 1));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &solver));
  PetscCall(KSPSetType(solver, KSPCG));
  PetscCall(KSPSetNormType(solver, KSP_NORM_UNPRECONDITIONED)); /* the norm that csr-solve-cpu means */
  PetscCall(KSPSetOperators(solver, a, a));
  PetscCall(KSPSetFromOptions(solver));
  PetscCall(KSPSolve(solver, b, x));
  PetscCall(KSPGetConvergedReason(solver, &reason));
  PetscCall(KSPGetIterationNumber(solver, &iterations));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ranks %d\niterations %d\nsolved %s\n", (int)ranks, (int)iterations,
                        reason > 0 ? "yes" : "no"));
  if (reason > 0) PetscCall(write_npy(x, argv[2]));

  PetscCall(KSPDestroy(&solver));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&a));
  PetscCall(PetscFinalize());
  return reason > 0 ? 0 : 1;
}
