import { createHmac } from 'node:crypto';
import type pg from 'pg';
import { Agent, request } from 'undici';

/** Tables of the references: the columns of the service's, and the indexes that they need themselves. */
export const BARE_TABLES = `
create table if not exists endpoints (endpoint_id uuid primary key, url text not null, secret text not null);
create table if not exists deliveries (
  delivery_id uuid primary key,
  endpoint_id uuid not null,
  merchant_id uuid not null,
  type text not null,
  body text not null,
  state text not null default 'pending',
  attempts int not null default 0,
  due_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  claimed boolean not null default false
);
alter table deliveries alter column body set storage external;
create index if not exists deliveries_due on deliveries (due_at) where state = 'pending' and not claimed;
create table if not exists attempts (
  delivery_id uuid not null,
  attempt int not null,
  endpoint_id uuid not null,
  started_at timestamptz not null,
  duration_ms int not null,
  outcome text not null,
  http_status int,
  failure_phase text,
  error text,
  response_excerpt bytea,
  primary key (delivery_id, attempt)
);
`;

export interface BareDelivery {
  readonly delivery_id: string;
  readonly endpoint_id: string;
  readonly body: string;
}

/** One attempt, as its row. */
export interface BareAttempt {
  readonly delivery_id: string;
  readonly endpoint_id: string;
  readonly started_at: Date;
  readonly duration_ms: number;
  readonly outcome: string;
  readonly http_status: number;
  readonly response_excerpt: Buffer;
}

/** Its connections outlive a run, as the service's do. */
const agent = new Agent();

interface Endpoint {
  readonly url: string;
  readonly key: Buffer;
}

/** The least that sends a delivery: sign, POST over kept-alive connections, read the response. */
export class BareSender {
  private constructor(private readonly endpoints: ReadonlyMap<string, Endpoint>) {}

  /** With the endpoints of the table, their keys decoded. */
  static async load(pool: pg.Pool): Promise<BareSender> {
    const { rows } = await pool.query<{ endpoint_id: string; url: string; secret: string }>(
      'select endpoint_id, url, secret from endpoints',
    );
    const key = (secret: string): Buffer => Buffer.from(secret.slice('whsec_'.length), 'base64');
    return new BareSender(
      new Map(rows.map((row) => [row.endpoint_id, { url: row.url, key: key(row.secret) }])),
    );
  }

  async send({ delivery_id, endpoint_id, body }: BareDelivery): Promise<BareAttempt> {
    const { url, key } = this.endpoints.get(endpoint_id)!;
    const started_at = new Date();
    const began = performance.now();
    const timestamp = Math.floor(started_at.getTime() / 1000);
    const signature = createHmac('sha256', key)
      .update(`${delivery_id}.${timestamp}.${body}`)
      .digest('base64');
    const response = await request(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'svc-Webhooks/1.0',
        'webhook-id': delivery_id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': `v1,${signature}`,
      },
      body,
      dispatcher: agent,
    });
    const excerpt = Buffer.from(await response.body.arrayBuffer());
    return {
      delivery_id,
      endpoint_id,
      started_at,
      duration_ms: Math.round(performance.now() - began),
      outcome: response.statusCode < 300 ? 'succeeded' : 'retry',
      http_status: response.statusCode,
      response_excerpt: excerpt,
    };
  }
}
