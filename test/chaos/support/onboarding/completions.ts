import { Webhook } from 'standardwebhooks';
import { call, type Credentials } from '../../../../bench/support/sign.js';
import { TestReceiver, type Received } from '../../../support/receiver.js';

/** One delivery in so many is refused, so that retries belong to the picture. */
const REFUSED = 0.05;

/** A merchant's receiver of `user.onboarding_completed`: which events came for which user. */
export class Completions {
  readonly faults: string[] = [];
  /** Ids of events, by user. */
  readonly byUser = new Map<string, Set<string>>();

  private constructor(
    private readonly server: TestReceiver,
    private readonly webhook: Webhook,
  ) {
    server.behavior = (response, received) => response.writeHead(this.take(received)).end();
  }

  static async register(baseUrl: string, who: Credentials): Promise<Completions> {
    const server = await TestReceiver.start();
    const endpoint = { url: `${server.url}/hook`, event_types: ['user.onboarding_completed'] };
    const made = (await call(baseUrl, who, 'POST', '/merchants/v1/webhook_endpoints', 201, {
      webhook_endpoint: endpoint,
    })) as { webhook_endpoint: { signing_secret: string } };
    return new Completions(server, new Webhook(made.webhook_endpoint.signing_secret));
  }

  stop(): Promise<void> {
    return this.server.stop();
  }

  private take({ headers, body }: Received): number {
    if (Math.random() < REFUSED) return 503;
    try {
      const { id, data } = this.webhook.verify(body, headers as Record<string, string>) as {
        readonly id: string;
        readonly data: { readonly user_id: string };
      };
      this.byUser.set(data.user_id, (this.byUser.get(data.user_id) ?? new Set()).add(id));
      return 200;
    } catch (error) {
      this.faults.push((error as Error).message);
      return 400;
    }
  }
}
