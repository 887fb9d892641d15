"""What a wheel must hold, and nothing else: `python .ci/wheel.py WHEEL …`."""

import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
LICENCES = ("LICENSE", "licenses/nanobind.txt", "licenses/robin-map.txt")  # ours, and those of compiled-in libraries
COMPILED = (".so", ".pyd", ".dylib")


def package_files() -> list[str]:
    """Every file of the package, Python or not."""
    folder = ROOT / "src" / "cranfield"
    files = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    return [path.as_posix() for path in files if "__pycache__" not in path.parts and path.suffix not in COMPILED]


def faults(wheel: Path) -> list[str]:
    """What is wrong with a wheel, in words."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    info = next((name.partition("/")[0] for name in names if name.endswith(".dist-info/METADATA")), "no dist-info")
    needed = {f"cranfield/{path}" for path in package_files()} | {f"{info}/licenses/{path}" for path in LICENCES}
    found = [f"it lacks {name}" for name in sorted(needed - names)]
    strangers = [name for name in sorted(names) if name.partition("/")[0] not in ("cranfield", info)]
    found += [f"{name} does not belong into it" for name in strangers]
    compiled = [name for name in names if name.endswith(COMPILED)]
    if wheel.name.endswith("-none-any.whl"):
        found += [f"{name} is compiled, but the wheel is for any machine" for name in compiled]
    elif [name for name in compiled if name.startswith("cranfield/native/_native.")] != compiled or not compiled:
        found.append(f"its compiled part should be cranfield/native/_native, and is {', '.join(compiled) or 'missing'}")
    return found


if __name__ == "__main__":
    wrong = [f"{wheel}: {fault}" for wheel in sys.argv[1:] for fault in faults(Path(wheel))]
    print("\n".join(wrong) or f"{len(sys.argv) - 1} wheels hold what they must")
    sys.exit(bool(wrong) or len(sys.argv) < 2)
