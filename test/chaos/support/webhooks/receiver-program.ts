import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FromReceiver, Hook, Manner, Seen, ToReceiver } from './receiver-protocol.js';

/*
 * The receivers of the merchants, as a process of its own: it verifies every delivery with its endpoint's secret and
 * keeps what came, so that nothing the service believes is taken for granted.
 */

const FAULTS_KEPT = 100;
/** A request that a sender gave up on is still open here until the system says so. */
const SETTLE_MS = 20;

interface Delivery {
  readonly place: number;
  readonly bodyHash: string;
  readonly at: number[];
  accepted: number;
}

const hooks = new Map<number, Hook>();
const deliveries = new Map<string, Delivery>();
const faults: string[] = [];
const open = new Map<number, number>();
const mostOpen: Record<number, number> = {};
let accepted = 0;

const server = createServer({ requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 60_000 });
server.on('request', (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => take(request, Buffer.concat(chunks), response));
});
server.on('clientError', (_error, socket) => socket.destroy());
server.listen(0, '127.0.0.1', () => {
  tell({ kind: 'listening', port: (server.address() as AddressInfo).port });
});

process.on('message', (message: ToReceiver) => {
  switch (message.kind) {
    case 'hooks':
      for (const hook of message.hooks) hooks.set(hook.place, hook);
      return tell({ kind: 'ready' });
    case 'count':
      return tell({ kind: 'count', accepted });
    case 'seen':
      return tell({ kind: 'seen', seen: seen() });
    default:
      return message satisfies never;
  }
});
process.on('disconnect', () => process.exit(0));

function tell(message: FromReceiver): void {
  process.send?.(message);
}

function take(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
  const at = performance.timeOrigin + performance.now();
  const hook = hooks.get(Number(request.url?.slice(1)));
  const webhookId = String(request.headers['webhook-id']);
  const bodyHash = createHash('sha256').update(body).digest('base64');
  const wrong = hook === undefined ? 'a path of no endpoint' : fault(hook, request, webhookId, body);
  const known = deliveries.get(webhookId);
  if (hook === undefined || wrong !== null) return refuse(`${request.url}: ${wrong}`, response);
  if (known && known.place !== hook.place)
    return refuse(`${webhookId} at ${known.place} and at ${hook.place}`, response);
  if (known && known.bodyHash !== bodyHash) return refuse(`${webhookId} with two bodies`, response);
  const delivery = known ?? { place: hook.place, bodyHash, at: [], accepted: 0 };
  deliveries.set(webhookId, delivery);
  delivery.at.push(at);
  countOpen(hook.place, response);
  respond(hook.manner, webhookId, delivery, response);
}

/** What is wrong with a request; null when it is what it claims to be. */
function fault(
  hook: Hook,
  { method, headers }: IncomingMessage,
  webhookId: string,
  body: Buffer,
): string | null {
  if (method !== 'POST') return `method ${method}`;
  const timestamp = String(headers['webhook-timestamp']);
  const skew = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!(skew < 300)) return `timestamp ${timestamp}`;
  const key = Buffer.from(hook.secret.replace(/^whsec_/, ''), 'base64');
  const digest = createHmac('sha256', key).update(`${webhookId}.${timestamp}.`).update(body).digest();
  const signatures = String(headers['webhook-signature']).split(' ');
  const holds = signatures.some((each) => {
    const given = Buffer.from(each.replace(/^v1,/, ''), 'base64');
    return each.startsWith('v1,') && given.length === digest.length && timingSafeEqual(given, digest);
  });
  if (!holds) return `signature ${signatures.join(' ')}`;
  const envelope = JSON.parse(body.toString('utf8')) as { id: string; merchant_id: string };
  if (envelope.id !== webhookId) return `the body of ${envelope.id} as ${webhookId}`;
  if (envelope.merchant_id !== hook.merchantId) return `an event of merchant ${envelope.merchant_id}`;
  return null;
}

/** Gets 400, which ends the delivery: a fault shows on both sides. */
function refuse(what: string, response: ServerResponse): void {
  if (faults.length < FAULTS_KEPT) faults.push(what);
  response.writeHead(400).end();
}

function countOpen(place: number, response: ServerResponse): void {
  open.set(place, (open.get(place) ?? 0) + 1);
  response.on('close', () => open.set(place, open.get(place)! - 1));
  setTimeout(() => {
    mostOpen[place] = Math.max(mostOpen[place] ?? 0, open.get(place) ?? 0);
  }, SETTLE_MS);
}

function respond(manner: Manner, webhookId: string, delivery: Delivery, response: ServerResponse): void {
  switch (manner) {
    case 'prompt':
      return accept(204, delivery, response);
    case 'slow':
      setTimeout(() => accept(200, delivery, response), 50 + Math.random() * 450);
      return;
    case 'flaky':
      return stumble(webhookId, delivery, response);
    case 'hangs':
    case 'unresolved':
      return;
    case 'drips': {
      response.writeHead(200);
      const drip = setInterval(() => response.write('.'), 1000);
      response.on('close', () => clearInterval(drip));
      return;
    }
    default:
      return manner satisfies never;
  }
}

/** Which tries fail follows from the id, so that whoever asks again gets on. */
function stumble(webhookId: string, delivery: Delivery, response: ServerResponse): void {
  const dice = parseInt(webhookId.slice(0, 2), 16);
  const failing = dice < 85 ? 1 + (dice % 3) : 0;
  if (delivery.at.length > failing) return accept(200, delivery, response);
  switch (dice % 4) {
    case 0:
      response.writeHead(500).end('no');
      return;
    case 1:
      response.writeHead(503, { 'retry-after': '1' }).end();
      return;
    case 2:
      response.socket?.resetAndDestroy();
      return;
    default:
      response.writeHead(200, { 'content-length': '100' }).write('half');
      setTimeout(() => response.destroy(), 5);
  }
}

function accept(status: number, delivery: Delivery, response: ServerResponse): void {
  if (response.destroyed) return;
  if (delivery.accepted === 0) accepted += 1;
  delivery.accepted += 1;
  response.writeHead(status).end();
}

function seen(): Seen {
  const arrived = [...deliveries].map(([webhookId, delivery]) => ({ webhookId, ...delivery }));
  return { arrived, faults, mostOpen };
}
