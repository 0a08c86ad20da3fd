# shellcheck shell=bash
# Fetched over file://, interrupted, resumed, checked, unpacked; then prepared from there.
command -v curl >/dev/null || { echo "skipped: curl is not installed"; exit 6; }
fetch=$CLI_FOLDER/../../datasets/fetch.sh
mkdir -p server/ring/raw
printf '0,1\n1,2\n2,0\n' | gzip -n >server/ring/raw/edge.csv.gz
echo 4 | gzip -n >server/ring/raw/num-node-list.csv.gz
echo 3 | gzip -n >server/ring/raw/num-edge-list.csv.gz
(cd server && python3 -m zipfile -c ring.zip ring)
printf '# a path\n0\t1\n1\t2\n' | gzip -n >server/path.txt.gz
# What a publisher sends instead of a file, and a file that was cut.
echo '<html>This file has moved.</html>' >server/page.tar.gz
printf '0 1\n%.0s' {1..9} >half
tar -czf server/whole.tar.gz half
head -c 60 server/whole.tar.gz >server/half.tar.gz
right=$(sha256sum <server/ring.zip)
columns='name file rows cols nnz_csr nnz_raw directed doubling source layout licence sha256 set member import_options class'
row() { printf '%s\t-\t4\t4\t3\t3\tyes\tnone\t%s\tzip\tCC0\t%s\tmission\t%s\t%s\tdirected graph\n' "$@"; }
{
  tr ' ' '\t' <<<"$columns"
  row ring "file://$PWD/server/ring.zip" "${right%% *}" ring '--format=ogb --add-inverse=false'
  row path "file://$PWD/server/path.txt.gz" - path.txt.gz --format=edge-list
  row forged "file://$PWD/server/ring.zip" "${right//[0-9]/0}" ring -
  row absent "file://$PWD/server/absent.zip" - ring -
  row page "file://$PWD/server/page.tar.gz" - page -
  row half "file://$PWD/server/half.tar.gz" - half -
  row manual 'by hand: a form' - ring -
} >catalog.tsv
get() { "$fetch" --to raw --catalog catalog.tsv "$@"; }
hears() { grep -qF -- "$1" err || { cat err >&2; fail "stderr does not say '$1'"; }; }
# A download that was cut short goes on.
mkdir -p raw/archives
head -c 100 server/ring.zip >raw/archives/ring-ring.zip.part
expect 0 get ring path
cmp server/ring.zip raw/archives/ring-ring.zip
hears 'path: fetched'
hears 'first seen'
expect 0 get ring path
hears 'ring: complete'
# What changes under the same name is noticed, though the catalogue knows no checksum.
rm raw/archives/path-path.txt.gz
printf '0\t2\n' | gzip -n >server/path.txt.gz
expect 3 get path
hears 'kept as raw/archives/path-path.txt.gz.wrong'
expect 3 get forged
[ ! -e raw/forged ] || fail "a file of the wrong checksum was unpacked"
expect 4 get absent
expect 4 get manual
hears "a form"
expect 2 get nobody
# What cannot be unpacked is no data set, nor what later downloads must match.
for name in page half; do
  for _ in 1 2; do
    expect 3 get $name
    hears "$name: cannot unpack raw/archives/$name-$name.tar.gz; if it is damaged, remove it"
    no_file "raw/$name"
  done
done
cp server/whole.tar.gz server/half.tar.gz
rm raw/archives/half-half.tar.gz
expect 0 get half
cmp half raw/half/half
# A set stands for its members, of which some cannot be had.
expect 4 get mission
hears 'ring: complete'
hears 'a form'
expect 2 "$fetch" ring
expect 2 "$fetch" ring --to
hears '--to needs a value'
expect 4 "$fetch" --to raw --catalog no_such.tsv ring
hears 'cannot read the catalogue no_such.tsv'
# Over HTTP, as from a publisher: from a server that goes on at a byte, and from one that cannot.
cat >serve.py <<'PYTHON'
import functools, http.server, os, sys
class Ranges(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words):
        print(self.command, self.path, self.headers.get("Range"), file=sys.stderr, flush=True)
    def do_GET(self):
        wanted, path = self.headers.get("Range"), self.translate_path(self.path)
        if not wanted or self.server.is_plain or not os.path.isfile(path):
            return super().do_GET()
        data = open(path, "rb").read()
        begin = int(wanted.removeprefix("bytes=").partition("-")[0])
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {begin}-{len(data) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(data) - begin))
        self.end_headers()
        self.wfile.write(data[begin:])
server = http.server.HTTPServer(("127.0.0.1", 0), functools.partial(Ranges, directory="server"))
server.is_plain = sys.argv[1] == "plain"
print(server.server_port, flush=True)
server.serve_forever()
PYTHON
for kind in ranges plain; do
  python3 serve.py $kind >port.$kind 2>asked.$kind &
  server=$!
  until [ -s port.$kind ]; do
    kill -0 $server 2>/dev/null || fail "the server ended: $(cat asked.$kind)"
    sleep 0.05
  done
  sed "s|file://$PWD/server|http://127.0.0.1:$(cat port.$kind)|" catalog.tsv >catalog.$kind.tsv
  mkdir -p "http.$kind/archives"
  head -c 100 server/ring.zip >"http.$kind/archives/ring-ring.zip.part"
  expect 0 "$fetch" --to "http.$kind" --catalog catalog.$kind.tsv ring </dev/null
  cmp server/ring.zip "http.$kind/archives/ring-ring.zip"
  [ -f "http.$kind/ring/ring/raw/edge.csv.gz" ] || fail "the archive is not unpacked"
  kill $server
  wait $server 2>/dev/null || true
done
grep -q 'bytes=100-' asked.ranges || fail "it did not go on where it was cut"
mkdir fake
cp catalog.tsv fake/
CSRKIT_DATASETS=$PWD/fake "$CLI_FOLDER/../../run_scripts/prepare.sh" --cache cache --raw raw ring >out 2>err ||
  { cat err >&2; fail "prepare refused what fetch brought"; }
equals "$(csr-info cache/ring.csr --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["rows"])')" 4
