// The HTTP side of a receiver of webhooks on this machine: raw bytes, bounded.
import { createServer, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Problem } from '../terminal.mjs';

const MAX_BODY_BYTES = 1_048_576;
const MAX_FORWARDED_RESPONSE_BYTES = 65_536;
const FORWARD_TIMEOUT_MS = 30_000;
/** Headers of one connection. The next hop sends its own. */
const HOP_HEADERS = new Set([
  ...['connection', 'content-length', 'expect', 'host', 'keep-alive', 'proxy-connection', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade'],
]);

/**
 * Listens on 127.0.0.1. `post({body, headers, rawHeaders}, response)` gets each POST with its raw bytes and responds to
 * it; `get()` is the text for a browser. Returns `{server, url, close}`.
 */
export async function listen(port, { post, get }) {
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 60_000 }, (request, response) => {
    if (request.method === 'GET' || request.method === 'HEAD') return void response.end(get());
    if (request.method !== 'POST') return void response.writeHead(405, { allow: 'GET, POST' }).end();
    readBody(request, (body) => {
      if (body === null) return void response.writeHead(413, { connection: 'close' }).end();
      const { headers, rawHeaders } = request;
      void post({ body, headers, rawHeaders }, response);
    });
  });
  await new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const inUse = error.code === 'EADDRINUSE';
      reject(new Problem(inUse ? `Port ${port} is in use: choose another with --port.` : error.message));
    });
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** `done` gets the bytes as they came, or null when there are more than {@link MAX_BODY_BYTES}. A cut-off body ends without a call. */
function readBody(request, done) {
  const chunks = [];
  let size = 0;
  request.on('error', () => undefined);
  request.on('data', (chunk) => {
    size += chunk.length;
    if (size <= MAX_BODY_BYTES) return void chunks.push(chunk);
    request.removeAllListeners('data').removeAllListeners('end').resume();
    done(null);
  });
  request.on('end', () => done(Buffer.concat(chunks)));
}

/**
 * Hands a delivery on as it came, body byte for byte. Returns `{status, headers, body}` of the application behind
 * `url`, or 502 with `error` when it does not respond. Redirects are not followed.
 */
export function forward(url, { body, rawHeaders }) {
  const headers = ['host', url.host, 'content-length', String(body.length)];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (!HOP_HEADERS.has(rawHeaders[index].toLowerCase()))
      headers.push(rawHeaders[index], rawHeaders[index + 1]);
  }
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve) => {
    const failed = (error) =>
      resolve({ status: 502, headers: {}, body: '', error: error.code ?? error.message });
    const signal = AbortSignal.timeout(FORWARD_TIMEOUT_MS);
    const outgoing = send(url, { method: 'POST', headers, signal, agent: false }, (incoming) => {
      const chunks = [];
      let size = 0;
      const finish = () => {
        const kept = ['content-type', 'retry-after'].filter((name) => incoming.headers[name] !== undefined);
        const returned = Object.fromEntries(kept.map((name) => [name, incoming.headers[name]]));
        resolve({ status: incoming.statusCode, headers: returned, body: Buffer.concat(chunks) });
      };
      incoming.on('data', (chunk) => {
        chunks.push(chunk.subarray(0, MAX_FORWARDED_RESPONSE_BYTES - size));
        size += chunk.length;
        if (size < MAX_FORWARDED_RESPONSE_BYTES) return;
        finish();
        incoming.destroy();
      });
      incoming.on('end', finish);
      incoming.on('error', failed);
    });
    outgoing.on('error', failed);
    outgoing.end(body);
  });
}
