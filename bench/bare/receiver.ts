/**
 * The receiver of all variants of the deliveries row, in a separate process. It returns 204 over kept-alive
 * connections, and parses HTTP by hand to save CPU time. GET returns the requests since the last GET.
 */
import { createServer, type Socket } from 'node:net';

interface Sample {
  readonly head: string;
  readonly body: string;
}

export interface Received {
  readonly requests: number;
  /** The number of different `webhook-id`s. */
  readonly ids: number;
  /** The number of different paths, one per endpoint. */
  readonly paths: number;
  readonly sample: Sample | null;
}

const HEAD_END = '\r\n\r\n';
let requests = 0;
let sample: Sample | null = null;
const ids = new Set<unknown>();
const paths = new Set<string>();

createServer({ noDelay: true }, serve).listen(Number(process.env['PORT']), '127.0.0.1');

function serve(socket: Socket): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    let responses = '';
    for (let end = bytes.indexOf(HEAD_END); end !== -1; end = bytes.indexOf(HEAD_END, at)) {
      const head = bytes.toString('latin1', at, end);
      const from = end + HEAD_END.length;
      const to = from + Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (to > bytes.length) break;
      responses += head.startsWith('GET ') ? report() : receive(head, bytes, from, to);
      at = to;
    }
    rest = bytes.subarray(at);
    if (responses !== '') socket.write(responses);
  });
}

function receive(head: string, bytes: Buffer, from: number, to: number): string {
  requests += 1;
  ids.add(/\r\nwebhook-id: ([^\r]+)/i.exec(head)?.[1]);
  paths.add(head.slice(0, head.indexOf('\r')));
  sample ??= { head, body: bytes.toString('utf8', from, to) };
  return `HTTP/1.1 204 No Content${HEAD_END}`;
}

function report(): string {
  const text = JSON.stringify({ requests, ids: ids.size, paths: paths.size, sample } satisfies Received);
  [requests, sample] = [0, null];
  for (const each of [ids, paths]) each.clear();
  return `HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(text)}${HEAD_END}${text}`;
}
