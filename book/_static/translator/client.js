/* The page's side of the translator: load it when it is first used, hand it requests, pass on what it tells.

   From a server it runs in a worker, so that the page stays alive meanwhile. A page that was opened as a file may start no
   worker: there the same scripts run in the page itself. */
((transformer_lib) => {
  "use strict";
  const _ = (...text) => transformer_lib._(...text); // it may be loaded later

  /** The scripts of a model, in an order in which each finds what it needs. The weights come before the last one. */
  const FILES = [
    "words.js",
    "tensors.js",
    "positional_encoding.js",
    "attention.js",
    "seq2seq.js",
    "masks.js",
    "encoder.js",
    "decoder.js",
    "transformer.js",
    "decoding.js",
    "translation.js",
    "service.js",
  ];
  const WEIGHTS = { translator: "weights.js", captions: "captions.js" };
  const folder = new URL(".", document.currentScript.src).href;
  const urls_of = (model) => [...FILES.slice(0, -1), WEIGHTS[model], ...FILES.slice(-1)].map((file) => folder + file);
  const urls = urls_of("translator");

  const loading = {}; // by model, a promise of a function that hands over requests, once something was asked
  const added = {}; // by address, a promise of a script in this page
  let last_id = 0;
  const listeners = new Map(); // id of a request → what to call

  function heard({ id, event }) {
    listeners.get(id)?.(event);
  }

  function load(model, progress) {
    loading[model] ??= (location.protocol === "file:" ? load_here : load_worker)(model, progress).catch((error) => {
      delete loading[model]; // the next request tries again
      throw error;
    });
    return loading[model];
  }

  /** Fetch the script at `url`, and return an address in this page at which it stands. */
  async function fetched(url, progress) {
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(answer.statusText);
    const parts = [];
    let bytes = 0;
    for (const reader = answer.body.getReader(); ; ) {
      const { done, value } = await reader.read();
      if (done) return URL.createObjectURL(new Blob(parts, { type: "text/javascript" }));
      parts.push(value);
      progress((bytes += value.length));
    }
  }

  /** Start the worker, and wait until it holds the weights. */
  async function load_worker(model, progress) {
    const urls = urls_of(model);
    try {
      urls.splice(-2, 1, await fetched(urls.at(-2), progress));
      return await new Promise((resolve, reject) => {
        const worker = new Worker(`${folder}worker.js`);
        worker.onerror = reject;
        worker.onmessage = () => {
          worker.onmessage = ({ data }) => heard(data);
          URL.revokeObjectURL(urls.at(-2));
          resolve((message) => worker.postMessage(message));
        };
        worker.postMessage({ urls, model });
      });
    } catch {
      throw new Error(_("the translator could not be loaded"));
    }
  }

  /** Add the script at `url` to the page, if it is not there. */
  function add(url) {
    added[url] ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = url;
      script.onload = resolve;
      script.onerror = () => {
        delete added[url];
        reject(new Error(_("the translator could not be loaded")));
      };
      document.head.append(script);
    });
    return added[url];
  }

  /** Add the scripts to the page, one after the other. */
  async function load_here(model) {
    for (const url of urls_of(model)) await add(url);
    return transformer_lib.service.serve(heard, model);
  }

  /**
   * Ask the translator `request.model`, and call `listen` with each event that it tells. Requests and events are explained in
   * service.js. If the weights are fetched for it, `progress` is called with the number of bytes that are there.
   * Returns a function: call it, and no more events come.
   */
  function ask(request, listen, progress = () => {}) {
    const id = ++last_id;
    const { model = "translator" } = request;
    listeners.set(id, listen);
    load(model, progress).then(
      (send) => listeners.has(id) && send({ id, request }),
      (error) => heard({ id, event: { kind: "problem", message: _`Not translated: ${error.message}.` } }),
    );
    return () => {
      listeners.delete(id);
      loading[model]?.then((send) => send({ id, request: { kind: "stop" } })).catch(() => {});
    };
  }

  transformer_lib.client = { urls, urls_of, load, ask };
})((globalThis.transformer_lib ??= {}));
