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
  /** The header `Request-Id`, by which support finds the request. */
  readonly requestId: string | null;
  /** True for a repetition of the first response to this Idempotency-Key (docs/contract.md 4.3). */
  readonly replayed: boolean;
}

export interface WriteOptions {
  /**
   * Your own id of this write, such as `invoice 42`, from which the Idempotency-Key is derived. A repeat
   * after a crash gets the first response. A UUID is used as it is. Without an id, each call has a new key.
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
