/* The translator in a worker. The first message holds the addresses of its scripts, each further one a request. */
"use strict";

onmessage = ({ data }) => {
  importScripts(...data);
  const take = transformer_lib.service.serve((answer) => postMessage(answer));
  onmessage = (message) => take(message.data);
  postMessage("ready");
};
