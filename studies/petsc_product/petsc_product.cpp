// What csr-spmm-dist on CPU ranks is compared with: PETSc's product of a distributed sparse matrix
// (MATMPIAIJ) with a distributed dense one (MATDENSE), in f64, as its users write it. Prints one
// line of JSON.
//
//   csr-export matrix.csr matrix.petsc
//   mpirun -n 2 petsc_product -matrix matrix.petsc -k 32 -repeat 10
#include <petscmat.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace {

struct Settings {
  char matrix[PETSC_MAX_PATH_LEN] = "";
  PetscInt dense_cols = 32, repeat = 10;
};

PetscErrorCode read_settings(Settings* settings) {
  PetscBool given = PETSC_FALSE;
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-matrix", settings->matrix,
                                  sizeof settings->matrix, &given));
  PetscCheck(given, PETSC_COMM_WORLD, PETSC_ERR_USER, "usage: petsc_product -matrix FILE");
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-k", &settings->dense_cols, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-repeat", &settings->repeat, nullptr));
  PetscFunctionReturn(0);
}

PetscErrorCode load(const char* path, Mat* matrix) {
  PetscViewer viewer = nullptr;
  PetscFunctionBeginUser;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, path, FILE_MODE_READ, &viewer));
  PetscCall(MatCreate(PETSC_COMM_WORLD, matrix));
  PetscCall(MatSetType(*matrix, MATAIJ));
  PetscCall(MatLoad(*matrix, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(0);
}

PetscErrorCode run() {
  Settings settings;
  Mat a = nullptr, b = nullptr, c = nullptr;
  PetscFunctionBeginUser;
  PetscCall(read_settings(&settings));
  PetscCall(load(settings.matrix, &a));
  PetscInt rows = 0, cols = 0, local_cols = 0;
  PetscCall(MatGetSize(a, &rows, &cols));
  PetscCall(MatGetLocalSize(a, nullptr, &local_cols));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, local_cols, PETSC_DECIDE, cols, settings.dense_cols,
                           nullptr, &b));
  PetscCall(MatSetRandom(b, nullptr));
  // The symbolic product and two warm-ups; then the numeric one alone, C in its place.
  PetscCall(MatMatMult(a, b, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &c));
  std::vector<double> samples;
  for (PetscInt sample = -2; sample < settings.repeat; ++sample) {
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    const double start = MPI_Wtime();
    PetscCall(MatMatMult(a, b, MAT_REUSE_MATRIX, PETSC_DEFAULT, &c));
    double mine = MPI_Wtime() - start, slowest = 0;
    PetscCallMPI(MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
    if (sample >= 0) samples.push_back(slowest);
  }
  std::sort(samples.begin(), samples.end());
  PetscMPIInt ranks = 0;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "{\"ranks\": %d, \"dense_cols\": %d, \"median_seconds\": %.9g, "
                        "\"min_seconds\": %.9g}\n",
                        ranks, static_cast<int>(settings.dense_cols), samples[samples.size() / 2],
                        samples.front()));
  PetscCall(MatDestroy(&c));
  PetscCall(MatDestroy(&b));
  PetscCall(MatDestroy(&a));
  PetscFunctionReturn(0);
}

}  // namespace

int main(int argc, char** argv) {
  if (PetscInitialize(&argc, &argv, nullptr, nullptr) != 0) return 1;
  if (run() != 0) return 1;
  return PetscFinalize() == 0 ? 0 : 1;
}
