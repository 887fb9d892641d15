"""Give thousands of random inputs to the native part and to its twin.

The first difference or sanitizer report ends the search with a nonzero exit status and prints the command that
reproduces it. `--native` takes a build of the module with sanitizers, which `make sanitize` makes.
"""

import argparse
import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path


def load(folder: Path) -> None:
    """Load the native part from a folder instead of the installed one."""
    name = "cranfield.native._native"
    found = [path for ending in importlib.machinery.EXTENSION_SUFFIXES for path in folder.glob(f"**/_native{ending}")]
    if not found:
        sys.exit(f"there is no compiled module in {folder}: is there a C++ compiler?")
    loader = importlib.machinery.ExtensionFileLoader(name, str(found[0]))
    module = importlib.util.module_from_spec(importlib.util.spec_from_file_location(name, found[0], loader=loader))
    loader.exec_module(module)
    sys.modules[name] = module


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--inputs", type=int, default=20_000, help="number of inputs (20000)")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4)), help="seed (a random one)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (one for each processor)")
    parser.add_argument("--kind", help="try only this kind of input")
    parser.add_argument("--only", type=int, help="try only the input of that kind with this number")
    parser.add_argument("--native", type=Path, help="the folder with the native part to test")
    chosen = parser.parse_args()
    if chosen.native:
        load(chosen.native)
    from tests.fuzz.exploring import KINDS, explore, one

    if chosen.only is not None:
        print(one(chosen.kind, chosen.seed, chosen.only))
        return
    kinds = {chosen.kind: KINDS[chosen.kind]} if chosen.kind else KINDS
    again = 'make sanitize FUZZ="{}"' if chosen.native else "python -m tests.fuzz {}"
    sys.exit(not explore(chosen.inputs, chosen.seed, chosen.jobs, kinds, again))


if __name__ == "__main__":
    main()
