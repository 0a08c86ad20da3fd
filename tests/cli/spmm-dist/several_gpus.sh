# shellcheck shell=bash
# A GPU for each of two ranks: both ways of exchange in one process and between two, one that is killed.
needs_cuda
csr-generate rmat small.csr --set scale=12 --quiet
needs_gpu csr-spmm-dist small.csr --device gpu --repeat 1
if [ "$(nvidia-smi --list-gpus | wc -l)" -lt 2 ]; then
  echo "there is one GPU"
  exit 6
fi
csr-partition small.csr parts.csr --parts 2 --method blocks --quiet
csr-partition small.csr split.csr --parts 2 --method blocks --split-hubs 200 --quiet
too_many=$(($(nvidia-smi --list-gpus | wc -l) + 1))
expect 2 csr-spmm-dist small.csr --device gpu --ranks $too_many -k 64
says "share the GPU"

# The same bits whichever way rows travel, in one process or two; the bytes that the forecast counts.
# Two processes, which take longer to start than to multiply, have the cases with several steps.
gpus() { csr-spmm-dist "$@" --device gpu --check --repeat 3 --seed 5; }
for case in "parts 1 32" "parts 3 7" "split 1 128" "split 2 7"; do
  read -r file power k <<<"$case"
  what=("$file.csr" --grid 2x1 -k "$k" --power "$power")
  gpus "${what[@]}" --ranks 2 --exchange peer --output peer.npy --force --json >peer.json
  gpus "${what[@]}" --ranks 2 --exchange nccl --output nccl.npy --force --json >nccl.json
  rm -f mpi_peer.json mpi_nccl.json
  if [ "$power" -gt 1 ] && command -v mpirun >/dev/null; then
    for way in peer nccl; do
      mpi 2 csr-spmm-dist "${what[@]}" --device gpu --check --repeat 3 --seed 5 --exchange $way --output mpi.npy \
        --force --json >mpi_$way.json
      cmp nccl.npy mpi.npy || fail "$case: other bits between processes, by $way"
    done
  fi
  cmp peer.npy nccl.npy || fail "$case: other bits by reading"
  csr-forecast "$file.csr" --ranks 2 --profile h200x4 -k "$k" --json >forecast.json
  python3 - <<'PYTHON' || fail "$case"
import json, os
grid = next(g for g in json.load(open("forecast.json"))["grids"] if g["row_parts"] == 2)
for name in filter(os.path.exists, ("peer.json", "nccl.json", "mpi_peer.json", "mpi_nccl.json")):
    run = json.load(open(name))
    assert run["bytes"] == {"total": grid["moved_bytes"], "worst_rank": grid["worst_received_bytes"]}, (name, run["bytes"], grid)
    assert len({rank["gpu"]["address"] for rank in run["ranks"]}) == 2, (name, run["ranks"])
PYTHON
done
gpus small.csr --grid 1x2 -k 33 --ranks 2 --json >columns.json
gpus parts.csr --grid 2x1 -k 32 --ranks 2 --all-gather --kernel vendor_cusparse --nondeterministic --json >all.json
python3 -c 'import json; assert json.load(open("all.json"))["bytes"]["total"] == 4096 * 32 * 4'

# The forecast chooses between processes, too.
command -v mpirun >/dev/null || exit 0
mpi 2 csr-spmm-dist parts.csr --device gpu --grid 2x1 -k 32 --repeat 3 --json >out
python3 -c 'import json; exchange = json.load(open("out"))["exchange"]; assert "by forecast" in exchange["choice"], exchange'

# A rank that is killed while rows travel: all end within seconds, and say why.
for way in peer nccl; do
  mpi 2 csr-spmm-dist parts.csr --device gpu --grid 2x1 -k 512 --repeat 1000000 --exchange $way --quiet --output lost.npy \
    >out 2>err &
  launched=$!
  sleep 8
  victim=
  for process in $(pgrep -x csr-spmm-dist); do
    if [ "$(readlink "/proc/$process/cwd")" = "$PWD" ]; then victim=$process; fi
  done
  [ -n "$victim" ] || fail "no rank is there: $(cat err)"
  SECONDS=0
  kill -9 "$victim"
  code=0
  wait $launched || code=$?
  [ $SECONDS -le 10 ] || fail "it took $SECONDS s to end"
  case $code in 70 | 137) ;; *) fail "exit code $code: $(cat err)" ;; esac
  no_file lost.npy
  echo "killed, by $way: exit code $code after $SECONDS s: $(grep -m1 error err || true)"
done
