import { EventCodec } from '../../../../src/platform/event-store/event-codec.js';
import type { EventStore, NewEvent } from '../../../../src/platform/event-store/port.js';
import { CommandLoop } from '../../../../src/platform/event-store/command-loop.js';
import { systemClock } from '../../../../src/kernel/clock.js';
import { newId } from '../../../../src/kernel/ids.js';
import { IdempotencyTicket } from '../../../../src/platform/idempotency/ticket.js';
import type { Sealer } from '../../../../src/platform/sealing/sealer.js';
import {
  RegisterWebhookEndpoint,
  RegisterWebhookEndpointHandler,
} from '../../../../src/contexts/webhooks/endpoints/endpoints.commands.js';
import { SigningSecrets } from '../../../../src/contexts/webhooks/endpoints/signing-secrets.store.js';
import { WEBHOOK_ENDPOINT_EVENTS } from '../../../../src/contexts/webhooks/endpoints/webhook-endpoints.js';
import { oneOf } from '../suite.js';
import type { Behavior, Hook } from './receivers.js';
import { evidenceAt } from '../../../support/payouts/evidence.js';

const ENDPOINTS_PER_MERCHANT = 10;
/** The subscription of the last endpoint of each merchant. */
const FEW_TYPES = ['payout.failed'];
const FAILED_SHARE = 0.25;

interface MerchantsOptions {
  readonly store: EventStore;
  readonly sealer: Sealer;
  readonly endpoints: number;
  readonly urlOf: (place: number) => string;
  readonly behaviorOf: (place: number) => Behavior;
}

/** Merchants with ten endpoints each, registered through the use case, and their events. */
export class Merchants {
  private constructor(
    private readonly store: EventStore,
    readonly ids: readonly string[],
    readonly hooks: readonly Hook[],
  ) {}

  static async register({
    store,
    sealer,
    endpoints,
    urlOf,
    behaviorOf,
  }: MerchantsOptions): Promise<Merchants> {
    const codec = new EventCodec().register(WEBHOOK_ENDPOINT_EVENTS.map((type) => ({ type })));
    const handler = new RegisterWebhookEndpointHandler(
      new CommandLoop(store, codec),
      systemClock,
      // The addresses are on loopback. The worker verifies them at every connect.
      { check: () => Promise.resolve() },
      new SigningSecrets(sealer),
    );
    const ids = Array.from({ length: Math.ceil(endpoints / ENDPOINTS_PER_MERCHANT) }, newId);
    const registerOne = async (place: number): Promise<Hook> => {
      const merchantId = ids[Math.floor(place / ENDPOINTS_PER_MERCHANT)]!;
      const last = place % ENDPOINTS_PER_MERCHANT === ENDPOINTS_PER_MERCHANT - 1;
      const behavior = behaviorOf(place);
      const fields = { url: urlOf(place), description: null, event_types: last ? FEW_TYPES : null };
      const caller = { merchantId, metadata: {}, ticket: new IdempotencyTicket(newId()) };
      const { body } = await handler.execute(new RegisterWebhookEndpoint(caller, fields));
      const { webhook_endpoint: created } = JSON.parse(body) as {
        webhook_endpoint: { id: string; signing_secret: string };
      };
      return { place, endpointId: created.id, merchantId, secret: created.signing_secret, behavior };
    };
    const hooks: Hook[] = [];
    // The endpoints of one merchant share a stream and are registered in sequence.
    await Promise.all(
      ids.map(async (_, merchant) => {
        const first = merchant * ENDPOINTS_PER_MERCHANT;
        for (let place = first; place < Math.min(first + ENDPOINTS_PER_MERCHANT, endpoints); place += 1) {
          hooks.push(await registerOne(place));
        }
      }),
    );
    return new Merchants(store, ids, hooks);
  }

  /** Appends a payout and its outcome. Returns the number of deliveries to the merchant's endpoints. */
  async publish(merchantId: string = oneOf(this.ids)): Promise<number> {
    const failed = Math.random() < FAILED_SHARE;
    const events = payout(merchantId, failed);
    const stream = `payout-${String(events[0]!.data['payout_id'])}`;
    await this.store.commit({ appends: [{ stream, events, expected: 'no_stream' }] });
    return this.hooks.filter((hook) => hook.merchantId === merchantId && (failed || !hasFewTypes(hook)))
      .length;
  }
}

const hasFewTypes = ({ place }: Hook): boolean =>
  place % ENDPOINTS_PER_MERCHANT === ENDPOINTS_PER_MERCHANT - 1;

/** Event types that an endpoint subscribes to; null for all. */
export const typesOf = (hook: Hook): readonly string[] | null => (hasFewTypes(hook) ? FEW_TYPES : null);

function payout(merchantId: string, failed: boolean): NewEvent[] {
  const at = new Date().toISOString();
  const facts = {
    payout_id: newId(),
    merchant_id: merchantId,
    user_id: newId(),
    amount: '12.5',
    currency_code: 'USDC',
    transaction_hash: `0x${newId().replaceAll('-', '')}`,
    // Spaces and the format of a number have to arrive byte for byte.
    custom_metadata: `{ "invoice":"${newId()}", "n":1.0, "sign":"\\u20ac é" }`,
    chain_id: 1,
  };
  const outcome = failed
    ? { type: 'payout.expired.v1', data: { ...facts, reason: 'not found', expired_at: at } }
    : {
        type: 'payout.received.v2',
        data: { ...facts, ...evidenceAt(0), created_at: at, received_at: at },
      };
  return [{ type: 'payout.reported.v1', data: { ...facts, created_at: at, expires_at: at } }, outcome].map(
    (event) => ({ ...event, id: newId(), metadata: {} }),
  );
}
