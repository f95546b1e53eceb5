/* The page's side of the translator: load it when it is first used, hand it requests, pass on what it tells.

   From a server it runs in a worker, so that the page stays alive meanwhile. A page that was opened as a file may start no
   worker: there the same scripts run in the page itself. */
((transformer_lib) => {
  "use strict";

  /** The scripts of the model, in an order in which each finds what it needs; the last but one holds the weights. */
  const FILES = [
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
    "weights.js",
    "service.js",
  ];
  const folder = new URL(".", document.currentScript.src).href;
  const urls = FILES.map((file) => folder + file);

  let loading; // a promise of a function that hands over requests, once something was asked
  let last_id = 0;
  const listeners = new Map(); // id of a request → what to call

  function heard({ id, event }) {
    listeners.get(id)?.(event);
  }

  function load() {
    loading ??= (location.protocol === "file:" ? load_here() : load_worker()).catch((error) => {
      loading = undefined; // the next request tries again
      throw error;
    });
    return loading;
  }

  /** Start the worker, and wait until it holds the weights. */
  function load_worker() {
    return new Promise((resolve, reject) => {
      const worker = new Worker(`${folder}worker.js`);
      worker.onerror = () => reject(new Error("the translator could not be loaded"));
      worker.onmessage = () => {
        worker.onmessage = ({ data }) => heard(data);
        resolve((message) => worker.postMessage(message));
      };
      worker.postMessage(urls);
    });
  }

  /** Add the scripts to the page, one after the other. */
  async function load_here() {
    for (const url of urls) {
      await new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.src = url;
        script.onload = resolve;
        script.onerror = () => reject(new Error("the translator could not be loaded"));
        document.head.append(script);
      });
    }
    return transformer_lib.service.serve(heard);
  }

  /**
   * Ask the translator, and call `listen` with each event that it tells. Requests and events are explained in service.js.
   * Returns a function: call it, and no more events come.
   */
  function ask(request, listen) {
    const id = ++last_id;
    listeners.set(id, listen);
    load().then(
      (send) => listeners.has(id) && send({ id, request }),
      (error) => heard({ id, event: { kind: "problem", message: `Not translated: ${error.message}.` } }),
    );
    return () => {
      listeners.delete(id);
      loading?.then((send) => send({ id, request: { kind: "stop" } })).catch(() => {});
    };
  }

  transformer_lib.client = { urls, load, ask };
})((globalThis.transformer_lib ??= {}));
