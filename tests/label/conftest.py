"""A page that is closed again."""

import pytest

from label_page import PageClient


@pytest.fixture
def open_page(tmp_path):
    """Opens pages on answers in one file."""
    pages = []

    def opened(*given, **settings):
        pages.append(PageClient(tmp_path / "answers.db", *given, **settings))
        return pages[-1]

    yield opened
    for page in pages:
        page.close()


@pytest.fixture
def page(open_page):
    return open_page()
