/* The translator in a worker. The first message holds its scripts and its name, each further one a request. */
"use strict";

onmessage = ({ data: { urls, model } }) => {
  importScripts(...urls);
  const take = transformer_lib.service.serve((answer) => postMessage(answer), model);
  onmessage = (message) => take(message.data);
  postMessage("ready");
};
