#!/usr/bin/env bash
# Products on many ranks under a real Slurm that this script starts and ends: ranks on two nodes, one that is
# killed, wrong numbers of them, missing or damaged sections, a full disk, two jobs at once, a launcher without PMIx, a
# node that is drained or fails. Each event ends within seconds; the rows that are printed stand in docs/scaling.md.
#
# Usage: ranks.sh ROOT BIN_FOLDER    (exit code 77: Slurm or MPI is not installed)
set -euo pipefail
export SLURM_LOCAL_CPUS=4 OMP_NUM_THREADS=1
# shellcheck source=tests/slurm/setup.sh
. "$(dirname "$0")/setup.sh" "$1" "$2"
ls "$bin"/../lib*/libcsrkit_mpi.so.* >/dev/null 2>&1 || { echo "skipped: built without MPI"; exit 77; }
cp "$root/tests/data/golden/rank_parts_f32.csr" parts.csr
csr-generate rmat graph.csr --set scale=14 --quiet

ranks -N 2 -n 4 csr-spmm-dist parts.csr --grid 4x1 -k 6 --check --repeat 2 --output c.npy --json || fail "four ranks on two nodes: $(cat err)"
python3 - <<'END' || fail "the record of four ranks"
import json
record = json.load(open("out"))
assert record["launcher"] == "srun" and len(record["ranks"]) == 4, record["launcher"]
assert record["check"]["rows_checked"] == 5 and record["bytes"]["total"] == sum(r["halo_cols"] * 6 * 4 for r in record["ranks"])
END
csr-spmm-dist parts.csr --ranks 4 --grid 4x1 -k 6 --repeat 1 --output threads.npy --quiet
cmp c.npy threads.npy || fail "ranks of srun and threads make different C"
ranks -N 2 -n 3 csr-spgemm-dist graph.csr --check --repeat 1 --output squared.csr --quiet || fail "a sparse product: $(cat err)"
csr-info squared.csr --quiet || fail "its file"
echo "ranks on two nodes: done"

# --- events: message, exit code, seconds, and nothing left
ended() { # ended EVENT BEGAN CODE EXPECTED TEXT: what is in ./err said TEXT, within seconds, and no file is left
  local event=$1 took=$(($(now) - $2)) code=$3 expected=$4 text=$5 empty
  [[ " $expected " == *" $code "* ]] || fail "$event: exit code $code, expected $expected: $(cat err)"
  if ((took > 10000)); then # on a busy machine a launch that does nothing is slow as well
    launch /dev/null empty -n 4 csr-spmm-dist --version || fail "$event: a launch that does nothing: $(cat empty)"
    empty=$(($(now) - began))
    ((took <= 30 * empty)) || fail "$event: it took $took ms, a launch that does nothing $empty"
  fi
  grep -qF -- "$text" err || fail "$event: nobody says '$text': $(cat err)"
  if compgen -G 'lost.*' >/dev/null; then fail "$event: left behind: $(compgen -G 'lost.*')"; fi
  printf '| %s | %s | %d | %d.%d |\n' "$event" "$(grep -m 1 -F -- "$text" err | sed 's/^csr-[a-z-]*: error: //')" \
    "$code" $((took / 1000)) $((took % 1000 / 100))
}
refused() { # refused EVENT EXPECTED TEXT OPTION_OF_SRUN... COMMAND...
  local event=$1 expected=$2 text=$3 began code=0
  shift 3
  ranks "$@" || code=$?
  ended "$event" "$began" $code "$expected" "$text"
}
spmm=csr-spmm-dist spgemm=csr-spgemm-dist
csr-generate communities plain.csr --set n=40000 --set mean=12 --quiet
csr-partition plain.csr four.csr --parts 2,4 --method blocks --split-hubs 60 --quiet
csr-partition plain.csr whole.csr --parts 2,4 --method blocks --quiet
echo '| event | what is said | exit code | seconds |'

refused "wrong P, spmm" 2 "holds parts for 2 and 4 ranks, not for 3; run csr-partition" -n 3 $spmm parts.csr --grid 3x1 --output lost.npy
refused "wrong P, spgemm" 2 "holds parts for 2 and 4 ranks, not for 3; run csr-partition" -n 3 $spgemm whole.csr --blocks file --output lost.csr
refused "no parts in the file, spmm" 2 "holds no parts for ranks; run csr-partition" -n 2 $spmm plain.csr --grid 2x1 --output lost.npy
refused "no parts in the file, spgemm" 2 "holds no parts for ranks; run csr-partition" -n 2 $spgemm plain.csr --blocks file --output lost.csr
code=0 began=$(now)
timeout 300 srun --mpi=none -n 2 $spmm graph.csr --output lost.npy >out 2>err || code=$?
ended "without PMIx" "$began" $code 2 "add --mpi=pmix"

# Damage: one byte of the middle of each section, of the header's list of sections, and an end that is missing.
damage() { # damage FILE SECTION: writes damaged.csr
  python3 - "$1" "$2" <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
name = sys.argv[2]
if name == "end":
    data = data[:len(data) * 2 // 3]
else:
    slots = {data[at:at + 16].rstrip(b"\0").decode(): at for at in range(128, 640, 32)}
    if name == "slot":
        at = slots["rank_lists"]
        data[at:at + 32] = bytes(32)
    else:
        at = slots[name]
        offset, size = (int.from_bytes(data[at + i:at + i + 8], "little") for i in (16, 24))
        data[offset + size // 2] ^= 1
open("damaged.csr", "wb").write(data)
END
}
for section in row_offsets col_indices values rank_heads rank_lists split_rows checksums; do
  damage four.csr $section
  refused "damaged $section, spmm" 3 "$([[ $section == checksums ]] && echo "section checksums" || echo "$section")" \
    -N 2 -n 4 $spmm damaged.csr --grid 4x1 --output lost.npy
  [[ $(grep -c 'damaged.csr' err) == 1 ]] || fail "damaged $section: several ranks spoke: $(cat err)"
  [[ $section == split_rows ]] && continue # parts that split rows are not for sparse products
  damage whole.csr $section
  refused "damaged $section, spgemm" 3 "$([[ $section == checksums ]] && echo "section checksums" || echo "$section")" \
    -N 2 -n 4 $spgemm damaged.csr --output lost.csr
done
for what in slot end; do
  damage four.csr $what
  event=$([[ $what == slot ]] && echo "rank_lists missing in the header" || echo "the end of the file missing")
  refused "$event, spmm" 3 "damaged.csr: " -N 2 -n 4 $spmm damaged.csr --grid 4x1 --output lost.npy
  refused "$event, spgemm" 3 "damaged.csr: " -N 2 -n 4 $spgemm damaged.csr --output lost.csr
done

# A disk that is full while C is written: a small one, where it may be mounted, and a limit, which is met in the same place.
limited() { bash -c 'ulimit -f 16000; exec "$@"' limited "$@"; }
export -f limited
refused "size limit while C is written, spmm" 4 "File too large; raise the limit" \
  -n 3 bash -c 'limited "$@"' - $spmm graph.csr -k 600 --repeat 1 --output lost.npy
refused "size limit while C is written, spgemm" 4 "File too large; raise the limit" \
  -n 3 bash -c 'limited "$@"' - $spgemm graph.csr --repeat 1 --warmup 0 --output lost.csr
mkdir small
if mount -t tmpfs -o size=8m csrkit-test small 2>/dev/null; then
  for tool in spmm spgemm; do
    if [[ $tool == spmm ]]; then command=("$spmm" graph.csr -k 600); else command=("$spgemm" graph.csr --warmup 0); fi
    code=0
    ranks -n 3 "${command[@]}" --repeat 1 --output small/lost.out || code=$?
    left=$(ls small)
    [[ -z $left ]] || { umount small; fail "full disk, $tool: left behind: $left"; }
    (ended "disk full while C is written, $tool" "$began" $code 4 "No space left on device; make room") || { umount small; exit 1; }
  done
  umount small
else
  echo "skipped: a disk that is full, as nothing may be mounted here"
fi

# catch.py sends a signal to a rank that multiplies or writes C.
cat >catch.py <<'END'
"""catch.py TOOL RANK WHEN SIGNAL OUTPUT: sends the signal when the rank has worked for a second ("multiplying"), or
when the temporary of OUTPUT has grown ("writing"), and prints the process. Exit code 2: OUTPUT was made before.
It sleeps between looks, since on a busy machine one that wakes is run at once, and one that polls is not."""
import contextlib, glob, os, signal, sys, time
tool, rank, when, name, output = sys.argv[1:]
mine = {f"DIST_TEST={os.getcwd()}", f"SLURM_PROCID={rank}"}
end = time.time() + 300


def find():
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            if open(f"/proc/{process}/comm").read().strip() != tool: continue
            words = set(open(f"/proc/{process}/environ", errors="replace").read().split("\0"))
        except OSError:
            continue
        if mine <= words: return int(process)
    return None


def writing():
    try:
        return any(os.path.getsize(file) > 0 for file in glob.glob(f"{output}.tmp.*"))
    except OSError:
        return False


def worked(process):
    """Seconds of a processor that it has taken: on a busy machine a second of the clock is less than what MPI_Init takes."""
    try:
        fields = open(f"/proc/{process}/stat").read().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def is_due(process):
    return writing() if when == "writing" else (worked(process) or 0) >= 1


while time.time() < end:
    caught = find()
    if caught is None:
        if os.path.exists(output): sys.exit(2)
        time.sleep(0.01)
        continue
    while not is_due(caught) and os.path.exists(f"/proc/{caught}") and time.time() < end: time.sleep(0.001)
    if time.time() >= end: break
    try:
        os.kill(caught, getattr(signal, "SIG" + name))
    except ProcessLookupError:
        continue # it crashed in MPI_Init and is launched again
    if os.path.exists(output): # between the look and the signal
        with contextlib.suppress(ProcessLookupError): os.kill(caught, signal.SIGCONT)
        sys.exit(2)
    print(caught)
    sys.exit()
sys.exit("it never came")
END
export DIST_TEST=$PWD
caught() { # caught RANK WHEN SIGNAL OUTPUT OPTION_OF_SRUN... COMMAND...: $job runs it, one rank of it got the signal
  local rank=$1 when=$2 signal=$3 output=$4 tool more code
  shift 4
  for tool in "$@"; do [[ $tool == csr-* ]] && break; done
  for more in 4 3 2 1 0; do
    launch out err "$@" --output "$output" &
    job=$! code=0
    process=$(python3 catch.py "$tool" "$rank" "$when" "$signal" "$output") || code=$?
    ((code == 0)) && return
    ((code == 2 && more > 0)) || fail "$tool: rank $rank was not caught while $when: $(cat err)"
    wait "$job" || [[ -e $output ]] || fail "$tool: $(cat err)"
    rm "$output"
  done
}

# Each rank killed, while it multiplies and while C is written. Then nobody has a temporary left, nor the final name.
for rank in 0 1 2; do
  for tool in spmm spgemm; do
    for when in multiplying writing; do
      repeat=1000000 k=30
      if [[ $when == writing ]]; then repeat=1 k=3000; fi
      if [[ $tool == spmm ]]; then command=("$spmm" graph.csr -k "$k" --grid 1x3); else command=("$spgemm" graph.csr); fi
      for more in 2 1 0; do
        caught $rank $when KILL lost.out -n 3 "${command[@]}" --repeat $repeat --warmup 0
        began=$(now) code=0
        wait "$job" || code=$?
        # On a busy machine it may have worked all that time for MPI_Init: then only srun knows it.
        if ((code != 137 || more == 0)) || grep -q "rank $rank on" err; then break; fi
      done
      ended "rank $rank killed while $when, $tool" "$began" $code 70 "rank $rank on"
    done
  done
done

# Two jobs at once on one file, without --force: who is first has the name, the other one says so and leaves it.
for tool in spmm spgemm; do
  if [[ $tool == spmm ]]; then command=("$spmm" graph.csr -k 3000); else command=("$spgemm" graph.csr); fi
  command+=(--repeat 1 --warmup 0)
  caught 0 writing STOP taken.out -n 2 "${command[@]}"
  launch /dev/null one -n 2 "${command[@]}" --output taken.out || fail "the quick job: $(cat one)"
  before=$(stat -c %i taken.out) code=0 began=$(now)
  kill -CONT "$process"
  wait "$job" || code=$?
  ended "another job made C meanwhile, $tool" "$began" $code 4 "another process has made it meanwhile"
  [[ $(stat -c %i taken.out) == "$before" && $(compgen -G 'taken.out*') == taken.out ]] || fail "$tool: $(ls -l taken*)"
  refused "C is there already, $tool" 2 "exists already; --force replaces it" -n 2 "${command[@]}" --output taken.out
  rm taken.out
done

# Two jobs at once on one file, one output: it is whole.
launch /dev/null one -n 2 csr-spmm-dist graph.csr -k 4 --repeat 2 --output both.npy --force --quiet &
first=$!
ranks -n 2 csr-spmm-dist graph.csr -k 4 --repeat 2 --output both.npy --force --quiet || fail "the second job: $(cat err)"
wait $first || fail "the first job: $(cat one)"
csr-spmm-dist graph.csr --ranks 2 -k 4 --repeat 1 --output alone.npy --quiet
cmp both.npy alone.npy || fail "two jobs at once wrote another C"
echo "two jobs at once: one whole file"

# A node is drained: a job that runs ends as it would have, one that needs the node is refused within seconds.
node=$(sinfo -h -N -o %N | tail -n 1)
command=("$spmm" graph.csr -k 3000 --repeat 1 --warmup 0)
caught 0 writing STOP drained.npy -N 2 -n 2 "${command[@]}"
scontrol update NodeName="$node" State=DRAIN Reason=test
[[ -n $(squeue -h -t R) ]] || fail "a node was drained, and its job went: $(cat err)"
kill -CONT "$process"
wait "$job" || fail "the job on a node that was drained: $(cat err)"
csr-spmm-dist graph.csr --ranks 2 -k 3000 --repeat 1 --warmup 0 --output alone.npy --force --quiet
cmp drained.npy alone.npy || fail "a drained node changed C"
began=$(now) code=0
timeout 300 srun --immediate=3 --mpi=pmix -N 2 -n 2 csr-spmm-dist graph.csr --output never.npy >out 2>err || code=$?
ended "the node was drained before" "$began" $code 1 'node not available (down, drained or reserved)'
scontrol update NodeName="$node" State=RESUME
echo "a drained node: the job that ran ended whole"

# A node fails: its job ends within seconds, and nothing is left.
resume() {
  for ((i = 0; i < 100; i++)); do
    scontrol update NodeName="$node" State=RESUME 2>/dev/null && break
    sleep 0.1
  done
}
running() { # running PROCESS: waits until a job runs, or srun ended before
  while [[ -z $(squeue -h -t R) ]] && kill -0 "$1" 2>/dev/null; do sleep 0.1; done
}
for tool in spmm spgemm; do
  if [[ $tool == spmm ]]; then command=("$spmm" graph.csr -k 30); else command=("$spgemm" graph.csr); fi
  for more in 2 1 0; do # not by launch, which would make a job that crashes anew, on a node that failed before
    timeout 300 srun --mpi=pmix -N 2 -n 2 "${command[@]}" --repeat 1000000 --output lost.out >out 2>err &
    job=$!
    running $job
    sleep 2
    scontrol update NodeName="$node" State=DOWN Reason=test
    began=$(now) code=0
    wait "$job" || code=$?
    crashed_in_init err || break
    resume
  done
  ended "a node fails, $tool" "$began" $code "70 137 143" "Node failure on $node"
  resume
done
if compgen -G 'never.*' >/dev/null; then fail "left behind: $(ls)"; fi
