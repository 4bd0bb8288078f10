import type { components, operations, webhooks } from './generated/document.js';

export type Operations = operations;

type Content<T> = T extends { content: { 'application/json': infer Body } } ? Body : undefined;
type Success<R> = R[keyof R & (200 | 201 | 202 | 204)];

/** The body that an operation takes. */
export type BodyOf<Name extends keyof operations> = operations[Name] extends { requestBody?: infer Body }
  ? Content<NonNullable<Body>>
  : undefined;

/** The query parameters that an operation takes. */
export type QueryOf<Name extends keyof operations> = NonNullable<operations[Name]['parameters']['query']>;

/** The body of an operation's successful response. */
export type DataOf<Name extends keyof operations> = Content<Success<operations[Name]['responses']>>;

/** The resources that responses hold, such as `data.payout`. */
type Schemas = components['schemas'];
export type Balance = Schemas['Balance'];
export type Consistency = Schemas['Consistency'];
export type Evidence = Schemas['Evidence'];
export type LedgerHead = Schemas['LedgerHead'];
export type Onramp = Schemas['Onramp'];
export type Order = Schemas['Order'];
export type Payout = Schemas['Payout'];
export type PayoutTotals = Schemas['PayoutTotals'];
export type PortalSession = Schemas['DisplayedPortalSession'];
export type Proof = Schemas['Proof'];
export type Token = Schemas['Token'];
export type User = Schemas['User'];
export type UserEvent = Schemas['UserEvent'];
export type WebhookDelivery = Schemas['WebhookDelivery'];
export type WebhookDeliveryDetail = Schemas['WebhookDeliveryDetail'];
export type WebhookEndpoint = Schemas['WebhookEndpoint'];
export type WebhookEndpointStats = Schemas['WebhookEndpointStats'];
export type WebhookEndpointWithSecret = Schemas['WebhookEndpointWithSecret'];
export type WebhookRecovery = Schemas['WebhookRecovery'];
export type WebhookTestDelivery = Schemas['WebhookTestDelivery'];

/** A successful response. */
export interface Result<Data> {
  readonly data: Data;
  readonly status: number;
  /** Header `Request-Id`: name it when you ask for help. */
  readonly requestId: string | null;
  /** The first response to this Idempotency-Key, sent again (docs/contract.md 4.3): the write was not done twice. */
  readonly replayed: boolean;
}

export interface WriteOptions {
  /**
   * Your own id of this write, such as `invoice 42`. The Idempotency-Key is derived from it, so the same write after a
   * crash gets the first response. A uuid is used as it is. Without it each call has a new key, which its retries
   * share.
   */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

type EventOf<Hook> = Hook extends { post: { requestBody: { content: { 'application/json': infer Event } } } }
  ? Event
  : never;

/** The body of a webhook. Its `type` decides which `data` it has. */
export type WebhookEvent = { [Type in keyof webhooks]: EventOf<webhooks[Type]> }[keyof webhooks];
export type WebhookEventType = WebhookEvent['type'];
