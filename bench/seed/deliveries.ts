import { randomBytes, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { SigningSecrets, type NewDelivery } from '../../src/contexts/webhooks/application/signing-secrets.js';
import { envelope } from '../../src/contexts/webhooks/application/published-events.js';
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

/** The service's picture of the endpoints, as its saga folds it. */
export async function insertLanes(pool: pg.Pool, endpoints: readonly SeededEndpoint[]): Promise<void> {
  await pool.query(
    `insert into webhooks.endpoint_snapshots (endpoint_id, merchant_id, url, sealed_signing_secret, status, position)
     select endpoint_id, merchant_id, url, sealed_signing_secret, 'enabled', '0'
     from jsonb_to_recordset($1) as e (endpoint_id uuid, merchant_id uuid, url text, sealed_signing_secret text)`,
    [JSON.stringify(endpoints)],
  );
}

/** The same for the reference: secrets in clear, so that opening them costs nothing. */
export async function insertBareEndpoints(
  pool: pg.Pool,
  endpoints: readonly SeededEndpoint[],
): Promise<void> {
  await pool.query(
    `insert into endpoints select * from jsonb_to_recordset($1) as e (endpoint_id uuid, url text, secret text)`,
    [JSON.stringify(endpoints)],
  );
}

/** Fills `table` with `count` deliveries that are due, spread evenly over the endpoints. */
export async function insertDeliveries(
  client: pg.ClientBase,
  table: string,
  endpoints: readonly SeededEndpoint[],
  count: number,
  more: Readonly<Record<string, unknown>>,
  secrets: SigningSecrets | null = null,
): Promise<void> {
  const fixed = { due_at: new Date().toISOString(), ...more };
  const rows = Array.from({ length: count }, (_, index) => {
    const row = delivery(endpoints[index % endpoints.length]!);
    return secrets === null ? row : { ...row, mac: secrets.macOf({ ...row, is_test: false }) };
  });
  const names = [...Object.keys(rows[0]!), ...Object.keys(fixed)].join(', ');
  for (let from = 0; from < count; from += CHUNK) {
    const chunk = rows.slice(from, from + CHUNK).map((row) => ({ ...row, ...fixed }));
    await client.query(
      `insert into ${table} (${names}) select ${names} from jsonb_populate_recordset(null::${table}, $1)`,
      [JSON.stringify(chunk)],
    );
  }
}

function delivery({ endpoint_id, merchant_id }: SeededEndpoint): Omit<NewDelivery, 'is_test'> {
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
  return { delivery_id, endpoint_id, merchant_id, type: 'payout.received', body };
}
