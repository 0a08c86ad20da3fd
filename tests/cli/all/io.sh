# shellcheck shell=bash
# --io is the same in every tool that reads a .csr file, and both ways give the same result.
expect 0 csr-import "$DATASETS/karate.mtx" karate.csr
for io in auto mmap read; do
  expect 0 csr-info karate.csr --io "$io"
  expect 0 csr-export karate.csr "$io.mtx" --io "$io"
  expect 0 csr-reorder karate.csr "$io.csr" --method degree --io "$io"
  expect 0 csr-spmm-cpu karate.csr -k 3 --repeat 1 --check --io "$io"
  expect 0 csr-spgemm-cpu karate.csr --repeat 1 --check --io "$io"
  expect 0 csr-bench karate.csr -k 3 --repeat 1 --io "$io"
done
cmp mmap.mtx read.mtx
for tool in csr-info csr-spmm-cpu csr-bench; do
  expect 2 "$tool" karate.csr --io pigeon
  says "--io"
done
