"""clang-tidy over every C++ file that the build compiles, fuzzers aside. A file that was clean is read again only when it, a header of the tree
that it includes, its command or .clang-tidy has changed: build/tidy.json remembers sums of their contents. The plugin tidy_scope.cpp, made
here, keeps the checks to the declarations of this tree.

  tidy.py BUILD [FILE…]        the files named, or all; complaints are printed as they are found; exit status 1 if there are any
  tidy.py BUILD --jobs 1"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
PLUGIN = ROOT / "cmake/tidy_scope.cpp"


def dependencies(build):
    """What each object was made of, of the tree alone: {object: [file]} with paths from the root."""
    answer, current = {}, None
    for line in subprocess.run(["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True, check=True).stdout.splitlines():
        if line and not line[0].isspace():
            current = answer.setdefault(line.split(": #deps")[0], [])
        elif line.strip():
            path = pathlib.Path(os.path.normpath(build / line.strip()))
            if path.is_relative_to(ROOT):
                current.append(path)
    return answer


def sum_of(entry, headers, contents):
    """Of all that decides what clang-tidy says of one file."""
    total = hashlib.sha256(entry["command"].encode())
    for path in sorted({ROOT / ".clang-tidy", PLUGIN, pathlib.Path(entry["file"]), *headers}):
        if path not in contents:
            # The precompiled header is made of headers that are in the list of dependencies.
            contents[path] = b"" if path.suffix in (".pch", ".cxx") else hashlib.sha256(path.read_bytes()).digest() if path.exists() else b"-"
        total.update(contents[path])
    return total.hexdigest()


def make_plugin(build):
    library = build / "tidy_scope.so"
    if not library.exists() or library.stat().st_mtime < PLUGIN.stat().st_mtime:
        flags = subprocess.run(["llvm-config-19", "--cxxflags"], capture_output=True, text=True, check=True).stdout.split()
        subprocess.run(["clang++-19", "-shared", "-fPIC", "-O1", "-o", str(library), str(PLUGIN), *flags, "-fno-rtti", "-std=c++20"], check=True)
    return library


def tidy(build, plugin, entry):
    done = subprocess.run(["clang-tidy-19", f"--load={plugin}", "--quiet", "-p", str(build), "--warnings-as-errors=*", entry["file"]], capture_output=True, text=True)
    return done.returncode, done.stdout + (done.stderr if done.returncode and not done.stdout else "")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("build", type=pathlib.Path)
    options.add_argument("files", nargs="*")
    options.add_argument("--jobs", type=int, default=os.cpu_count())
    options = options.parse_args()
    build = options.build.resolve()
    wanted = {str((ROOT / name).resolve()) for name in options.files}
    plugin, made_of, contents = make_plugin(build), dependencies(build), {}
    record = build / "tidy.json"
    clean = json.loads(record.read_text()) if record.exists() else {}
    work = {}
    if "STRATA_UNITY:BOOL=ON" in (build / "CMakeCache.txt").read_text():
        sys.exit(f"{build} compiles several files at once, and clang-tidy reads them one by one: configure it with -DSTRATA_UNITY=OFF")
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"])
        if path.suffix != ".cpp" or path.name.endswith("_fuzz.cpp") or path.is_relative_to(build) or (wanted and str(path) not in wanted):
            continue
        words = shlex.split(entry["command"])
        key = sum_of(entry, made_of.get(words[words.index("-o") + 1], []), contents)
        name = str(path.relative_to(ROOT))
        if clean.get(name) != key:
            work[name] = (entry, key)
    if wanted - {str(ROOT / name) for name in work} - {str(ROOT / name) for name in clean}:
        sys.exit("not compiled by this build: " + " ".join(sorted(wanted)))
    failed, done, shown = [], 0, time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = {pool.submit(tidy, build, plugin, entry): name for name, (entry, _) in work.items()}
        for future in concurrent.futures.as_completed(running):
            name, (status, said) = running[future], future.result()
            done += 1
            if status:
                failed.append(name)
                print(f"{name}:\n{said}", flush=True)
            else:
                clean[name] = work[name][1]
                record.write_text(json.dumps(clean, indent=0, sort_keys=True))
            if time.monotonic() - shown > 15 or done == len(work):
                shown = time.monotonic()
                print(f"  [{done}/{len(work)}]{f' {len(failed)} with complaints' if failed else ''}", file=sys.stderr, flush=True)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
