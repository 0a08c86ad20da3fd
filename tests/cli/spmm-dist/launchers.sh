# shellcheck shell=bash
# Who starts the ranks: nobody, --ranks, mpirun; and srun without a way for its tasks to meet.
csr-generate rmat graph.csr --set scale=9 --quiet
csr-spmm-cpu graph.csr -k 8 --output whole.npy --repeat 1 --quiet
for ranks in 1 2 3; do
  expect 0 csr-spmm-dist graph.csr -k 8 --ranks $ranks --threads 1 --output c.npy --repeat 1 --quiet --check
  if [ $ranks -eq 1 ]; then cmp c.npy whole.npy || fail "one rank makes another C than csr-spmm-cpu"; fi
  rm c.npy
done
expect 2 env SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=4 csr-spmm-dist graph.csr
says "srun started 4 tasks that cannot find each other; add --mpi=pmix"
expect 0 env SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1 csr-spmm-dist graph.csr -k 8 --repeat 1
expect 2 csr-spmm-dist graph.csr --ranks 4 --grid 3x1
says "--grid 3x1 needs 3 ranks, and there are 4"
expect 2 csr-spmm-dist graph.csr --ranks 9 -k 8
says "no grid has 9 ranks: there are 8 columns of B to share out, and the file holds no row parts"
expect 2 csr-spmm-dist graph.csr --ranks 9 -k 1
says "there is 1 column of B to share out"
csr-generate dense small.csr --set rows=3 --quiet
expect 2 csr-spmm-dist small.csr --ranks 5 -k 3
says "the file holds no row parts; use fewer ranks, as A has 3 rows"
expect 2 csr-spmm-dist graph.csr --ranks 9 -k 8 --grid 1x9
says "more groups of columns than B has columns, 8;"
expect 2 csr-spmm-dist graph.csr --ranks 2 --grid 2x1
says "'graph.csr' holds no parts for ranks; run csr-partition"
expect 2 csr-spmm-dist graph.csr --grid 2y1
says "ROW_PARTSxCOLUMN_GROUPS"
# Without --grid the forecast's best; as there, if the file holds all parts that the grids need.
csr-partition graph.csr parts.csr --parts 2,4 --method blocks --quiet
for k in 1 8 64; do
  for profile in cluster h200x4; do
    csr-forecast parts.csr --ranks 4 -k $k --profile $profile --json >forecast.json
    csr-spmm-dist parts.csr --ranks 4 -k $k --profile $profile --threads 1 --repeat 1 --warmup 0 --check --json >run.json
    python3 - "$k" "$profile" <<'END' || fail "K = $k, $profile"
import json, sys
best, = json.load(open("forecast.json"))["best"]
grid = json.load(open("run.json"))["grid"]
assert (grid["parts"], grid["groups"]) == (best["row_parts"], best["column_groups"]), (grid, best)
assert grid["parts"] * grid["groups"] == 4 and sys.argv[2] in grid["choice"], grid
assert sys.argv[1] != "1" or grid["parts"] == 4, grid
END
  done
done
expect 2 csr-spmm-dist parts.csr --ranks 4 --profile clutser
for value in 0 -1 257 x; do
  expect 2 csr-spmm-dist graph.csr --ranks "$value"
  says "--ranks"
done
expect 4 csr-spmm-dist missing.csr --ranks 3
says "cannot read 'missing.csr'"
[ "$(grep -c error: err)" -eq 1 ] || fail "three ranks said the same thing three times"

# Without its library a rank of MPI says so instead of taking itself for the only one.
if ! ls "$(dirname "$(command -v csr-spmm-dist)")"/../lib*/libcsrkit_mpi.so.* >/dev/null 2>&1; then
  expect 2 env OMPI_COMM_WORLD_SIZE=2 csr-spmm-dist graph.csr
  says "need libcsrkit_mpi"
fi
