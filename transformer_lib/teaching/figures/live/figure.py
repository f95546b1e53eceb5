"""A figure that answers: a still picture, and the script that takes its place where scripts run."""

import html
import json
import re
from pathlib import Path

from transformer_lib._language import _, script_words
from transformer_lib.teaching.figures.theme import ROLES_DARK, ROLES_LIGHT, stylesheet

_HERE = Path(__file__).parent

_RULES = """
.tl-live{display:block;max-width:46rem;margin:1rem 0;padding:.75rem 1rem 1rem;box-sizing:border-box;overflow-wrap:anywhere;
  border:1px solid var(--tl-line);border-radius:.5rem;background:var(--tl-surface);color:var(--tl-ink);
  font-family:system-ui,sans-serif;font-size:1rem;line-height:1.5}
.tl-live figcaption{margin:0 0 .5rem;padding:0;font-size:1rem;font-weight:600;text-align:left;color:var(--tl-ink)}
.tl-live .tl-controls{display:flex;flex-wrap:wrap;gap:.4rem 1.25rem;margin:0 0 .6rem}
.tl-live .tl-controls:empty{display:none}
.tl-live label{display:flex;flex-wrap:wrap;align-items:center;gap:.25rem .5rem;margin:0;font-size:.9375rem;color:var(--tl-ink)}
.tl-live label output{min-width:2.5em;font-variant-numeric:tabular-nums;font-weight:600}
.tl-live input,.tl-live select,.tl-live button{font:inherit;font-size:.9375rem;
  color:var(--tl-ink);accent-color:var(--tl-accent)}
.tl-live input[type=range]{width:9rem;max-width:100%;height:1.5rem;margin:0}
.tl-live input[type=text]{width:22rem}
.tl-live label,.tl-live input[type=text],.tl-live select{max-width:100%}
.tl-live input[type=text],.tl-live select,.tl-live button{min-height:2rem;padding:.15rem .6rem;box-sizing:border-box;
  border:1px solid var(--tl-line);border-radius:.35rem;background:var(--tl-card)}
.tl-live button{cursor:pointer}
.tl-live button:disabled{color:var(--tl-muted);cursor:default}
.tl-live :focus-visible{outline:3px solid var(--tl-accent);outline-offset:2px}
.tl-live .tl-stage{overflow-x:auto}
.tl-live svg{display:block;width:100%;height:auto;max-width:100%}
.tl-live .tl-stage>svg{max-width:44rem}
.tl-live svg text{fill:var(--tl-ink);font-size:13px;font-family:system-ui,sans-serif;font-variant-numeric:tabular-nums}
.tl-live svg text.tl-quiet{fill:var(--tl-muted)}
.tl-live table{width:auto;margin:0;border-collapse:collapse;font-size:.875rem;color:inherit;background:none;
  font-variant-numeric:tabular-nums}
.tl-live th,.tl-live td{padding:.15rem .4rem;border:1px solid var(--tl-line);text-align:right;background:none;color:inherit}
.tl-live th{color:var(--tl-muted);font-weight:600}
.tl-live .tl-says{margin:.5rem 0 0;min-height:3em;font-size:.9375rem}
.tl-live .tl-wrong{color:var(--tl-wrong)}
.tl-live:has(.tl-wrong) .tl-stage{opacity:.35}
"""


def in_script(data: dict) -> str:
    """Return `data` as it may stand inside a script element, which `</` could end."""
    return json.dumps(data, ensure_ascii=True, sort_keys=True).replace("</", "<\\/")


# Where text stands that is shown, and the scripts, which have texts of their own.
SHOWN = re.compile(r'(<script>.*?</script>)|<style>.*?</style>|(>| aria-label="| title=")([^<>"]+)(?=[<"])', re.DOTALL)


def in_language(page: str) -> str:
    """Return `page`, a figure or the map as it is stored in English, in the reader's language.

    A text is translated where all of it is a message; a script gets the words of what it shows.
    """

    def told(found: re.Match) -> str:
        script, before, text = found.groups()
        if script:
            return script.replace("const words = {}", f"const words = {in_script(script_words(script))}", 1)
        words = _(html.unescape(text)) if text else ""
        return found[0] if words == html.unescape(text or "") else before + html.escape(words)

    return SHOWN.sub(told, page)


class LiveFigure:
    """What a notebook shows as a figure that answers to its reader: see the functions of this package.

    `name` is the name of the script beside this module, `title` says what to see, `still` is the picture (SVG or a
    table) for where no script runs, `says` says in words what it shows, and `data` is what the script starts from.
    `uses` names further scripts that its own one needs. The same arguments give the same bytes. In the script,
    `start(parts, data)` is called with the figure's parts. Texts in `data` are English: the script shows them by `_`.
    """

    def __init__(self, name: str, *, title: str, still: str, says: str, data: dict, uses: tuple[str, ...] = ()) -> None:
        self.name, self.title, self.still, self.says, self.data, self.uses = name, title, still, says, data, uses

    def __repr__(self) -> str:
        return f"{self.title}: {self.says}"

    def _repr_html_(self) -> str:
        style = stylesheet("tl-live", _RULES, light=ROLES_LIGHT, dark=ROLES_DARK)
        scripts = "".join((_HERE / f"{name}.js").read_text("utf-8") for name in ("words", "parts", *self.uses, self.name))
        data = in_script(self.data)
        start = f"start(partsOf(document.currentScript.parentElement), {data})"
        words = in_script(script_words(scripts + start))
        script = f"(() => {{\nconst words = {words}\n{scripts}\n{start}\n}})()"
        # JupyterLab takes arrows and letters for commands of its own, but not inside an element with the second attribute.
        return (
            f'<figure class="tl-live" data-figure="{self.name}">'
            f"{style}<figcaption>{html.escape(self.title)}</figcaption>"
            f'<div class="tl-controls"></div><div class="tl-stage">{self.still}</div>'
            f'<p class="tl-says" aria-live="polite">{html.escape(self.says)}</p>'
            f"<script>{script}</script></figure>"
        )
