"""A figure that answers, opened in the browser on a page of its own."""

from types import SimpleNamespace

import pytest


@pytest.fixture(scope="session")
def windows(browser):
    """A window with scripts and one without, and what the page in it asks for and complains about: opening takes long."""
    contexts = {scripts: browser.new_context(java_script_enabled=scripts, reduced_motion="reduce") for scripts in (True, False)}
    opened = {}
    for scripts, context in contexts.items():
        page = context.new_page()
        seen = opened[scripts] = SimpleNamespace(page=page, figure=page.locator("figure.tl-live"), requests=[], complaints=[])
        page.on("request", lambda request, seen=seen: seen.requests.append(request.url))
        page.on("pageerror", lambda error, seen=seen: seen.complaints.append(str(error)))
        page.on("console", lambda message, seen=seen: seen.complaints.append(message.text))
    yield opened
    for context in contexts.values():
        context.close()


@pytest.fixture
def touch(windows):
    """A function that opens a figure's HTML as the site would; no script may complain, and nothing may be asked for."""
    opened = []

    def open_figure(figure, *, width=1280, theme="light", scripts=True):
        seen = windows[scripts]
        opened.append(seen)
        seen.page.goto("about:blank")  # what the test before has left behind goes
        seen.page.set_viewport_size({"width": width, "height": 900})
        seen.requests.clear()
        seen.complaints.clear()
        seen.page.set_content(
            f'<!doctype html><html lang="en" data-theme="{theme}"><title>A test</title><body style="margin:16px 25px">'
            f'<main><h1 style="color:gray">A test</h1>{figure if isinstance(figure, str) else figure._repr_html_()}</main>'
        )
        return seen

    yield open_figure
    assert [(seen.requests, seen.complaints) for seen in opened if seen.requests or seen.complaints] == []


@pytest.fixture
def slide():
    """A function that moves the slider with this label to its `index`-th value, by keyboard."""

    def move(seen, label, index):
        slider = seen.figure.get_by_role("slider", name=label)
        slider.press("Home")
        for _ in range(index):
            slider.press("ArrowRight")

    return move


@pytest.fixture
def choose():
    """A function that chooses the `index`-th entry of the list with this label."""

    def move(seen, label, index):
        seen.figure.get_by_role("combobox", name=label).select_option(index=index)

    return move
