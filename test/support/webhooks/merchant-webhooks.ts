import { afterEach, beforeEach } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { EVENT_STORE, type EventStore } from '../../../src/platform/event-store/port.js';
import { newId } from '../../../src/kernel/ids.js';
import { sharedApp, type TestApp } from '../app.js';
import { TestReceiver, type Received } from './receiver.js';
import type { SignedClient } from '../http/signed-client.js';
import { eventually } from '../eventually.js';
import { payoutReceived } from '../payouts/evidence.js';

export interface Delivery {
  readonly id: string;
  readonly webhook_endpoint_id: string;
  readonly type: string;
  readonly status: string;
  readonly attempt_count: number;
  readonly created_at: string;
  readonly next_attempt_at: string | null;
  readonly finished_at: string | null;
}

interface DeliveryPage {
  readonly webhook_deliveries: Delivery[];
  readonly next_cursor: string | null;
}

interface WebhookHarness {
  readonly app: TestApp;
  readonly receiver: TestReceiver;
  readonly merchant: SignedClient;
  readonly webhooks: MerchantWebhooks;
}

/** One service for all tests of the file. `set` gets a new merchant and receiver before each test. */
export function onWebhookHarness(set: (harness: WebhookHarness) => void): void {
  let started: Promise<TestApp> | undefined;
  let receiver: TestReceiver;
  beforeEach(async () => {
    const app = await (started ??= sharedApp());
    const merchant = await app.newMerchant();
    receiver = await TestReceiver.start();
    set({ app, receiver, merchant, webhooks: new MerchantWebhooks(app, merchant) });
  });
  afterEach(() => receiver.stop());
}

/** A merchant's calls about its webhooks over HTTP. Events are appended directly. */
export class MerchantWebhooks {
  private readonly secrets = new Map<string, string>();

  constructor(
    private readonly app: TestApp,
    private readonly merchant: SignedClient,
  ) {}

  path(endpointId: string): string {
    return `/merchants/v1/webhook_endpoints/${endpointId}`;
  }

  async register(url: string, event_types: readonly string[] | null = null): Promise<string> {
    const response = await this.merchant.post('/merchants/v1/webhook_endpoints', {
      webhook_endpoint: { url, event_types },
    });
    const { id, signing_secret } = response.json().webhook_endpoint;
    this.secrets.set(id, signing_secret);
    return id;
  }

  async change(endpointId: string, webhook_endpoint: object): Promise<void> {
    const response = await this.merchant.call({
      method: 'PATCH',
      path: this.path(endpointId),
      body: { webhook_endpoint },
    });
    if (response.status !== 200) throw new Error(response.text);
  }

  async test(endpointId: string): Promise<string> {
    const response = await this.merchant.post(`${this.path(endpointId)}/test_delivery`);
    return response.json().webhook_delivery.id;
  }

  async publish(count = 1): Promise<void> {
    const { apiKey } = this.merchant.credentials;
    const events = Array.from({ length: count }, () => payoutReceived(apiKey));
    const store = this.app.app.get<EventStore>(EVENT_STORE, { strict: false });
    await store.commit({ appends: [{ stream: `webhook_source-${newId()}`, events, expected: 'no_stream' }] });
  }

  async list(endpointId: string, query = ''): Promise<DeliveryPage> {
    return (await this.merchant.get(`${this.path(endpointId)}/deliveries${query}`)).json<DeliveryPage>();
  }

  /** Waits for `count` deliveries of the endpoint, none of them pending. */
  settled(endpointId: string, count: number): Promise<Delivery[]> {
    return eventually(async () => {
      const { webhook_deliveries: found } = await this.list(endpointId, '?page_size=1000');
      return found.length === count && found.every(({ status }) => status !== 'pending') ? found : null;
    });
  }

  /** Verifies a delivery with the endpoint's secret. */
  verifies(endpointId: string, { headers, body }: Pick<Received, 'headers' | 'body'>): boolean {
    new Webhook(this.secrets.get(endpointId)!).verify(body, headers as Record<string, string>);
    return true;
  }
}
