"""What there is to translate: the messages of each source, in the order of the text.

A source is a notebook, a page, or the texts of the library that a reader sees. Each Markdown cell of a notebook is one message,
known by the cell's id; so is what stands in for a figure (`ID/alt`). Each block of a page is one, known by the heading that it
stands under. The texts of the library are known by the function or the quiz that they stand in.
"""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.mdit_to_docutils.base import default_slugify
from myst_parser.parsers.mdit import create_md_parser
from ruamel.yaml import YAML

from tools import minutes, notebooks
from tools.address import WITHOUT_COLAB
from tools.translate.scripts import literals

FOLDER = notebooks.ROOT / "locales" / "ko"
# As in _config.yml.
MARKDOWN = create_md_parser(
    MdParserConfig(enable_extensions={"amsmath", "colon_fence", "deflist", "dollarmath", "tasklist"}, dmath_double_inline=True),
    RendererHTML,
)
# The line under a title: its numbers are counted, so they are no part of the message.
MINUTES = "*{minutes}*"
# Cells that a command writes: `tools.address`.
STAMPED = {"colab-badge"}
# Directives of a page whose text a reader sees; what stands in others is code, or nothing.
WITH_TEXT = re.compile(r"`{3,}\{(page-figure)\}")
WITH_SCRIPTS = ("teaching/figures", "teaching/explorer")
LETTERS = re.compile(r"[A-Za-z]{2,}")


@dataclass(frozen=True)
class Message:
    """One text to translate, and where it stands."""

    context: str
    text: str
    where: str = ""

    @property
    def key(self):
        return self.context, self.text


@dataclass(frozen=True)
class Source:
    """One file to translate and its PO file, which `name` names."""

    name: str
    path: Path

    @property
    def catalogue(self):
        return FOLDER / f"{self.name}.po"

    def messages(self):
        """Return each message once, in the order of the text."""
        if self.name == "site":
            found = of_site
        elif self.name == "folds":
            found = of_folds
        elif self.name in WITH_SCRIPTS:
            found = of_scripts
        elif self.name == "teaching/commands":
            found = of_commands
        elif self.path == notebooks.FOLDER / "README.md":
            found = of_page
        else:
            found = {"notebooks": of_notebook, "book": of_page}.get(self.path.parent.name, of_library)
        if found in (of_commands, of_folds, of_library, of_scripts):  # there one text has one translation
            return list({message.text: message for message in reversed(list(found(self.path)))}.values())[::-1]
        return list({message.key: message for message in found(self.path)}.values())


def all_sources():
    """Return every source by its name, in the order of the course; the texts of the library come last."""
    paths = [*notebooks.all_notebooks(), notebooks.FOLDER / "README.md", *sorted((notebooks.ROOT / "book").glob("*.md"))]
    sources = {name_of(path): path for path in paths}
    library = notebooks.ROOT / "transformer_lib" / "teaching"
    stems = sorted({path.stem for folder in ("quizzes", "exercises") for path in (library / folder).glob("[a-z]*.py")})
    sources |= {f"teaching/{stem}": library / stem for stem in stems}
    sources["teaching/common"] = library / "common"
    sources["teaching/figures"] = library / "figures" / "live"
    sources["teaching/explorer"] = notebooks.ROOT / "book" / "_static" / "translator"
    sources["teaching/commands"] = notebooks.ROOT / "transformer_lib" / "_commands.py"
    sources["folds"] = notebooks.FOLDER
    sources["site"] = notebooks.ROOT / "_toc.yml"
    return {name: Source(name, path) for name, path in sources.items()}


def name_of(path):
    return "start" if path.name == "README.md" else path.stem


def find(name):
    """Return the source called `name`, or whose name begins with that number; raise `SystemExit` with the names there are."""
    sources = all_sources()
    wanted = name.removesuffix(".po").removeprefix("locales/ko/")
    for source in sources.values():
        if source.name == wanted or re.match(rf"0?{re.escape(wanted)}_", source.name):
            return source
    raise SystemExit(f"There is no source called {name!r}. These are there:\n" + "\n".join(f"  {known}" for known in sources))


# Notebooks


def is_message(cell):
    return cell.cell_type == "markdown" and cell.id not in STAMPED


def text_of_cell(cell):
    """Return the message of a Markdown cell: its text, without the numbers of the line of minutes."""
    return minutes.LINE.sub(MINUTES, cell.source)


def alternative_text(output):
    """Return what stands in for the picture of an output, or None."""
    data = output.get("data", {})
    text = data.get("text/plain", "")
    return text if "image/png" in data and text and not text.startswith("<") else None


def of_notebook(path):
    for cell in notebooks.read(path).cells:
        if is_message(cell):
            yield Message(cell.id, text_of_cell(cell), f"{path.name}, cell {cell.id}")
        for output in cell.get("outputs", []):
            if text := alternative_text(output):
                yield Message(f"{cell.id}/alt", text, f"{path.name}, what the figure of cell {cell.id} shows")


def of_folds(folder):
    """Yield what the site calls folded cells: the titles that their code begins with, each once."""
    for path in notebooks.all_notebooks():
        for cell in notebooks.read(path).cells:
            if title := re.search(r"^# @title (.+)$", cell.source, re.MULTILINE):
                yield Message("fold", title[1], f"{path.name}, cell {cell.id}")


# Pages


@dataclass(frozen=True)
class Block:
    """A piece of a page: its lines, what has to be put before them again, and whether they are a message."""

    text: str
    context: str
    translatable: bool


def blocks(text):
    """Cut a page into blocks; their texts, joined by line ends, are the page.

    A block is what stands between two empty lines, a row of a table, or an entry of the glossary. Code, directives and the
    lines that hold something together are blocks too, and no messages.
    """
    section, lines, found = "", [], []

    def end(translatable=True, context=None):
        nonlocal section
        if not lines:
            return
        block = "\n".join(lines)
        lines.clear()
        if heading := re.match(r"#+ (.+)", block):
            section = default_slugify(plain(heading[1]))
        translatable = translatable and bool(LETTERS.search(block))
        found.append(Block(block, context or section, translatable))

    fence = glossary = comment = None
    for line in text.split("\n"):
        if fence:
            lines.append(line)
            if line.strip() == fence:
                end(translatable=bool(WITH_TEXT.match(lines[0])))
                fence = None
            continue
        if comment:
            lines.append(line)
            if "-->" in line:
                end(translatable=False)
                comment = None
            continue
        if glossary:
            if line == glossary or not line:
                end(context=lines[0] if lines else None)
                lines.append(line)
                end(translatable=False)
                glossary = glossary if not line else None
            else:
                lines.append(line)
            continue
        opening = re.match(r"(`{3,})(\{glossary\})?", line)
        if opening:
            end()
            lines.append(line)
            if opening[2]:
                end(translatable=False)
                glossary = opening[1]
            else:
                fence = opening[1]
        elif line.startswith("<!--"):
            end()
            lines.append(line)
            comment = "-->" not in line
            if not comment:
                end(translatable=False)
        elif not line or line.startswith(":::") or re.fullmatch(r"\|[-:| ]+\|", line):
            end()
            lines.append(line)
            end(translatable=False)
        elif line.startswith("|"):
            end()
            lines.append(line)
            end()
        else:
            lines.append(line)
    end()
    return found


def of_page(path):
    for block in blocks(path.read_text(encoding="utf-8")):
        if block.translatable:
            yield Message(block.context, block.text, f"{path.name}, under {block.context}")


def plain(text):
    """Return a line of Markdown as a reader sees it: what an anchor is made from."""
    (inline,) = [token for token in MARKDOWN.parse(text) if token.type == "inline"][:1] or [None]
    if inline is None:
        return text
    return "".join(token.content for token in inline.children if token.type in ("text", "code_inline", "math_inline"))


# What the site says around its pages

# The theme's words that stand on our pages: no catalogue of its own has them in Korean.
OF_THE_THEME = """
Skip to main content
Back to top
Search
Search the course
Breadcrumb
Home
On this page
previous
next
previous page
next page
Section Navigation
Color mode
Light
Dark
System Settings
Site navigation
Contents
Light/Dark
light/dark
Toggle primary sidebar
Toggle secondary sidebar
Print to PDF
Download this page
Download notebook file
Download source file
Table of Contents
Click to expand
Click to collapse
Error
Please activate JavaScript to enable the search functionality.
By
General Index
Indices
Click to show
Click to hide
alias of %s
Link to this heading
Link to this definition
Link to this term
Version warning
Main
Page
Copy
Copy to clipboard
Copied!
Failed to copy
""".strip().split("\n")


def of_site(path):
    """Yield the course's title, the parts' names, the theme's words, and what our extensions and the printed book say."""
    yield Message("course title", config()["title"], "_config.yml")
    for part in yaml_of(path)["parts"]:
        yield Message("part of the course", part["caption"], path.name)
    for text in OF_THE_THEME:
        yield Message("theme", text, "a word of the theme")
    for extension in sorted((notebooks.ROOT / "book" / "_ext").glob("*.py")):
        for text in said_in(parsed(extension)):
            yield Message(f"extension {extension.stem}", text, extension.name)
    for module in sorted((notebooks.ROOT / "tools" / "print_book").glob("*.py")):
        for text in said_in(parsed(module)):
            yield Message("printed book", text, f"print_book/{module.name}")
    for text in ("Open in Colab", "run this chapter in your browser, with nothing to install.", WITHOUT_COLAB):
        yield Message("badge", text, "the cell `colab-badge` of each notebook")


def yaml_of(path):
    return YAML(typ="safe").load(path.read_text(encoding="utf-8"))


def config():
    return yaml_of(notebooks.ROOT / "_config.yml")


# Texts of the library


def of_library(path):
    if path.name == "common":
        yield from of_common(path.parent)
        return
    quiz = path.parent / "quizzes" / f"{path.name}.py"
    if quiz.exists():
        yield from of_quiz(quiz)
    exercises = path.parent / "exercises" / f"{path.name}.py"
    if exercises.exists():
        yield from of_exercises(exercises)


def of_quiz(path):
    """Yield question, answers and explanations of a quiz. The file is read, not run."""
    where = f"quizzes/{path.name}"
    calls = [
        node for node in ast.walk(parsed(path)) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Question"
    ]
    for number, call in enumerate(sorted(calls, key=lambda call: call.lineno), start=1):
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        right = ast.literal_eval(given["correct"])
        yield Message(f"quiz {number}, question", ast.literal_eval(call.args[0]), where)
        for place, (answer, feedback) in enumerate(ast.literal_eval(given["answers"]), start=1):
            kind = "the right answer" if place == right + 1 else "a wrong answer"
            yield Message(f"quiz {number}, answer {place}", answer, f"{where}, {kind}")
            yield Message(f"quiz {number}, answer {place}, why", feedback, f"{where}, why it is {kind}")


def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def of_exercises(path):
    """Yield the hints of a chapter's exercises: each text of the file that is a sentence, and no name and no code."""
    for part in parsed(path).body:
        if isinstance(part, ast.FunctionDef | ast.ClassDef | ast.Assign):
            for text in texts_of(part):
                yield Message(f"exercise {getattr(part, 'name', 'several')}", text, f"exercises/{path.name}")


def of_common(folder):
    """Yield what the engines of quizzes and exercises say by themselves, and the words of the map."""
    engine = folder / "exercises" / "__init__.py"
    for part in parsed(engine).body:
        if isinstance(part, ast.FunctionDef | ast.ClassDef):
            for text in [*texts_of(part, is_shown=is_piece), *said_in(part)]:
                if "say(" not in text:
                    yield Message(f"exercise engine, {part.name.strip('_')}", text, "exercises/__init__.py")
    for text in said_in(parsed(folder / "quiz.py")):
        yield Message("quiz engine", text, "quiz.py")
    drawn = parsed(folder / "figures" / "model_map.py").body
    tables = [text for part in drawn if isinstance(part, ast.Assign | ast.AnnAssign) for text in texts_of(part, is_shown=str)]
    words = [text for text in tables if text not in NO_WORDS and LETTERS.search(text) and not NO_LABEL.fullmatch(text)]
    for text in [*words, *(text for part in drawn if isinstance(part, ast.FunctionDef) for text in shown_of(part))]:
        yield Message("figure model_map", text, "model_map.py")
    calls = [node for part in drawn for node in ast.walk(part) if isinstance(node, ast.Call) and len(node.args) > 5]
    names = [
        " ".join(line.value for line in call.args[5].elts).replace("- ", "-") for call in calls if len(call.args[5].elts) > 1
    ]
    links = [text for part in drawn for text in texts_of(part, is_shown=lambda text: ", chapter {" in text)]
    for text in [*links, *names]:
        yield Message("figure model_map, for voices", text, "model_map.py")


# In the tables of the map: chapters, and kinds of boxes and of words.
NO_LABEL = re.compile(r"[a-z]+(_[a-z]+)+|(box|heading|note|token)( [a-z]+)*|(?s:.*[;{].*)|<SOS> .*|.* <EOS>|I am a student")
NO_WORDS = {notebooks.module_name(path) for path in notebooks.all_notebooks()} - {"attention"}


def is_piece(text):
    """Whether a text of the engine is part of what a reader sees: a sentence, or a word with something put in."""
    return is_sentence(text) or ("{" in text and len(LETTERS.findall(re.sub(r"\{[^{}]*\}", "", text))) > 0)


def said_in(part):
    """Return the texts that a piece of code gives to `say`."""
    named = {node.targets[0].id: node.value for node in getattr(part, "body", []) if is_named(node)}
    for node in ast.walk(part):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "say":
            (given,) = node.args
            text = text_of(named.get(given.id) if isinstance(given, ast.Name) else given)
            if text:
                yield text


# What the commands call, and whose errors they show.
CALLED = ["_commands", "_train", "_runs", "_lines", "_files", "_named_data", "_checkpoints"]


def of_commands(path):
    """Yield the help of the commands, and the errors that a user of them can put right."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Call):
            helps = [keyword.value for keyword in node.keywords if keyword.arg in ("help", "description", "epilog")]
            for text in filter(None, map(text_of, helps)):
                yield Message("command help", text, path.name)
        if is_named(node) and (text := text_of(node.value)) and is_sentence(text):
            yield Message("command help", text, path.name)
    for text in said_in(parsed(path)):
        yield Message("command says", text, path.name)
    for name in CALLED:
        module = path.with_name(f"{name}.py")
        for node in ast.walk(parsed(module)):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                text = text_of(node.exc.args[0])
                if text and is_sentence(text):
                    yield Message("command error", text, module.name)


def text_of(node):
    """Return the text of a constant or of an f-string; None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return template(node) if isinstance(node, ast.JoinedStr) else None


# Words that a script shows alone; other single words are names.
LABEL = re.compile(
    r"(?:label|title|name|caption|textContent|foot)(?::| =)\s*$|pic\.title\((?:[^,\"`]+, ){2}$|\bone\(\"\w+\", $"
)
# What a figure shows alone, and what only a reader can tell from a name or a style.
SHOWN = {
    "adam_move": ["step", "1 rate", "{long} rates"],
    "attention_steps": [
        "words X",
        "memory",
        "queries",
        "scores",
        "weights",
        "output",
        "head {head}",
        "{whole - shown} more{bias}",
        "none",
        "causal",
    ],
    "beam_tree": [
        "step {i + 1}",
        "score {signed(score(one))}",
        "{chance} dropped",
        "{chance} stays?",
        "right",
        "no",
        "1 step",
        "{state.step} steps",
        "1 place",
        "{state.beam} places",
        "1 candidate",
        "{all} candidates",
        "ended",
        "tokens",
        "score",
    ],
    "clock_hands": ["shift k"],
    "forget_gate": ["value", "gradient", "weight w_h", "sheet, w_h = {state.w_h}", "whiteboard, f = {state.f}"],
    "learning_rate": ["step", "warm-up", "yours", "peak {short(peak)}"],
    "masked_sentence": ["scores", "mask", "weights", "end", "beginning"],
    "matrix_explorer": [
        "part",
        "parameters",
        "multiplications",
        "feed-forward",
        "norms (γ, β)",
        "{grouped(64 / scale)} numbers",
    ],
    "memory_plane": ["q, upwards", "score", "weight", "context {pair(context, 3)}"],
    "padding_slider": ["positive", "negative", "reader {data.seeds[i]}"],
    "review_reader": ["positive", "negative", "undecided", "word", "bag", "neighbour", "yours", "all"],
    "sentence_walk": ["embedding", "attention", "cross-attention", "feed-forward", "memory", "logits", "probabilities", "ids"],
    "shift": ["a mistake", "none", "says", "reads"],
    "softmax_temperature": ["score", "weight a"],
    "token_budget": ["Sorted", "batches", "batch"],
    "training_replay": ["given", "prob."],
    "which_run": ["{steps} steps"],
}
# One word that stands between what is put in: `${at + 1} of ${all}`, `${stack}, layer ${layer + 1}`.
BETWEEN = re.compile(r"\{[^{}]*\}(?: of |, layer )\{[^{}]*\}")
# Styles, selectors and what a script says to its engine.
NO_TEXT = re.compile(r"use strict|stroke=|color-mix|prefers-|px system-ui|^[.#;]|;[a-z-]+:|^[a-z]+:[a-z0-9(]|^tbody|^input, ")


def of_scripts(folder):
    """Yield what the figures that answer say, or the explorer: the texts of their scripts, and of the picture before them."""
    for path in sorted(folder.glob("*.js")):
        if folder.name == "translator" and path.stem not in ("box", "client", "explorer", "service"):
            continue
        found = []
        if (module := path.with_suffix(".py")).exists():
            found = [text for part in parsed(module).body if isinstance(part, ast.FunctionDef) for text in shown_of(part)]
        found += SHOWN.get(path.stem, [])
        for text, before in literals(path.read_text(encoding="utf-8")):
            if not NO_TEXT.search(text) and (
                is_sentence(text) or BETWEEN.fullmatch(text) or (LABEL.search(before) and re.fullmatch("[A-Za-z]{3,}", text))
            ):
                found.append(text)
        for text in found:
            yield Message(f"figure {path.stem}", text, path.name)


def shown_of(part):
    """Return the texts of a function that draws: sentences, and what stands between the tags of its pictures."""
    for text in texts_of(part, is_shown=lambda text: True):
        if "<" in text:
            pieces = re.findall(r">([^<>]+)<|aria-label=\"([^\"]+)\"|^([^<>]+)</", text)
            found = (piece.strip() for piece in "\0".join(map("\0".join, pieces)).split("\0"))
            yield from (piece for piece in found if LETTERS.search(re.sub(r"\{[^{}]*\}", "", piece)))
        elif is_sentence(text) and not NO_TEXT.search(text):
            yield text


def texts_of(part, is_shown=None):
    """Return the texts of a piece of code that a reader may see; what is put in stands in braces, as in the code."""
    skipped = set()
    for node in ast.walk(part):
        if isinstance(node, ast.Expr):  # a docstring
            skipped.add(id(node.value))
        if isinstance(node, ast.Raise) and getattr(getattr(node.exc, "func", None), "id", "") not in ("Hint", "_NotAttempted"):
            skipped.update(map(id, ast.walk(node)))
        # What stands inside a text that is put together.
        if isinstance(node, ast.JoinedStr):
            skipped.update(
                id(part) for value in node.values for part in [value, *ast.walk(value)] if isinstance(part, ast.Constant)
            )
    for node in ast.walk(part):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        elif isinstance(node, ast.JoinedStr):
            text = template(node)
        else:
            continue
        if (is_shown or is_sentence)(text):
            yield text


def is_named(node):
    return isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)


def template(node):
    """Return an f-string with `{expression}` where something is put in."""
    parts = []
    for value in node.values:
        if isinstance(value, ast.Constant):
            parts.append(value.value)
        else:
            parts.append("{" + ast.unparse(value.value) + "}")
    return "".join(parts)


def is_sentence(text):
    outside = re.sub(r"\{[^{}]*\}", "", text)
    return " " in outside.strip() and len(LETTERS.findall(outside)) > 1
