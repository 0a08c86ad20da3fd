# shellcheck shell=bash
# What is installed: everything that belongs there, without a trace of the machine that built it.
prefix=$(cd "$(dirname "$(command -v csr-bench)")/.." && pwd)
sources=$(cd "$CLI_FOLDER/../.." && pwd)
has() { compgen -G "$prefix/$1" >/dev/null || fail "there is no $1"; }
for tool in $(all_tools); do
  has "bin/$tool"
  has "share/man/man1/$tool.1"
  has "share/bash-completion/completions/$tool"
  has "share/zsh/site-functions/_$tool"
  has "share/fish/vendor_completions.d/$tool.fish"
done
for file in 'lib*/libcsrkit.so' 'lib*/cmake/csrkit/csrkitConfig.cmake' 'lib*/pkgconfig/csrkit.pc' include/csrkit.h \
  include/csrkit/core/matrix/csr_matrix.h share/doc/csrkit/LICENSE share/doc/csrkit/docs/python.md; do
  has "$file"
done
if has_gpu_code; then has 'lib*/libcsrkit_gpu.so.*'; fi

grep -rlF -e "$sources" "$prefix/bin" "$prefix"/lib* "$prefix/libexec" "$prefix/share" "$prefix/include" >traces || true
while read -r file; do
  fail "$file names the folder that it was built in: $(grep -aoe "${sources}[[:print:]]*" "$file" | head -3)"
done <traces
