"""R18: many processes on one output, one file of records, one tuning cache."""
import json
import subprocess

from common import Finding, left_overs, make_inputs, remove_outputs

CROWD = 64


def crowd(soak, commands):
    """All at once; the codes, and what was said by those that failed."""
    running = [subprocess.Popen(command, cwd=soak.scratch, env=dict(soak.environment, OMP_NUM_THREADS="1"),
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
               for command in commands]
    results = []
    for process in running:
        try:
            _, said = process.communicate(timeout=300)
        except subprocess.TimeoutExpired as late:
            for other in running:
                other.kill()
            raise Finding(f"no end: {process.args}") from late
        results.append((process.returncode, said))
    soak.count("processes", len(commands))
    for code, said in results:
        if code not in (0, 4) or (code == 4 and b"error: " not in said):
            raise Finding(f"code {code} in a crowd: {said[-400:]!r}")
    if not any(code == 0 for code, _ in results):
        raise Finding(f"nobody could write: {results[0]}")
    if left_overs(soak):
        raise Finding(f"the crowd left {left_overs(soak)}")
    return results


def one_output(soak):
    make_inputs(soak)
    while soak.has_time():
        remove_outputs(soak)
        crowd(soak, [["csr-generate", "rmat", "out.csr", "--set", "scale=6", "--seed", str(seed), "--force", "--quiet"]
                     for seed in range(CROWD)])
        soak.succeed(["csr-info", "out.csr", "--verify", "--quiet"])


def one_record_file(soak):
    make_inputs(soak)
    while soak.has_time():
        remove_outputs(soak)
        results = crowd(soak, [["csr-bench", "g.csr", "-k", str(1 + k), "--repeat", "1", "--warmup", "0", "--records",
                                "out.jsonl", "--quiet"] for k in range(CROWD)])
        lines = (soak.scratch / "out.jsonl").read_text(encoding="utf-8").splitlines()
        widths = sorted(json.loads(line)["case"]["dense_cols"] for line in lines)
        expected = sorted(1 + k for k, (code, _) in enumerate(results) if code == 0)
        if widths != expected:
            raise Finding(f"records of {widths}, but success of {expected}")


def one_tuning_cache(soak):
    make_inputs(soak)
    while soak.has_time():
        remove_outputs(soak)
        crowd(soak, [["csr-spmm-cpu", "g.csr", "-k", str(1 + k % 4), "--repeat", "1", "--warmup", "0", "--tune",
                      "out.json", "--quiet"] for k in range(CROWD // 2)])
        entries = json.loads((soak.scratch / "out.json").read_text(encoding="utf-8"))["entries"]
        keys = [json.dumps(entry["case"], sort_keys=True) for entry in entries]
        if not keys or len(keys) != len(set(keys)):
            raise Finding(f"{len(keys)} entries, {len(set(keys))} of them different")


def parts(_build):
    return {
        "R18.output": ("64 writers of one file", one_output),
        "R18.records": ("64 writers of one file of records", one_record_file),
        "R18.tuning": ("32 tuners with one cache", one_tuning_cache),
    }
