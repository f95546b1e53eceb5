"""Open the notebooks in JupyterLab, on their list of chapters: `python -m tools.lab [an option of jupyter lab ...]`."""

import os
import shutil
import sys

import nbformat
from jupyterlab.labapp import LabApp

from tools import notebooks
from transformer_lib._language import language


def main():
    print("Opening the list of chapters in JupyterLab; Ctrl+C in this window ends it.", flush=True)
    os.chdir(notebooks.ROOT)  # JupyterLab follows no link out of the folder that it is started in
    os.environ.pop("TRANSFORMER_LIB_QUIET", None)  # a reader sees how far a training is
    notary = nbformat.sign.NotebookNotary()  # JupyterLab draws no SVG of a notebook that it does not trust
    folder = "notebooks"
    if language() == "ko":  # `make book` writes _build/ko anew; what a reader changes stays in a copy
        folder, keep = "ko/lab/notebooks", lambda built, own: os.path.exists(own) or shutil.copy(built, own)
        for part in ("notebooks", "book"):
            shutil.copytree(f"_build/ko/{part}", f"ko/lab/{part}", copy_function=keep, dirs_exist_ok=True)
    for path in notebooks.ROOT.joinpath(folder).rglob("[0-9]*.ipynb"):
        notary.sign(notebooks.read(path))
    options = [f"--LabApp.default_url=/lab/tree/{folder}/README.md"]
    options.append(f"--LabApp.app_settings_dir={notebooks.ROOT / 'tools' / 'lab_settings'}")
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # root, as in a container
        options.append("--allow-root")
    LabApp.launch_instance([*options, *sys.argv[1:]])


if __name__ == "__main__":
    main()
