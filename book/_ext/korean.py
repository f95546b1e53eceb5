"""Search in Korean: a word is found with whatever particle stands behind it."""

import re

from sphinx.search import SearchLanguage, languages

ENDINGS = (
    "으로부터|에서부터|에서는|에서도|으로는|으로도|이라는|이라고|에게서|까지는|부터는|보다는|처럼은|입니다|"
    "에서|에게|에는|에도|으로|로는|로도|로서|로써|까지|부터|마다|보다|처럼|만큼|이나|이란|라는|라고|하고|와의|과의|들은|들이|들을|들의|"
    "은|는|이|가|을|를|의|에|로|와|과|도|만|란|나|들"
)
STEM = rf"(?<=[가-힣a-z0-9])(?:{ENDINGS})$"


class SearchKorean(SearchLanguage):
    """Cuts the particle from a word, the same in the index and in what a reader asks for."""

    lang = "ko"
    language_name = "Korean"
    js_stemmer_code = f"function Stemmer() {{ this.stemWord = (word) => word.replace(/{STEM}/, '') }}"

    def stem(self, word: str) -> str:
        return re.sub(STEM, "", word.lower())


def setup(app):
    languages["ko"] = SearchKorean
    return {"parallel_read_safe": True, "parallel_write_safe": True}
