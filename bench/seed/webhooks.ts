import { randomBytes, randomUUID } from 'node:crypto';
import { envelope } from '../../src/contexts/webhooks/deliveries/published-events.js';
import type { SigningSecrets } from '../../src/contexts/webhooks/deliveries/signing-secrets.js';
import { withJsonText } from '../../src/platform/json-text/json-text.js';

/** Rows per insert. */
const CHUNK = 5000;

export interface SeededEndpoint {
  readonly endpoint_id: string;
  readonly merchant_id: string;
  readonly url: string;
  /** In clear, and as the service keeps it. */
  readonly secret: string;
  readonly sealed_signing_secret: string;
}

/** Endpoints, with their signing secrets as `secrets` seals them. */
export function seedEndpoints(
  count: number,
  url: (index: number) => string,
  secrets: SigningSecrets,
): SeededEndpoint[] {
  return Array.from({ length: count }, (_, index) => {
    const place = { endpoint_id: randomUUID(), merchant_id: randomUUID() };
    const sealed_signing_secret = secrets.create(place);
    const secret = secrets.open(place, sealed_signing_secret);
    return { ...place, url: url(index), secret, sealed_signing_secret };
  });
}

/** Rows of deliveries that are due, spread evenly over the endpoints; with `secrets` those of the service. */
export function* deliveriesTo(
  endpoints: readonly SeededEndpoint[],
  count: number,
  secrets: SigningSecrets | null,
): Generator<object[]> {
  for (let from = 0; from < count; from += CHUNK) {
    yield Array.from({ length: Math.min(CHUNK, count - from) }, (_, index) => {
      const row = delivery(endpoints[(from + index) % endpoints.length]!);
      const due = { ...row, state: 'pending', attempts: 0, due_at: new Date() };
      if (secrets === null) return { ...due, claimed: false };
      const mac = secrets.toMac({ ...row, is_test: false });
      return { ...due, mac, is_test: false, attempts_before: 0, created_at: new Date() };
    });
  }
}

function delivery({ endpoint_id, merchant_id }: SeededEndpoint) {
  const delivery_id = randomUUID();
  const fields = {
    payout_id: randomUUID(),
    user_id: randomUUID(),
    amount: '12.5',
    currency_code: 'USDC',
    transaction_hash: `0x${randomBytes(32).toString('hex')}`,
  };
  const body = envelope(delivery_id, {
    type: 'payout.received',
    occurredAt: new Date().toISOString(),
    merchantId: merchant_id,
    data: withJsonText(fields, 'custom_metadata', '{}'),
  });
  return { delivery_id, endpoint_id, merchant_id, type: 'payout.received' as const, body };
}
