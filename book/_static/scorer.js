/* Sphinx's weights, and for the search of this course: a chapter comes before what mentions it. */
var Scorer = {
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
  score: ([page, title, anchor, , score]) => {
    const plain = (text) => text.toLowerCase().replaceAll("-", " ");
    const words = plain(new URLSearchParams(location.search).get("q") ?? "").trim();
    if (!page.startsWith("notebooks/")) return score;
    const named = plain(title).includes(words) ? (anchor ? 100 : 200) : 0;
    return score + 20 + named - (parseInt(title) || 99) / 100; // of two chapters the earlier one
  },
};
/* A page that is opened as a file, or in a closed frame, may not fetch others: there the titles are enough. */
if (location.protocol === "file:" || origin === "null") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
/* Sphinx 7 looks words up as `terms[word]`: without a prototype, `constructor` and `__proto__` are words like others. */
const { setIndex } = Search, bare = Object.create(null, { hasOwnProperty: { value: {}.hasOwnProperty } });
Search.setIndex = (index) => {
  for (const terms of [index.terms, index.titleterms]) Object.setPrototypeOf(terms, bare);
  setIndex(index);
};
