/* What torch does for the Python: the few operations on vectors that the other files need.

   A vector is a Float32Array. A sequence of vectors, (seq, d_model), is an array of them. There is no axis for the batch:
   one sentence at a time. */
((transformer_lib) => {
  "use strict";

  /** Return the sum of the products of `a` and `b`, both (width). */
  function dot(a, b) {
    let sum = 0;
    for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
    return sum;
  }

  /** Return a + b. Shapes: all three are (seq, width). */
  function add(a, b) {
    return a.map((row, place) => row.map((number, i) => number + b[place][i]));
  }

  /** Return the softmax of `scores`, (width). A score of -∞ becomes 0. */
  function softmax(scores) {
    const largest = scores.reduce((a, b) => Math.max(a, b));
    const powers = Float64Array.from(scores, (score) => Math.exp(score - largest));
    const sum = powers.reduce((a, b) => a + b);
    return Float32Array.from(powers, (power) => power / sum);
  }

  /** Return the logarithms of the softmax of `scores`, (width), in double precision. */
  function log_softmax(scores) {
    const largest = scores.reduce((a, b) => Math.max(a, b));
    const sum = scores.reduce((total, score) => total + Math.exp(score - largest), 0);
    return Float64Array.from(scores, (score) => score - largest - Math.log(sum));
  }

  /** Return the place of the largest number of `scores`, (width); the first one, if several are largest. */
  function argmax(scores) {
    return scores.reduce((best, score, place) => (score > scores[best] ? place : best), 0);
  }

  /** x Wᵀ + b for each row x. `parameters` holds `name.weight`, (wide_out, wide_in), and `name.bias` where there is one. */
  class Linear {
    constructor(parameters, name) {
      this.weight = parameters.get(`${name}.weight`); // (wide_out, wide_in)
      this.bias = parameters.get(`${name}.bias`)?.[0]; // (wide_out)
    }

    /** Shapes: `x` is (seq, wide_in); returns (seq, wide_out). */
    forward(x) {
      return x.map((row) =>
        Float32Array.from(this.weight, (weights, i) => dot(weights, row) + (this.bias ? this.bias[i] : 0)),
      );
    }
  }

  /** Return the number whose half precision has these 16 `bits`: a sign, 5 bits of exponent, 10 of fraction. */
  function from_half(bits) {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 0x1f;
    const fraction = bits & 0x3ff;
    if (exponent === 0) return sign * 2 ** -24 * fraction;
    if (exponent === 0x1f) return fraction ? NaN : sign * Infinity;
    return sign * 2 ** (exponent - 25) * (1024 + fraction);
  }

  /**
   * Read the weights as the site's build wrote them: numbers in half precision, low byte first, in base64.
   * `shapes` is a list of [name, rows, columns] in the same order. Returns a map from each name to (rows, columns).
   */
  function read_parameters(shapes, base64) {
    const bytes = atob(base64);
    const values = new Float32Array(bytes.length / 2);
    for (let i = 0; i < values.length; i++) {
      values[i] = from_half(bytes.charCodeAt(2 * i) | (bytes.charCodeAt(2 * i + 1) << 8));
    }
    const parameters = new Map();
    let start = 0;
    for (const [name, rows, columns] of shapes) {
      const matrix = [];
      for (let row = 0; row < rows; row++) {
        matrix.push(values.subarray(start, start + columns));
        start += columns;
      }
      parameters.set(name, matrix); // (rows, columns)
    }
    if (start !== values.length) throw new Error(`the shapes hold ${start} numbers, the weights ${values.length}`);
    return parameters;
  }

  transformer_lib.tensors = { dot, add, softmax, log_softmax, argmax, Linear, from_half, read_parameters };
})((globalThis.transformer_lib ??= {}));
