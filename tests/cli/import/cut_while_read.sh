# shellcheck shell=bash
# A text that becomes shorter while it is read: a sentence and an exit code, and no output.
python3 - >whole.mtx <<'END'
print("%%MatrixMarket matrix coordinate pattern general\n1000000 1000000 3000000")
print("".join(f"{i % 1000000 + 1} {i * 7 % 1000000 + 1}\n" for i in range(3000000)), end="")
END
cat >cut.py <<'END'
import os, subprocess, sys, time
process = subprocess.Popen(["csr-import", "big.mtx", "out.csr", "--quiet"], stderr=subprocess.PIPE)
time.sleep(float(sys.argv[1]))
os.truncate("big.mtx", 4096)
said = process.communicate(timeout=60)[1].decode()
print(process.returncode, "said" if "csr-import: error: " in said else said)
END
cut=0
for delay in 0.01 0.03 0.06 0.1; do
  cp whole.mtx big.mtx
  result=$(python3 cut.py $delay)
  case $result in
    "3 said" | "4 said")
      cut=$((cut + 1))
      no_file out.csr
      ;;
    "0 "*) rm out.csr ;; # it was faster
    *) fail "cut after $delay s: $result" ;;
  esac
done
[ $cut -gt 0 ] || fail "no file was cut in time"
