import { randomUUID } from 'node:crypto';

/** Columns of a table of events as plain as they can be. */
export const EVENTS_TABLE = `(
  position bigint generated always as identity primary key,
  id uuid not null,
  stream text not null,
  revision bigint not null,
  type text not null,
  data text not null,
  recorded_at timestamptz not null default now(),
  unique (stream, revision)
)`;

export interface ReportBody {
  readonly user_id: string;
  readonly payout: {
    readonly amount: string;
    readonly transaction_hash: string;
    readonly currency_code?: string;
    readonly custom_metadata?: object;
  };
}

/** One row of the bare event table. */
export interface BareEvent {
  readonly id: string;
  readonly stream: string;
  readonly type: string;
  readonly data: string;
}

export interface Reported {
  readonly event: BareEvent;
  /** The body of the 201, as the service returns it. */
  readonly response: string;
}

/** The event and the response of one report, with the same fields as the service's. */
export function reported(merchantId: string, body: ReportBody, now: Date): Reported {
  const id = randomUUID();
  const createdAt = now.toISOString();
  const metadata = body.payout.custom_metadata ?? {};
  const data = {
    payout_id: id,
    merchant_id: merchantId,
    user_id: body.user_id,
    amount: body.payout.amount,
    currency_code: 'USDC',
    transaction_hash: body.payout.transaction_hash,
    custom_metadata: JSON.stringify(metadata),
    chain_id: 31337,
    created_at: createdAt,
    expires_at: new Date(now.getTime() + 86_400_000).toISOString(),
  };
  const payout = {
    id,
    user_id: data.user_id,
    amount: data.amount,
    currency_code: data.currency_code,
    status: 'pending',
    transaction_hash: data.transaction_hash,
    reason: null,
    custom_metadata: metadata,
    created_at: createdAt,
  };
  return {
    event: {
      id: randomUUID(),
      stream: `payout-${id}`,
      type: 'payout.reported.v1',
      data: JSON.stringify(data),
    },
    response: JSON.stringify({ payout }),
  };
}
