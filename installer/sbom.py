#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says to programs what the files of a release are made of: SPDX 2.3 as JSON. installer/release calls it.

Libraries, licences and which program has them are taken from resources/licenses/README.md, versions and hashes from
where they are pinned. What is pinned and only compiled against is named, too. What the viewer's one file contains of the
system it was made on, installer/viewer wrote into CONTENTS. The same files make the same bytes.

usage: sbom.py VERSION FOLDER CONTENTS > FILE.json      for the packages in FOLDER, of SOURCE_DATE_EPOCH
"""

import hashlib
import json
import os
import re
import sys
import time
import uuid
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

ROOT = Path(__file__).resolve().parent.parent
# Debian's packages of libraries that are headers alone.
HEADERS = ("libcli11-dev", "libexpected-dev", "nlohmann-json3-dev")


class Pin(NamedTuple):
    """One file that a build fetches."""
    name: str
    version: str
    url: str
    hashes: list[str]  # of PyPI one for each machine


class Library(NamedTuple):
    """A line of the table of libraries."""
    name: str
    licence: str
    pin: str
    is_in_wheel: bool


def pins() -> dict[str, Pin]:
    """All that is pinned, by name. Raises ValueError for a line that says something else."""
    found = {}
    for line in (ROOT / "installer/portable/sources").read_text().splitlines():
        if line.startswith("#"):
            continue
        digest, path = line.split()
        match = re.fullmatch(r"(.+?)_(.+?)(_[a-z0-9]+\.deb|\.orig\.tar\.[a-z]+)", Path(path).name)
        if not match:
            raise ValueError(f"installer/portable/sources: {path} tells no version.")
        found[match[1]] = Pin(match[1], match[2], f"http://deb.debian.org/debian/pool/main/{path}", [digest])
    for name in ("portable/zig.txt", "cuda-headers.txt"):
        text = (ROOT / "installer" / name).read_text().replace("\\\n", "")
        for line in text.splitlines():
            if line.startswith("#"):
                continue
            package, version = line.split()[0].split("==")
            found[package] = Pin(package, version, f"https://pypi.org/project/{package}/{version}/",
                                 re.findall(r"sha256:([0-9a-f]{64})", line))
    return found


def libraries() -> list[Library]:
    """The table of libraries. Raises ValueError for a line without a licence."""
    found = []
    for line in (ROOT / "resources/licenses/README.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) != 6 or cells[0] in ("library", "---"):
            continue
        name, licence, pin, program, agent, _ = cells
        expression = " ".join(re.findall(r"`([^`]+)`", licence))
        if not expression:
            raise ValueError(f"resources/licenses/README.md: {name} has no licence.")
        found.append(Library(name, expression, pin, "yes" in (program, agent)))
    return found


def identifier(name: str) -> str:
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")


def package(name: str, version: str, licence: str, url: str, **more: object) -> dict[str, object]:
    return {"SPDXID": identifier(name), "name": name, "versionInfo": version, "downloadLocation": url, "filesAnalyzed": False,
            "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION", **more}


def of_pin(name: str, pin: Pin, licence: str) -> dict[str, object]:
    kind = "pypi" if "pypi.org" in pin.url else "deb/debian" if pin.url.endswith(".deb") else "generic"
    version = pin.version.replace("+", "%2B")
    # What comes with the compiler has a version of its own, but it is the compiler's that says what it is.
    shown = f"of ziglang {pin.version}" if pin.name == "ziglang" else pin.version
    return package(name, shown, licence, pin.url,
                   checksums=[{"algorithm": "SHA256", "checksumValue": digest} for digest in pin.hashes],
                   externalRefs=[{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                  "referenceLocator": f"pkg:{kind}/{pin.name}@{version}"}])


def of_system(line: str) -> tuple[str, dict[str, object]]:
    """How the viewer has it, and what it is, of a line of CONTENTS."""
    kind, name, digest, place, owner, version = line.split("\t")
    reference = {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                 "referenceLocator": f"pkg:{place}/{quote(owner.lower(), safe='')}@{quote(version, safe='')}"}
    if kind == "static":
        return kind, package(name, version, "NOASSERTION", "NOASSERTION", externalRefs=[reference],
                             comment=f"Compiled in. SHA-256 of Debian's list of its files: {digest}.")
    return kind, package(name, version, "NOASSERTION", "NOASSERTION", externalRefs=[reference],
                         comment=f"As the package {owner} has it; its licence stands in licenses/bundled/{owner}.txt of the file.",
                         checksums=[{"algorithm": "SHA256", "checksumValue": digest}])


def of_file(path: Path, version: str) -> dict[str, object]:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    licence = "Apache-2.0 AND GPL-3.0-or-later" if "-source." in path.name else \
        "GPL-3.0-or-later" if path.name.startswith("lanescope-viewer") else "Apache-2.0"
    return package(path.name, version, licence, "NOASSERTION", packageFileName=path.name,
                   supplier="Organization: The Lanescope authors",
                   checksums=[{"algorithm": "SHA256", "checksumValue": digest}])


def related(first: str, kind: str, second: str) -> dict[str, str]:
    return {"spdxElementId": identifier(first), "relationshipType": kind, "relatedSpdxElement": identifier(second)}


def describe(version: str, files: list[Path], contents: list[str]) -> dict[str, object]:
    """The document. `files` are what is given out; wheels and archives with a machine in their name hold programs for
    servers, and the viewer's one file has what `contents` says."""
    pinned = pins()
    contained = [library for library in libraries() if library.is_in_wheel]
    packages = [of_file(path, version) for path in files]
    relations = [related("DOCUMENT", "DESCRIBES", path.name) for path in files]
    programs = [path.name for path in files if re.search(r"(x86_64|aarch64)\.", path.name)]
    for library in contained:
        packages.append(of_pin(library.name, pinned[library.pin], library.licence))
        relations += [related(program, "STATIC_LINK", library.name) for program in programs]
    # What no library of the table names: headers of which nothing gets into a program but numbers, and one for a test.
    for name in sorted(set(pinned) - {library.pin for library in contained}):
        packages.append(of_pin(name, pinned[name], "NOASSERTION"))
        kind = "TEST_DEPENDENCY_OF" if name == "nvidia-nvml-dev" else "BUILD_DEPENDENCY_OF"
        relations += [related(name, kind, program) for program in programs]
    for kind, part in map(of_system, contents):
        packages.append(part)
        # Debian's packages have of the system what is headers alone; what else they need they say themselves.
        has = {"contains": r"lanescope-viewer-"}.get(
            kind, r"lanescope-viewer-|.*\.deb$" if str(part["name"]) in HEADERS else r"lanescope-viewer-")
        relations += [related(path.name, "CONTAINS" if kind == "contains" else "STATIC_LINK", str(part["name"]))
                      for path in files if re.match(has, path.name)]
    digest = hashlib.sha256(json.dumps(packages).encode()).hexdigest()
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"])))
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"lanescope-{version}",
            "documentNamespace": f"https://spdx.org/spdxdocs/lanescope-{version}-{uuid.uuid5(uuid.NAMESPACE_OID, digest)}",
            "creationInfo": {"created": created, "creators": ["Organization: The Lanescope authors", "Tool: installer/sbom.py"]},
            "packages": packages, "relationships": relations}


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: sbom.py VERSION FOLDER CONTENTS > FILE.json")
    try:
        lines = sorted(Path(sys.argv[3]).read_text().splitlines())
        print(json.dumps(describe(sys.argv[1], sorted(Path(sys.argv[2]).iterdir()), lines), indent=2))
    except (ValueError, KeyError) as error:
        sys.exit(f"sbom.py: {error}")
