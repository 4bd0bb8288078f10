/**
 * The receiver that all variants of the deliveries row send to, in its own process: returns 204 over kept-alive
 * connections and keeps the id of every request. It reads HTTP by hand, because it shares the machine with what it
 * measures. A second port is for the bench: POST /expect?count=N begins a count, GET /first returns when a request
 * has come, GET /all when N have.
 */
import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import { createServer, type Socket } from 'node:net';

const RESPONSE = 'HTTP/1.1 204 No Content\r\n\r\n';
const HEAD_END = '\r\n\r\n';

let count = newCount(Infinity);
let waiting: { readonly requests: number; readonly response: ServerResponse }[] = [];

createServer({ noDelay: true }, serve).listen(Number(process.env['PORT']), '127.0.0.1');

createHttpServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://bench');
  if (pathname === '/first' || pathname === '/all') {
    waiting.push({ requests: pathname === '/first' ? 1 : count.expected, response });
    respondToWaiting();
    return;
  }
  if (pathname === '/expect') count = newCount(Number(searchParams.get('count')));
  response.end('{}');
}).listen(Number(process.env['CONTROL_PORT']), '127.0.0.1');

function newCount(expected: number) {
  return {
    expected,
    requests: 0,
    ids: new Set<string>(),
    paths: new Set<string>(),
    /** The first request as it came. */
    sample: null as { readonly head: string; readonly body: string } | null,
  };
}

function serve(socket: Socket): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    let responses = 0;
    for (;;) {
      const end = bytes.indexOf(HEAD_END, at);
      if (end === -1) break;
      const head = bytes.toString('latin1', at, end);
      const from = end + HEAD_END.length;
      const to = from + Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (to > bytes.length) break;
      note(head, bytes, from, to);
      at = to;
      responses += 1;
    }
    rest = bytes.subarray(at);
    if (responses > 0) socket.write(RESPONSE.repeat(responses));
  });
}

function note(head: string, bytes: Buffer, from: number, to: number): void {
  count.requests += 1;
  count.ids.add(/\r\nwebhook-id: ([^\r]+)/i.exec(head)?.[1] ?? '');
  count.paths.add(head.slice(0, head.indexOf('\r')));
  count.sample ??= { head, body: bytes.toString('utf8', from, to) };
  if (waiting.length > 0) respondToWaiting();
}

function respondToWaiting(): void {
  const { requests, ids, paths, sample } = count;
  const due = waiting.filter((each) => requests >= each.requests);
  if (due.length === 0) return;
  waiting = waiting.filter((each) => requests < each.requests);
  const text = JSON.stringify({ requests, ids: ids.size, paths: paths.size, sample });
  for (const { response } of due) response.end(text);
}
