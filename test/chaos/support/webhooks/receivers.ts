import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import type { SignedClient } from '../../../support/http/signed-client.js';
import { expectStatus, REGISTER_ENDPOINT } from '../payouts.js';

/** The response of an endpoint's receiver. */
export type Behavior =
  /** 204 at once. */
  | 'prompt'
  /** 200 after 50 to 500 ms. */
  | 'slow'
  /** The first one to three tries of a third of the deliveries fail: 500, 503, a reset, or a cut header. */
  | 'flaky'
  /** Reads the request and never responds. */
  | 'hangs'
  /** Returns 200 and then a byte per second, without end. */
  | 'drips';

/** One registered endpoint, at `/<place>` of the receivers. */
export interface Hook {
  readonly place: number;
  readonly endpointId: string;
  readonly merchantId: string;
  readonly secret: string;
  readonly behavior: Behavior;
}

export interface Arrived {
  readonly place: number;
  /** SHA-256 of the body as base64. A repeat with another body is a fault. */
  readonly bodyHash: string;
  /** Unix milliseconds, with fractions, at which each request was complete. */
  readonly at: number[];
  /** Requests that got a whole 2xx header. */
  accepted: number;
  readonly envelope: Envelope;
}

interface Envelope {
  readonly id: string;
  readonly type: string;
  readonly merchant_id: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Settings of a service with flaky receivers: it retries soon, and does not disable their endpoints. */
export const FLAKY_DELIVERIES = {
  WEBHOOK_RETRY_SCHEDULE_SECONDS: '0,0.5,1,1,2,2,5,5,5,5',
  WEBHOOK_DISABLE_SPAN_SECONDS: '21600',
} as const;

const MAX_FAULTS = 100;
/** An abandoned request is open here until the system reports it. */
const SETTLE_MS = 20;

/** The receivers of all merchants, which verify each delivery by its secret and the public library. */
export class Receivers {
  readonly arrived = new Map<string, Arrived>();
  /** Requests that no delivery explains, by wrong path, signature or id. */
  readonly faults: string[] = [];
  /** The number of accepted webhook-ids. */
  accepted = 0;
  /** The maximum of concurrent requests at one endpoint. */
  maxOpen = 0;
  private hooks: readonly Hook[] = [];
  private readonly open = new Map<number, number>();

  private constructor(private readonly server: Server) {
    server.on('request', (request, response) => {
      // Ignores the partial request of a killed worker.
      buffer(request).then(
        (body) => this.receive(request, body, response),
        () => undefined,
      );
    });
    server.on('clientError', (_error, socket) => socket.destroy());
  }

  static async start(): Promise<Receivers> {
    const server = createServer({ requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 60_000 });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new Receivers(server);
  }

  static async register(client: SignedClient, event_types?: readonly string[]): Promise<Receivers> {
    const receivers = await Receivers.start();
    const webhook_endpoint = { url: receivers.urlOf(0), event_types };
    const registered = await client.post(REGISTER_ENDPOINT.path, { webhook_endpoint });
    const { id: endpointId, signing_secret: secret } = expectStatus(registered, 201).json().webhook_endpoint;
    const merchantId = client.credentials.apiKey;
    receivers.introduce([{ endpointId, secret, merchantId, place: 0, behavior: 'flaky' }]);
    return receivers;
  }

  /** Returns a member of the data of each accepted delivery of a type, once per webhook-id. */
  subjects(type: string, member: 'payout_id' | 'user_id'): string[] {
    return [...this.arrived.values()]
      .filter(({ accepted, envelope }) => accepted > 0 && envelope.type === type)
      .map(({ envelope }) => String(envelope.data[member]));
  }

  urlOf(place: number): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/${place}`;
  }

  introduce(hooks: readonly Hook[]): void {
    this.hooks = [...hooks].sort((a, b) => a.place - b.place);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private receive(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const at = performance.timeOrigin + performance.now();
    const hook = this.hooks[Number(request.url?.slice(1))];
    const webhookId = String(request.headers['webhook-id']);
    const bodyHash = createHash('sha256').update(body).digest('base64');
    const known = this.arrived.get(webhookId);
    if (hook === undefined) return this.refuse(`${request.url}: a path of no endpoint`, response);
    const envelope = verified(hook, request, webhookId, body);
    if (typeof envelope === 'string') return this.refuse(`${request.url}: ${envelope}`, response);
    if (known && known.place !== hook.place)
      return this.refuse(`${webhookId} at ${known.place} and at ${hook.place}`, response);
    if (known && known.bodyHash !== bodyHash) return this.refuse(`${webhookId} with two bodies`, response);
    const delivery = known ?? { place: hook.place, bodyHash, at: [], accepted: 0, envelope };
    this.arrived.set(webhookId, delivery);
    delivery.at.push(at);
    this.countOpen(hook.place, response);
    this.respond(hook.behavior, webhookId, delivery, response);
  }

  /** A 400 ends the delivery, so that a fault is visible on both sides. */
  private refuse(fault: string, response: ServerResponse): void {
    if (this.faults.length < MAX_FAULTS) this.faults.push(fault);
    response.writeHead(400).end();
  }

  private countOpen(place: number, response: ServerResponse): void {
    this.open.set(place, (this.open.get(place) ?? 0) + 1);
    response.on('close', () => this.open.set(place, this.open.get(place)! - 1));
    setTimeout(() => (this.maxOpen = Math.max(this.maxOpen, this.open.get(place) ?? 0)), SETTLE_MS);
  }

  private respond(behavior: Behavior, webhookId: string, delivery: Arrived, response: ServerResponse): void {
    switch (behavior) {
      case 'prompt':
        return this.accept(204, delivery, response);
      case 'slow':
        setTimeout(() => this.accept(200, delivery, response), 50 + Math.random() * 450);
        return;
      case 'flaky':
        return this.fail(webhookId, delivery, response);
      case 'hangs':
        return;
      case 'drips': {
        this.count(delivery);
        response.writeHead(200);
        const drip = setInterval(() => response.write('.'), 1000);
        response.on('close', () => clearInterval(drip));
      }
    }
  }

  /** The id determines the failing tries, so that a retry succeeds in the end. */
  private fail(webhookId: string, delivery: Arrived, response: ServerResponse): void {
    const dice = parseInt(webhookId.slice(0, 2), 16);
    const failing = dice < 85 ? 1 + (dice % 3) : 0;
    if (delivery.at.length > failing) return this.accept(200, delivery, response);
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
        // The cut is within the header, because the delivery would succeed after a whole 200.
        response.socket?.write('HTTP/1.1 200 OK\r\nContent-Le');
        setTimeout(() => response.destroy(), 5);
    }
  }

  private accept(status: number, delivery: Arrived, response: ServerResponse): void {
    if (response.destroyed) return;
    this.count(delivery);
    response.writeHead(status).end();
  }

  private count(delivery: Arrived): void {
    if (delivery.accepted === 0) this.accepted += 1;
    delivery.accepted += 1;
  }
}

function verified(
  hook: Hook,
  { method, headers }: IncomingMessage,
  webhookId: string,
  body: Buffer,
): Envelope | string {
  if (method !== 'POST') return `method ${method}`;
  try {
    const envelope = new Webhook(hook.secret).verify(body, headers as Record<string, string>) as Envelope;
    if (envelope.id !== webhookId) return `the body of ${envelope.id} as ${webhookId}`;
    return envelope.merchant_id === hook.merchantId
      ? envelope
      : `an event of merchant ${envelope.merchant_id}`;
  } catch (error) {
    return (error as Error).message;
  }
}
