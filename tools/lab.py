"""Open the notebooks in JupyterLab, on their list of chapters: `python -m tools.lab [an option of jupyter lab ...]`."""

import os
import sys

import nbformat
from jupyterlab.labapp import LabApp

from tools import notebooks


def main():
    print("Opening the list of chapters in JupyterLab; Ctrl+C in this window ends it.", flush=True)
    os.chdir(notebooks.ROOT)  # JupyterLab follows no link out of the folder that it is started in
    os.environ.pop("TRANSFORMER_LIB_QUIET", None)  # a reader sees how far a training is
    notary = nbformat.sign.NotebookNotary()  # JupyterLab draws no SVG of a notebook that it does not trust
    for path in notebooks.all_notebooks() + notebooks.deeper_notebooks():
        notary.sign(notebooks.read(path))
    options = ["--LabApp.default_url=/lab/tree/notebooks/README.md"]
    options.append(f"--LabApp.app_settings_dir={notebooks.ROOT / 'tools' / 'lab_settings'}")
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # root, as in a container
        options.append("--allow-root")
    LabApp.launch_instance([*options, *sys.argv[1:]])


if __name__ == "__main__":
    main()
