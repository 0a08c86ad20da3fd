# shellcheck shell=bash
# The script that reads profiles of SpGEMM's ladder, with a stand-in for Nsight Compute: three samples
# of four lie where the rung begins to write back.
script=$CLI_FOLDER/../../run_scripts/measure/spgemm_profile.py
mkdir -p nsight/extras/python tools
cat >nsight/ncu <<'END'
#!/usr/bin/env bash
while [ "$1" != -o ]; do shift; done
[[ $2 == *${FAILS:-none}* ]] && { echo 'no such counter'; exit 1; }
touch "$2.ncu-rep"
END
chmod +x nsight/ncu
cat >nsight/extras/python/ncu_report.py <<'END'
import os, pathlib
LADDER = pathlib.Path(os.environ["LADDER"])
class Metric:
    def __init__(self, value): self.value = value
    def as_double(self): return self.value
    def correlation_ids(self): return self
    def num_instances(self): return 2
    def as_uint64(self, i): return self.value[i]
class Source:
    def __init__(self, file, line): self.file, self.at = file, line
    def file_name(self): return str(self.file)
    def line(self): return self.at
class Action:
    def __init__(self, path):
        self.file = next(LADDER.glob(pathlib.Path(path).stem.split("-", 1)[1] + ".cu*"))
        lines = self.file.read_text().splitlines()
        self.writes = next(i for i, line in enumerate(lines, 1) if line.rstrip().endswith("// write-back"))
    def metric_names(self): return ["smsp__pcsamp_warps_issue_stalled_wait", "other"]
    def source_info(self, address): return Source(self.file, 1 if address == 16 else self.writes)
    def metric_by_name(self, name):
        if name.startswith("smsp__pcsamp"):
            metric = Metric([1, 3])  # samples
            metric.correlation_ids = lambda: Metric([16, 32])
            return metric
        return Metric({"gpu__time_duration.sum": 2e6, "dram__bytes.sum": 4e6, "lts__t_bytes.sum": 8e6}[name])
    def action_by_idx(self, _): return self
    def range_by_idx(self, _): return self
load_report = Action
END
LADDER=$(realpath "$CLI_FOLDER/../../gpu/spgemm/ladder")
export LADDER PATH=$PWD/nsight:$PATH
expect 0 "$script" some.csr --tools tools --out reports
prints "| some | \`v0_thread_per_row\` | 2.000 | 75.0 % of 4 | 2 | 4 |"
equals "$(grep -c '75.0 % of 4' out)" "$(find "$LADDER" -name 'v*.cu*' | wc -l)"
FAILS=v1_cached_members expect 1 "$script" some.csr --tools tools --out failed
grep -qF 'v1_cached_members: no such counter' err || fail "it does not say what ncu said"
