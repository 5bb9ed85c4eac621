#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the wheel of a folder that `cmake --install` filled, and the source archive for platforms without a wheel,
which contains only this file and reports why. installer/wheel and pip call it.

The programs go into the environment's bin, the licences into the wheel's metadata, and all other files keep their
place below the prefix, so that the program finds its agent as usual. The same files produce the same bytes.

usage: makeWheel.py PREFIX VERSION MACHINE FOLDER      of SOURCE_DATE_EPOCH
       makeWheel.py VERSION FOLDER                     for other machines
"""

from __future__ import annotations  # pip reads this with any Python.

import base64
import gzip
import hashlib
import io
import os
import stat
import sys
import tarfile
import time
import zipfile
from pathlib import Path

from lanescope.needs import GLIBC, why_not_here

HERE = Path(__file__).parent


def _extras(extras: dict) -> list:
    """Returns the requirements of an optional part of the package, installed by name: pip install lanescope[fleet]."""
    return [field for name, needs in extras.items() for field in
            [("Provides-Extra", name), *(("Requires-Dist", f'{need}; extra == "{name}"') for need in needs)]]


def describe(version: str, licences: list[str]) -> str:
    """Returns the file METADATA: pyproject.toml and the page next to it."""
    import tomllib  # Not where pip may read this.
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    fields = [
        ("Metadata-Version", "2.4"),
        ("Name", project["name"]),
        ("Version", version),
        ("Summary", project["description"]),
        ("Author", ", ".join(author["name"] for author in project["authors"])),
        ("License-Expression", project["license"]),
        *(("License-File", name) for name in licences),
        ("Keywords", ",".join(project["keywords"])),
        *(("Classifier", classifier) for classifier in project["classifiers"]),
        ("Requires-Python", project["requires-python"]),
        *_extras(project["optional-dependencies"]),
        ("Description-Content-Type", "text/markdown"),
    ]
    page = (HERE / project["readme"]).read_text()
    return "".join(f"{name}: {value}\n" for name, value in fields) + "\n" + page


def collect(prefix: Path, version: str, tag: str) -> dict[str, bytes]:
    """Returns every file of the wheel except RECORD, by its name in the wheel, in the order of the wheel."""
    data, info = f"lanescope-{version}.data", f"lanescope-{version}.dist-info"
    documents = Path("share/doc/lanescope")
    files, licences = {}, {}
    for path in HERE.glob("lanescope/**/*.py"):
        files[path.relative_to(HERE).as_posix()] = path.read_bytes()
    for path in prefix.rglob("*"):
        if not path.is_file():
            continue
        place = path.relative_to(prefix)
        if place.parts[0] == "bin":
            files[f"{data}/scripts/{place.name}"] = path.read_bytes()
        elif place == documents / "LICENSE" or place.is_relative_to(documents / "licenses"):
            licences[place.relative_to(documents).as_posix()] = path.read_bytes()
        else:
            files[f"{data}/data/{place.as_posix()}"] = path.read_bytes()
    generator = f"Generator: lanescope {version}"
    described = {
        "METADATA": describe(version, sorted(licences)).encode(),
        "WHEEL": f"Wheel-Version: 1.0\n{generator}\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
        **{f"licenses/{name}": licences[name] for name in sorted(licences)},
    }
    return dict(sorted(files.items())) | {f"{info}/{name}": text for name, text in described.items()}


def record(files: dict[str, bytes], own_name: str) -> bytes:
    """Returns the file RECORD: name, hash and size of each."""
    lines = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    return "".join([*lines, f"{own_name},,\n"]).encode()


def write(wheel: Path, files: dict[str, bytes]) -> None:
    """Writes the archive, with the time of SOURCE_DATE_EPOCH for each file."""
    date = time.gmtime(max(int(os.environ["SOURCE_DATE_EPOCH"]), 315532800))[:6]  # A zip begins in 1980.
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, date)
            entry.create_system = 3  # Unix, so that the mode is one
            entry.external_attr = (stat.S_IFREG | (0o755 if "/scripts/" in name else 0o644)) << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)


def make_wheel(prefix: Path, version: str, machine: str, folder: Path) -> Path:
    tag = f"py3-none-manylinux_{GLIBC[0]}_{GLIBC[1]}_{machine}"
    files = collect(prefix, version, tag)
    own_name = f"lanescope-{version}.dist-info/RECORD"
    files[own_name] = record(files, own_name)
    wheel = folder / f"lanescope-{version}-{tag}.whl"
    write(wheel, files)
    return wheel


def make_excuse(version: str, folder: Path) -> Path:
    """Writes the source archive for platforms without a wheel: it contains nothing to compile and reports so."""
    paths = [*HERE.glob("*.*"), *HERE.glob("lanescope/*.py")]
    files = {path.relative_to(HERE).as_posix(): path.read_bytes() for path in paths}
    files["LICENSE"] = (HERE.parents[1] / "LICENSE").read_bytes()
    files["PKG-INFO"] = describe(version, ["LICENSE"]).encode()
    archive = folder / f"lanescope-{version}.tar.gz"
    with archive.open("wb") as out, gzip.GzipFile("", "wb", 9, out, 0) as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        for name, content in sorted(files.items()):
            entry = tarfile.TarInfo(f"lanescope-{version}/{name}")
            entry.size, entry.mtime = len(content), int(os.environ["SOURCE_DATE_EPOCH"])
            tar.addfile(entry, io.BytesIO(content))
    return archive


def build_wheel(*_: object) -> str:
    """Called by pip if no wheel fits."""
    sys.exit(why_not_here() or
             "The wheel of lanescope holds compiled programs: have pip 20.3 or newer fetch it, or make it with installer/wheel.")


if __name__ == "__main__":
    if len(sys.argv) == 5:
        print(make_wheel(Path(sys.argv[1]), sys.argv[2], sys.argv[3], Path(sys.argv[4])))
    elif len(sys.argv) == 3:
        print(make_excuse(sys.argv[1], Path(sys.argv[2])))
    else:
        sys.exit(f"usage: {Path(sys.argv[0]).name} [PREFIX] VERSION [MACHINE] FOLDER")
