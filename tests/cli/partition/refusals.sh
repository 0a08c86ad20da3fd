# shellcheck shell=bash
# What csr-partition refuses, and that it leaves nothing behind.
csr-generate erdos-renyi graph.csr --set rows=50 --set cols=50 --set nnz=400 --quiet
csr-generate erdos-renyi wide.csr --set rows=40 --set cols=90 --set nnz=400 --quiet

echo 1 >one.txt
refused() { # refused CODE TEXT ARGUMENTS...
  local code=$1 text=$2
  shift 2
  expect "$code" csr-partition "$@"
  says "$text"
  no_file out.csr
}
refused 2 "--parts says for how many ranks" graph.csr out.csr --method blocks
refused 2 "2 does not divide 3" graph.csr out.csr --parts 2,3 --method blocks
refused 2 "4 is there twice" graph.csr out.csr --parts 4,4 --method blocks
refused 2 "there can be no more parts than rows" graph.csr out.csr --parts 51 --method blocks
refused 2 "--parts" graph.csr out.csr --parts 0 --method blocks
refused 2 "expected one of --method NAME and --partition-from FILE" graph.csr out.csr --parts 2
refused 2 "--method" graph.csr out.csr --parts 2 --method scotch
refused 2 "--passes is for --method stream" graph.csr out.csr --parts 2 --method blocks --passes 3
refused 2 "carries no partition" graph.csr out.csr --parts 2 --method carried
refused 3 "expected 50 numbers" graph.csr out.csr --parts 2 --partition-from one.txt
seq 0 49 | awk '{ print $1 % 6 }' >six.txt
refused 2 "expected a number that divides 6" graph.csr out.csr --parts 4 --partition-from six.txt
csr-generate erdos-renyi long.csr --set rows=5000 --set nnz=5000 --quiet
seq 0 4999 >many.txt
refused 2 "at most 4096 smaller ones, not of 5000; ask for 5000 parts alone" long.csr out.csr --parts 2 --partition-from many.txt
refused 5 "more than the limit of 1000" graph.csr out.csr --parts 2 --method stream --memory-limit 1000
refused 5 "the lists of the parts take" graph.csr out.csr --parts 2,10 --method blocks --memory-limit 1000
refused 4 "cannot" missing.csr out.csr --parts 2 --method blocks
refused 2 "community, stream and blocks take any shape" wide.csr out.csr --parts 2 --method metis
csr-partition graph.csr out.csr --parts 2 --method blocks --quiet
expect 2 csr-partition graph.csr out.csr --parts 2 --method blocks
says "--force"
expect 0 csr-partition out.csr out.csr --parts 5 --method blocks --force
expect 0 csr-info out.csr --json
equals "$(json levels.0.parts)" 5
