"""The course's colours, and the stylesheet that the map, the quiz and the matrix tables share."""

# One colour per role in the whole course.
COLOURS: dict[str, str] = {
    "query": "#0285d2",
    "key": "#dc7b05",
    "value": "#009f60",
    "mask": "#3d475f",
    "residual": "#834a00",
    "encoder": "#3f1c8f",
    "decoder": "#6b001a",
    "position": "#b485a8",
    "ink": "#1b1f24",
    "muted": "#5b6470",
}

_LIGHT = {
    "ink": COLOURS["ink"],
    "muted": COLOURS["muted"],
    "line": "#8a939e",
    "surface": "#ffffff",
    "card": "#f3f5f8",
    "accent": "#00568f",
    "on-accent": "#ffffff",
    "right": "#00694b",
    "wrong": "#a33f00",
    "encoder": COLOURS["encoder"],
    "decoder": COLOURS["decoder"],
    "residual": COLOURS["residual"],
    "position": COLOURS["position"],
}
_DARK = {
    "ink": "#e8ebef",
    "muted": "#a9b2bd",
    "line": "#7b8591",
    "surface": "#14181d",
    "card": "#232a32",
    "accent": "#8cc8ff",
    "on-accent": "#0b1620",
    "right": "#5fd0a8",
    "wrong": "#ffa36b",
    "encoder": "#a9a2ff",
    "decoder": "#ff92b4",
    "residual": "#d9b44a",
    "position": "#e3a3c6",
}

# Where each page says that it is dark: the site, JupyterLab, Colab, VS Code.
_DARK_PAGES = (
    'html[data-theme="dark"]',
    'body[data-jp-theme-light="false"]',
    'html[theme="dark"]',
    "body.vscode-dark",
)


# Attention's roles as text and as wide bars, for the figures that draw them in the page.
ROLES_LIGHT = {"query": "#00629b", "key": "#8f4e00", "value": "#00693f", "mask": COLOURS["mask"]}
ROLES_DARK = {"query": "#6cc0f5", "key": "#f0a94a", "value": "#4fd096", "mask": "#b9c2d0"}


def stylesheet(root: str, rules: str, *, light: dict[str, str] | None = None, dark: dict[str, str] | None = None) -> str:
    """Return a `<style>` element that gives `.root` the course's colours as variables, followed by `rules`.

    `var(--tl-ink)` and the like then follow the page's theme. `light` and `dark` add colours of the same names to it.
    """
    dark_pages = ",".join(f"{page} .{root}" for page in _DARK_PAGES)
    light_rule = f".{root}{{color-scheme:light;{_variables(_LIGHT | (light or {}))}}}"
    dark_rule = f"{dark_pages}{{color-scheme:dark;{_variables(_DARK | (dark or {}))}}}"
    return f"<style>{light_rule}{dark_rule}{' '.join(rules.split())}</style>"


def _variables(colours: dict[str, str]) -> str:
    return "".join(f"--tl-{name}:{value};" for name, value in colours.items())
