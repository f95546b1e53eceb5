"""The two tests that each chapter's exercises have."""

import re

import pytest


def two_tests(chapter, right, wrong):
    """Return them: each (name, answer) of `right` passes, and each (name, answer, hint) of `wrong` gets a line like `hint`."""

    @pytest.mark.parametrize(("name", "answer"), right)
    def passes(says, name, answer):
        line = says(getattr(chapter, name), answer)
        assert line.startswith(f"✓ {name}: "), line

    @pytest.mark.parametrize(("name", "answer", "hint"), wrong)
    def gets_its_hint(says, name, answer, hint):
        line = says(getattr(chapter, name), answer)
        assert line.startswith(f"✗ {name}: ") and re.search(hint, line), line

    return passes, gets_its_hint
