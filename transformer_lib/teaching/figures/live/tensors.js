// What torch does for the Python, for the figures that need it; the names are those of the site's tensors.js.

// The sum of the products of `a` and `b`.
const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0)

// The softmax of `scores`; a score of -∞ becomes 0.
function softmax(scores) {
  const largest = Math.max(...scores)
  const powers = scores.map((score) => Math.exp(score - largest))
  const sum = powers.reduce((a, b) => a + b)
  return powers.map((power) => power / sum)
}

// The number whose half precision has these 16 `bits`: a sign, 5 bits of exponent, 10 of fraction.
function from_half(bits) {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 0x1f
  const fraction = bits & 0x3ff
  return sign * (exponent ? 2 ** (exponent - 25) * (1024 + fraction) : 2 ** -24 * fraction)
}

// The weights as `in_half_precision` wrote them: an object from each name to a list of rows.
function read_parameters({ shapes, weights }) {
  const bytes = atob(weights)
  let at = 0
  const next = () => from_half(bytes.charCodeAt(at++) | (bytes.charCodeAt(at++) << 8))
  return Object.fromEntries(
    shapes.map(([name, rows, columns]) => [
      name,
      Array.from({ length: rows }, () => Array.from({ length: columns }, next)),
    ])
  )
}
