"""What the scripts that time solvers share: runs of tools, records in lines of JSON."""
import json
import subprocess

HARD = "1e8"  # condition of dense systems: they are not solved before the iterations are made


def run(command, accepted=(0,)):
    """What a tool prints. Stops the script where the tool cannot be run or fails."""
    command = [str(part) for part in command]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise SystemExit(f"{command[0]} cannot be run: {error.strerror}; say where it is with --tools") from None
    if done.returncode not in accepted:
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def report_of(tool, arguments, accepted=(0,)):
    """What a solver says of itself."""
    report = json.loads(run([tool, *arguments, "--json"], accepted))
    if report["iterations"] == 0:
        raise SystemExit(f"{tool}: no iteration was made: {report['failure']}")
    return report


def solve(tool, arguments, iterations, repeat):
    """The report of a solve that is cut off after so many iterations: unsolved, which is exit code 1."""
    dense = ["--condition", HARD] if "--generate-dense" in arguments else []
    return report_of(tool, [*arguments, *dense, "--tolerance", "1e-300", "--iterations", iterations,
                            "--repeat", repeat], (0, 1))


def records_of(path):
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


def append(path, record):
    with path.open("a") as lines:
        lines.write(json.dumps(record) + "\n")
