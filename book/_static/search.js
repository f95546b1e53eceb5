/* What Sphinx's search does not know of this course: which chapter explains what, and which parts of a page are no text. */
{
  /* Korean words without their particles. */
  const stemmer = document.documentElement.lang === "ko" ? new Stemmer() : null;
  const bare = (text) => (stemmer ? text.split(/\s+/u).map((word) => stemmer.stemWord(word)).join(" ") : text);
  const plain = (text) => bare(text.trim().toLowerCase().replaceAll("-", " ").replace(/s$/u, ""));
  const TERMS = Object.entries(SEARCH_TERMS).map(([name, pages]) => [plain(name), pages]);
  let query, explaining;

  /** The pages that explain a term of this name; otherwise of the shortest name that has these words. */
  function pages_for(words) {
    const named = TERMS.filter(([name]) => ` ${name} `.includes(` ${words} `));
    return named.sort(([one], [other]) => one.length - other.length)[0]?.[1] ?? [];
  }

  /* A chapter that explains the term comes first, and before all the one that is named after it. */
  Scorer.score = ([page, title, anchor, , score]) => {
    if (anchor || !page.startsWith("notebooks/")) return score;
    const place = explaining.indexOf(page);
    return score + (plain(title).includes(query) ? 400 : 0) + (place < 0 ? 0 : 300 - 20 * place);
  };

  /* Sphinx gives the best result last. Korean words carry particles: a chapter may hold a term in no form that was typed. */
  const perform = Search._performSearch;
  Search._performSearch = (words, ...rest) => {
    query = plain(words);
    explaining = pages_for(query);
    const results = perform(words, ...rest);
    const { docnames, titles, filenames } = Search._index;
    const missing = explaining.filter((page) => results.every((result) => result[0] !== page || result[2]));
    for (const number of missing.reverse().map((page) => docnames.indexOf(page)).filter((number) => number >= 0))
      results.push([docnames[number], titles[number], "", null, 0, filenames[number]]);
    return results;
  };

  /* An excerpt is made of sentences. */
  const to_text = Search.htmlToText;
  const NO_TEXT = ".tl-map, .exported-to, .cell_input, details.hide, .header-article, #jb-print-docs-body";
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    page.querySelectorAll(NO_TEXT).forEach((part) => part.remove());
    return to_text(page.documentElement.outerHTML, anchor);
  };

  /* A page that is opened as a file may not fetch others: there the titles are enough. */
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}
