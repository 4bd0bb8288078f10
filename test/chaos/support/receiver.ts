import { Webhook } from 'standardwebhooks';
import { call, type Credentials } from '../../../bench/support/sign.js';
import { TestReceiver, type Received } from '../../support/webhooks/receiver.js';
import { Tally } from './verdict.js';

interface Envelope {
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** One delivery in so many is refused, so that retries happen. */
const REFUSED = 0.05;

/** A merchant's receiver: verifies every delivery with the public library, and refuses some with 503. */
export class Receiver {
  readonly tally = new Tally();
  /** What was wrong with deliveries whose signature, id or body did not match. */
  readonly faults: string[] = [];
  /** By webhook-id; repeats count in {@link tally} alone. */
  private readonly delivered = new Map<string, Envelope>();

  private constructor(
    private readonly server: TestReceiver,
    private readonly webhook: Webhook,
  ) {
    server.behavior = (response, received) => response.writeHead(this.statusFor(received)).end();
  }

  /** Listens, and is registered as an endpoint of the merchant. */
  static async register(
    baseUrl: string,
    who: Credentials,
    eventTypes?: readonly string[],
  ): Promise<Receiver> {
    const server = await TestReceiver.start();
    const body = { webhook_endpoint: { url: `${server.url}/hook`, event_types: eventTypes } };
    const { webhook_endpoint: endpoint } = (await call(
      baseUrl,
      who,
      'POST',
      '/merchants/v1/webhook_endpoints',
      201,
      body,
    )) as { webhook_endpoint: { signing_secret: string } };
    return new Receiver(server, new Webhook(endpoint.signing_secret));
  }

  /** What the deliveries of a type are about, by a member of their data; one for each webhook-id. */
  subjects(type: string, member: 'payout_id' | 'user_id'): string[] {
    return [...this.delivered.values()]
      .filter((each) => each.type === type)
      .map(({ data }) => String(data[member]));
  }

  stop(): Promise<void> {
    return this.server.stop();
  }

  private statusFor({ headers, body }: Received): number {
    if (Math.random() < REFUSED) {
      this.tally.add('refused');
      return 503;
    }
    try {
      const envelope = this.webhook.verify(body, headers as Record<string, string>) as Envelope;
      const webhookId = String(headers['webhook-id']);
      if (envelope.id !== webhookId)
        throw new Error(`webhook-id ${webhookId} around the body of ${envelope.id}`);
      this.tally.add(this.delivered.has(webhookId) ? 'delivered again' : 'delivered');
      this.delivered.set(webhookId, envelope);
      return 200;
    } catch (error) {
      this.faults.push((error as Error).message);
      return 400;
    }
  }
}
