"""The pages as one PDF."""

import re

from tools.print_book import print_book


def test_pages_become_one_pdf_and_links_between_them_lead_inside_it(browser, html, tmp_path):
    pages = ["book/notation", "book/map", "notebooks/deeper/09_decoder"]  # with formulas, in two folders
    print_book(browser, html / "ko", pages, tmp_path / "print" / "book.pdf", "ko", "차례")
    pdf = (tmp_path / "print" / "book.pdf").read_bytes()
    assert pdf.startswith(b"%PDF-") and len(re.findall(rb"/Type /Page\b", pdf)) >= 3
    assert b"/Dest /book#2Fmap" in pdf or b"book/map" in pdf
    assert not (html / "ko" / "book" / "joined.html").exists()
