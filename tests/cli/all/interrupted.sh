# shellcheck shell=bash
# Whatever ends a tool, the final name holds a whole file or nothing.
csr-generate rmat warm.csr --set scale=15 --set edge_factor=16 --quiet
csr-export warm.csr big.mtx --quiet
interrupted() { # interrupted SIGNAL EXPECTED_CODE COMMAND...: at several moments of its life
  local signal=$1 expected=$2 seen=0 delay code
  shift 2
  for delay in 0.02 0.05 0.1 0.15 0.2 0.3 0.4 0.6; do
    rm -f out.csr out.csr.*
    code=0
    python3 - "$signal" "$delay" "$@" <<'EOF' || code=$?
import signal, subprocess, sys
process = subprocess.Popen(sys.argv[3:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
try:
    process.wait(float(sys.argv[2]))
except subprocess.TimeoutExpired:
    process.send_signal(getattr(signal, sys.argv[1]))
code = process.wait()
sys.exit(code if code >= 0 else 128 - code)
EOF
    if [ -e out.csr ]; then
      csr-info out.csr --verify >/dev/null || fail "$signal after $delay s left a broken out.csr"
    fi
    if [ "$code" -eq 0 ]; then continue; fi # it was faster
    # A signal that comes before main has its handlers ends the process with the same code.
    equals "$code" "$expected"
    seen=$((seen + 1))
    if [ "$signal" != SIGKILL ] && compgen -G "out.csr.*" >/dev/null; then
      fail "$signal after $delay s left a temporary: $(compgen -G "out.csr.*")"
    fi
  done
  [ "$seen" -gt 0 ] || fail "$signal never came in time"
}
interrupted SIGINT 130 csr-import big.mtx out.csr
interrupted SIGTERM 143 csr-import big.mtx out.csr
interrupted SIGHUP 129 csr-import big.mtx out.csr
interrupted SIGQUIT 131 csr-import big.mtx out.csr
interrupted SIGKILL 137 csr-import big.mtx out.csr
interrupted SIGINT 130 csr-generate rmat out.csr --set scale=16
interrupted SIGTERM 143 csr-generate rmat out.csr --set scale=16
interrupted SIGKILL 137 csr-generate rmat out.csr --set scale=16
