"""A figure that answers, opened in the browser on a page of its own."""

from types import SimpleNamespace

import pytest


def watched(context):
    """Return a new window in which a figure can be opened, and what it asks for and complains about."""
    page = context.new_page()
    seen = SimpleNamespace(page=page, figure=page.locator("figure.tl-live"), requests=[], complaints=[])
    page.on("request", lambda request: seen.requests.append(request.url))
    page.on("pageerror", lambda error: seen.complaints.append(str(error)))
    page.on("console", lambda message: seen.complaints.append(message.text))
    return seen


@pytest.fixture(scope="session")
def windows(browser):
    """A function that returns the `index`-th window, with scripts or without: it stays open, since opening takes long."""
    contexts = {scripts: browser.new_context(java_script_enabled=scripts, reduced_motion="reduce") for scripts in (True, False)}
    opened = {True: [], False: []}

    def window(scripts, index):
        while len(opened[scripts]) <= index:
            opened[scripts].append(watched(contexts[scripts]))
        return opened[scripts][index]

    yield window
    for context in contexts.values():
        context.close()


@pytest.fixture
def touch(windows):
    """A function that opens a figure's HTML as the site would; what its script complains about stands in `.complaints`."""
    used = {True: 0, False: 0}

    def open_figure(figure, *, width=1280, theme="light", scripts=True):
        seen = windows(scripts, used[scripts])
        used[scripts] += 1
        page = seen.page
        page.goto("about:blank")  # what the test before has left behind goes
        page.set_viewport_size({"width": width, "height": 900})
        background = {"light": "#ffffff", "dark": "#14181d"}[theme]
        seen.requests.clear()
        seen.complaints.clear()
        page.set_content(
            f'<!doctype html><html lang="en" data-theme="{theme}"><title>A test</title>'
            f'<body style="margin:16px 25px;background:{background}"><main><h1 style="color:gray">A test</h1>'
            f"{figure._repr_html_()}</main>"
        )
        return seen

    return open_figure


@pytest.fixture
def slide():
    """A function that moves the slider with this label to its `index`-th value, by keyboard."""

    def move(seen, label, index):
        slider = seen.figure.get_by_role("slider", name=label)
        slider.focus()
        seen.page.keyboard.press("Home")
        for _ in range(index):
            seen.page.keyboard.press("ArrowRight")

    return move


@pytest.fixture
def choose():
    """A function that chooses the `index`-th entry of the list with this label, by keyboard."""

    def move(seen, label, index):
        seen.figure.get_by_role("combobox", name=label).focus()
        seen.page.keyboard.press("Home")
        for _ in range(index):
            seen.page.keyboard.press("ArrowDown")

    return move
