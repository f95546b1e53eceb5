"""Publish the course: `python -m tools.publish OWNER/NAME main`. The Pages workflow runs it, and names both by itself.

The notebooks that Colab opens go into _build/published, the site with its buttons into _build/html, and nothing else changes.
"""

import os
import re
import shutil
import subprocess
import sys

import yaml

from tools import notebooks
from transformer_lib._language import _

GITHUB, COLAB = "https://github.com", "https://colab.research.google.com"
BRANCH = "published"  # where the workflow pushes the notebooks


def site_address(repository):
    """Return where GitHub shows the site of a repository, given as OWNER/NAME."""
    owner, name = repository.lower().split("/")
    return f"https://{owner}.github.io/" + ("" if name == f"{owner}.github.io" else repository.split("/")[1] + "/")


def write_notebooks(repository, branch, folder, root=notebooks.ROOT, under=""):
    """Write the notebooks of `root` into `folder`: they know where the library is, and lead to the site's pages."""

    def to_site(text):
        return re.sub(r"\]\((?:\.\./)+(book/\w+)\.md", rf"]({site_address(repository)}{under}\1.html", text)

    for path in sorted((root / "notebooks").rglob("[0-9]*.ipynb")):
        place, notebook = under / path.relative_to(root), notebooks.read(path)
        for cell in notebook.cells:
            if cell.id == "colab-badge":
                to = f"{COLAB}/github/{repository}/blob/{BRANCH}/{place.as_posix()}"
                cell.source = _("[Open in Colab]({link}): run this chapter in your browser, with nothing to install.", link=to)
            elif cell.id == "set-up":
                cell.source = cell.source.replace('\nREPOSITORY = ""\n', f'\nREPOSITORY = "{GITHUB}/{repository}"\n')
                cell.source = cell.source.replace('\nBRANCH = "main"\n', f'\nBRANCH = "{branch}"\n')
            elif cell.cell_type == "markdown":
                cell.source = to_site(cell.source)
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        notebooks.write(folder / place, notebook)
    readme = (root / "notebooks" / "README.md").read_text(encoding="utf-8")
    (folder / under / "notebooks" / "README.md").write_text(to_site(readme), encoding="utf-8", newline="\n")
    for name in ("LICENSE", "LICENSE-TEXT.md"):
        shutil.copy(notebooks.ROOT / name, folder)


def settings(repository, branch):
    """Return _config.yml with the address: a reader's edit goes to `branch`, Colab's button to the published notebooks."""
    book = yaml.safe_load((notebooks.ROOT / "_config.yml").read_text(encoding="utf-8"))
    book["repository"] = {"url": f"{GITHUB}/{repository}", "branch": BRANCH}
    book["launch_buttons"] = {"colab_url": COLAB}
    book["html"] |= dict.fromkeys(("use_repository_button", "use_issues_button", "use_edit_page_button"), True)
    extensions = book["sphinx"]["local_extensions"]  # their folders are looked up beside the settings
    extensions.update((name, str(notebooks.ROOT / folder)) for name, folder in extensions.items())

    config, site = book["sphinx"]["config"], site_address(repository)
    prefix = "/" + site.split("/", 3)[3]
    config.update(html_baseurl=site, ogp_site_url=site, notfound_urls_prefix=prefix)
    page = config["notfound_context"]
    page["body"] = page["body"].replace('href="/', f'href="{prefix}')
    # The theme has one branch for every button; this template is the edit button's own.
    edit = f"{GITHUB}/{repository}/edit/{branch}/{{{{ file_name }}}}"
    config["html_context"] |= {"edit_page_provider_name": "GitHub", "edit_page_url_template": edit}
    return book


def main(repository, branch):
    build = notebooks.ROOT / "_build"
    shutil.rmtree(build / "published", ignore_errors=True)
    write_notebooks(repository, branch, build / "published")
    (build / "_config.yml").write_text(yaml.safe_dump(settings(repository, branch)), encoding="utf-8")
    subprocess.run(["make", "print", "CONFIG=_build/_config.yml"], cwd=notebooks.ROOT, check=True)
    # What the download button gives is the notebook that finds its library.
    os.environ["TRANSFORMER_LIB_LANGUAGE"] = "ko"
    write_notebooks(repository, branch, build / "published", build / "ko", "ko/")
    for made, site in (("published", "html"), ("published/ko", "html/ko")):
        shutil.copytree(build / made / "notebooks", build / site / "_sources" / "notebooks", dirs_exist_ok=True)


if __name__ == "__main__":
    main(*(sys.argv[1:] or (os.environ["GITHUB_REPOSITORY"], os.environ["GITHUB_REF_NAME"])))
