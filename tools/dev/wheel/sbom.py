#!/usr/bin/env python3
"""sbom.py LIBRARIES.tsv VERSION > imrec.cdx.json - what a wheel is made of, as CycloneDX 1.5.

LIBRARIES.tsv has a line for each library that is linked: Debian's name of its source, its version there, its licence as
an SPDX expression (tools/dev/wheel/libraries writes it). No date and no random number is in it: two builds give equal bytes.
"""
import json
import sys
from urllib.parse import quote


def component(name, version, licence):
    purl = f"pkg:deb/debian/{quote(name)}@{quote(version, safe='')}?arch=source"
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl,
            "licenses": [{"expression": licence}]}


def bill(rows, version):
    purl = f"pkg:pypi/imrec@{version}"
    parts = [component(*row) for row in rows]
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
            "metadata": {"component": {"type": "library", "bom-ref": purl, "name": "imrec", "version": version, "purl": purl,
                                       "licenses": [{"expression": "Apache-2.0"}]}},
            "components": parts,
            "dependencies": [{"ref": purl, "dependsOn": [part["bom-ref"] for part in parts]}]}


if __name__ == "__main__":
    with open(sys.argv[1]) as lines:
        table = sorted(line.rstrip("\n").split("\t") for line in lines)
    print(json.dumps(bill(table, sys.argv[2]), indent=1))
