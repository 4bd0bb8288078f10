// The link between the HTTP side and the screen of disburse listen.
import { setTimeout as sleep } from 'node:timers/promises';
import { Attempts, deliveryLine, envelopeFacts, showDelivery } from './delivery-report.mjs';
import { printable } from '../json-text.mjs';
import { dim, elapsed, printLine } from '../terminal.mjs';
import { whyNotGenuine } from './verification.mjs';
import { forward } from './webhook-receiver.mjs';

/** Returns a listener's response to a GET. Other listeners learn from it that the endpoint is in use. */
export function greetingOf(endpointId) {
  return `webhooks:listen ${endpointId ?? ''}\n`;
}

/** Verifies each delivery, displays it and responds to it. */
export class DeliveryDesk {
  secrets = [];
  endpointId = null;
  attempts = new Attempts();
  counts = { genuine: 0, refused: 0 };
  closing = new AbortController();
  opened = new Promise((resolve) => (this.letIn = resolve));
  /** Resolves when standard output is closed. */
  readerGone = new Promise((resolve) => process.stdout.on('error', resolve));

  constructor(options) {
    this.options = options;
  }

  /** A delivery may come before the response with the secret was read: it waits for this. */
  open(secrets, endpointId = null) {
    this.secrets = secrets;
    this.endpointId = endpointId;
    this.letIn();
  }

  close() {
    this.closing.abort();
  }

  greeting() {
    return greetingOf(this.endpointId);
  }

  summary() {
    const { genuine, refused } = this.counts;
    const attempts = genuine === 1 ? '1 verified attempt' : `${genuine} verified attempts`;
    return `${attempts}${refused > 0 ? `, ${refused} refused` : ''}.`;
  }

  post = async ({ body, headers, rawHeaders }, response) => {
    const at = new Date();
    await this.opened;
    const reason = whyNotGenuine(this.secrets, headers, body);
    const genuine = reason === null;
    this.counts[genuine ? 'genuine' : 'refused'] += 1;
    const id = headers['webhook-id'] ?? null;
    const text = body.toString('utf8');
    const reply = genuine ? await this.replyTo(body, rawHeaders) : { status: 400, via: null, delayMs: 0 };
    const arrival = {
      ...{ at, id, headers, reason, text, bytes: body.length, ...envelopeFacts(text) },
      // A sender who cannot sign must not change the count of a genuine delivery.
      attempt: genuine ? this.attempts.count(id) : 1,
    };
    if (!genuine || this.wants(arrival.type)) this.show(arrival, reply);
    await this.send(response, reply, id);
  };

  async replyTo(body, rawHeaders) {
    const { forward: via, status, retryAfter, delay } = this.options;
    if (via === null) {
      const headers = retryAfter === null ? {} : { 'retry-after': retryAfter };
      return { status: status ?? 204, headers, via, delayMs: delay };
    }
    const began = performance.now();
    const reply = await forward(via, { body, rawHeaders });
    return { ...reply, via, tookMs: performance.now() - began, delayMs: delay };
  }

  wants(type) {
    const { types, test } = this.options;
    return types === null || types.includes(type) || (test && type === 'webhook_endpoint.test');
  }

  show(arrival, reply) {
    if (this.options.json) process.stdout.write(deliveryLine(arrival, reply));
    else showDelivery(arrival, reply);
  }

  async send(response, { status, headers, body, delayMs }, id) {
    const began = performance.now();
    let ended = false;
    response.on('close', () => {
      if (ended || this.closing.signal.aborted) return;
      const after = elapsed(performance.now() - began);
      printLine(`  ${dim(`${printable(id ?? 'A request')}: the sender hung up after ${after}.`)}\n`);
    });
    const { signal } = this.closing;
    if (delayMs > 0) await sleep(delayMs, undefined, { signal }).catch(() => undefined);
    ended = true;
    if (!signal.aborted) response.writeHead(status, headers).end(body);
  }
}
