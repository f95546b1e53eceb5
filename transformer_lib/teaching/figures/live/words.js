// Returns `text`, which may be a template with values, in the reader's language. The keys of `words` have {} for each value, their
// texts {0}, {1} and so on.
function _(text, ...values) {
  const english = [text].flat().join("{}")
  let at = 0
  return (words[english] ?? english).replace(/\{(\d*)\}/g, (found, place) => values[place || at++])
}

