# shellcheck shell=bash
# What a killed run left behind is removed by the next one that writes into the folder.
csr-generate rmat big.csr --set scale=15 --quiet
left() { compgen -G '*.tmp.*' | wc -l; }
killed() { # killed COMMAND...: while its temporary is there
  "$@" 2>killed.err &
  local process=$!
  for _ in $(seq 500); do
    if compgen -G '*.tmp.*' >/dev/null; then break; fi
    sleep 0.01
  done
  kill -9 $process 2>/dev/null || true
  wait $process 2>/dev/null || true
}
for _ in $(seq 20); do # it may be done before it is killed
  killed csr-export --force big.csr out.mtx --quiet
  if [ "$(left)" -gt 0 ]; then break; fi
done
[ "$(left)" -gt 0 ] || fail "no run was killed in time"
mkdir elsewhere
expect 0 csr-export big.csr elsewhere/out.mtx # another folder: nothing is touched here
[ "$(left)" -gt 0 ] || fail "the temporary of another folder was removed"
expect 0 csr-generate dense small.csr --set rows=3
equals "$(left)" 0
# A temporary of another machine, or of nobody known, is left alone.
touch "a.csr.tmp.0000000012345678.1.0123456789" a.csr.tmp.1.0123456789
expect 0 csr-generate --force dense small.csr --set rows=3
equals "$(left)" 2
