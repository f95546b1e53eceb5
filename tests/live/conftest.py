"""A figure that answers, opened in the browser on a page of its own."""

from types import SimpleNamespace

import pytest


@pytest.fixture
def touch(browser):
    """A function that opens a figure's HTML as the site would; what its script complains about stands in `.complaints`."""
    contexts = []

    def open_figure(figure, *, width=1280, theme="light", scripts=True):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, java_script_enabled=scripts, reduced_motion="reduce"
        )
        contexts.append(context)
        page = context.new_page()
        seen = SimpleNamespace(page=page, figure=page.locator("figure.tl-live"), requests=[], complaints=[])
        page.on("request", lambda request: seen.requests.append(request.url))
        page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        page.on("console", lambda message: seen.complaints.append(message.text))
        background = {"light": "#ffffff", "dark": "#14181d"}[theme]
        page.set_content(
            f'<!doctype html><html lang="en" data-theme="{theme}"><title>A test</title>'
            f'<body style="margin:16px 25px;background:{background}"><main><h1 style="color:gray">A test</h1>'
            f"{figure._repr_html_()}</main>"
        )
        return seen

    yield open_figure
    for context in contexts:
        context.close()


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
