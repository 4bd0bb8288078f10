import { createApi, resultOf, writing, type Api, type ClientOptions } from './calls.js';
import { Pages } from './pages.js';
import { hashDigits, reconcile, type ExpectedPayout, type Reconciliation, type Period } from './reconcile.js';
import { signMerchantCall } from './signing.js';
import type { BodyOf, QueryOf, WriteOptions } from './types.js';

export interface MerchantOptions extends ClientOptions {
  /** The public id of the merchant. */
  readonly apiKey: string;
  /** The private key. Keep it on a server, because its holder can report payouts in your name. */
  readonly privateKey: string;
}

/**
 * The merchant API (docs/contract.md 2 to 17). Calls are signed and retried, and reject with an `ApiError` or
 * a `ConnectionError`. Every write has an Idempotency-Key.
 */
export class Disburse {
  /** The typed client of every path, which the methods below call. */
  readonly api: Api;

  constructor(options: MerchantOptions) {
    this.api = createApi(options, (outgoing) => signMerchantCall(options, outgoing));
  }

  readonly users = {
    create: (body: BodyOf<'createUser'>, options?: WriteOptions) =>
      resultOf(this.api.POST('/merchants/v1/users', { body, ...writing(options) })),
    get: (id: string) => resultOf(this.api.GET('/merchants/v1/users/{id}', path(id))),
    findByWallet: (address: string) =>
      resultOf(
        this.api.GET('/merchants/v1/users/by_issuer_wallet_address', { params: { query: { address } } }),
      ),
    balance: (id: string) => resultOf(this.api.GET('/merchants/v1/users/{id}/balance', path(id))),
    /** The events that were sent for a user, newest first. */
    events: (id: string, query: QueryOf<'listUserEvents'> = {}) =>
      new Pages(
        (page_cursor) =>
          resultOf(this.api.GET('/merchants/v1/users/{id}/events', list(id, query, page_cursor))),
        ({ events }) => events,
        query.page_cursor,
      ),
  };

  readonly payouts = {
    /** Records a payout for a transfer that you have broadcast. */
    report: async (body: BodyOf<'reportPayout'>, options?: WriteOptions) => {
      requireHash(body);
      return resultOf(this.api.POST('/merchants/v1/payouts/report', { body, ...writing(options) }));
    },
    get: (id: string) => resultOf(this.api.GET('/merchants/v1/payouts/{id}', path(id))),
    /** Lists payouts, newest first. */
    list: (query: QueryOf<'listPayouts'> = {}) =>
      new Pages(
        (cursor) =>
          resultOf(
            this.api.GET('/merchants/v1/payouts', { params: { query: { ...query, ...after(cursor) } } }),
          ),
        ({ payouts }) => payouts,
        query.page_cursor,
      ),
    evidence: (id: string) => resultOf(this.api.GET('/merchants/v1/payouts/{id}/evidence', path(id))),
    proof: (id: string) => resultOf(this.api.GET('/merchants/v1/payouts/{id}/proof', path(id))),
    /** Compares your own list of a period with the service's. */
    reconcile: (period: Period, own: Iterable<ExpectedPayout>): Promise<Reconciliation> =>
      reconcile(this.payouts.list({ ...period }), own),
  };

  readonly events = {
    /** Sends at most 1,000 events. A repeat with the same `event_id` is accepted and not stored. */
    send: (body: BodyOf<'sendEvents'>, options?: WriteOptions) =>
      resultOf(this.api.POST('/merchants/v1/events', { body, ...writing(options) })),
  };

  readonly webhookEndpoints = {
    /** Only this response contains the `signing_secret`. */
    register: (body: BodyOf<'registerWebhookEndpoint'>, options?: WriteOptions) =>
      resultOf(this.api.POST('/merchants/v1/webhook_endpoints', { body, ...writing(options) })),
    list: () => resultOf(this.api.GET('/merchants/v1/webhook_endpoints', {})),
    get: (id: string) => resultOf(this.api.GET('/merchants/v1/webhook_endpoints/{id}', path(id))),
    update: (id: string, body: BodyOf<'updateWebhookEndpoint'>, options?: WriteOptions) =>
      resultOf(
        this.api.PATCH('/merchants/v1/webhook_endpoints/{id}', { ...path(id), body, ...writing(options) }),
      ),
    delete: (id: string, options?: WriteOptions) =>
      resultOf(this.api.DELETE('/merchants/v1/webhook_endpoints/{id}', { ...path(id), ...writing(options) })),
    test: (id: string, options?: WriteOptions) =>
      resultOf(
        this.api.POST('/merchants/v1/webhook_endpoints/{id}/test_delivery', {
          ...path(id),
          ...writing(options),
        }),
      ),
    /**
     * Only this response contains the new secret. Deliveries are also signed with the former secret for
     * `overlap_seconds`, one day by default.
     */
    rotateSecret: (id: string, body?: BodyOf<'rotateWebhookSecret'>, options?: WriteOptions) =>
      resultOf(
        this.api.POST('/merchants/v1/webhook_endpoints/{id}/rotate_secret', {
          ...path(id),
          body,
          ...writing(options),
        }),
      ),
    /** Sends the failed deliveries of a period again. */
    recover: (id: string, body: BodyOf<'recoverWebhookEndpoint'>, options?: WriteOptions) =>
      resultOf(
        this.api.POST('/merchants/v1/webhook_endpoints/{id}/recover', {
          ...path(id),
          body,
          ...writing(options),
        }),
      ),
    stats: (id: string, query: QueryOf<'getWebhookEndpointStats'> = {}) =>
      resultOf(this.api.GET('/merchants/v1/webhook_endpoints/{id}/stats', list(id, query))),
  };

  readonly webhookDeliveries = {
    list: (endpointId: string, query: QueryOf<'listWebhookDeliveries'> = {}) =>
      new Pages(
        (cursor) =>
          resultOf(
            this.api.GET('/merchants/v1/webhook_endpoints/{id}/deliveries', list(endpointId, query, cursor)),
          ),
        ({ webhook_deliveries }) => webhook_deliveries,
        query.page_cursor,
      ),
    get: (id: string) => resultOf(this.api.GET('/merchants/v1/webhook_deliveries/{id}', path(id))),
    resend: (id: string, options?: WriteOptions) =>
      resultOf(
        this.api.POST('/merchants/v1/webhook_deliveries/{id}/resend', { ...path(id), ...writing(options) }),
      ),
  };

  readonly portalSessions = {
    create: (body: BodyOf<'createPortalSession'> = {}, options?: WriteOptions) =>
      resultOf(this.api.POST('/merchants/v1/portal_sessions', { body, ...writing(options) })),
    list: (query: QueryOf<'listPortalSessions'> = {}) =>
      new Pages(
        (cursor) =>
          resultOf(
            this.api.GET('/merchants/v1/portal_sessions', {
              params: { query: { ...query, ...after(cursor) } },
            }),
          ),
        ({ portal_sessions }) => portal_sessions,
        query.page_cursor,
      ),
    revoke: (id: string, options?: WriteOptions) =>
      resultOf(this.api.DELETE('/merchants/v1/portal_sessions/{id}', { ...path(id), ...writing(options) })),
  };

  readonly audit = {
    head: () => resultOf(this.api.GET('/merchants/v1/audit/head', {})),
    consistency: (query: QueryOf<'getAuditConsistency'>) =>
      resultOf(this.api.GET('/merchants/v1/audit/consistency', { params: { query } })),
  };

  /** The calls that exist only in the sandbox. */
  readonly sandbox = {
    transfer: (body: BodyOf<'createSandboxTransfer'>, options?: WriteOptions) =>
      resultOf(this.api.POST('/merchants/v1/sandbox/transfers', { body, ...writing(options) })),
    completeOnboarding: (userId: string, options?: WriteOptions) =>
      resultOf(
        this.api.POST('/merchants/v1/sandbox/users/{id}/complete_onboarding', {
          ...path(userId),
          ...writing(options),
        }),
      ),
    /** Ends the verification window of the payout now, so that `payout.failed` is sent. */
    expirePayout: (id: string, options?: WriteOptions) =>
      resultOf(
        this.api.POST('/merchants/v1/sandbox/payouts/{id}/expire', { ...path(id), ...writing(options) }),
      ),
    failOrder: (id: string, options?: WriteOptions) =>
      resultOf(this.api.POST('/merchants/v1/sandbox/orders/{id}/fail', { ...path(id), ...writing(options) })),
    /** Refunds an order as if its provider had returned the deposit. */
    refundOrder: (id: string, options?: WriteOptions) =>
      resultOf(
        this.api.POST('/merchants/v1/sandbox/orders/{id}/refund', { ...path(id), ...writing(options) }),
      ),
    /** Disables the endpoint, as sustained failures of its deliveries would. */
    breakWebhookEndpoint: (id: string, options?: WriteOptions) =>
      resultOf(
        this.api.POST('/merchants/v1/sandbox/webhook_endpoints/{id}/break', {
          ...path(id),
          ...writing(options),
        }),
      ),
  };
}

function path(id: string): { params: { path: { id: string } } } {
  return { params: { path: { id } } };
}

function list<Query extends object>(
  id: string,
  query: Query,
  cursor?: string,
): { params: { path: { id: string }; query: Query } } {
  return { params: { path: { id }, query: { ...query, ...after(cursor) } } };
}

function after(cursor: string | undefined): { page_cursor?: string } {
  return cursor === undefined ? {} : { page_cursor: cursor };
}

/** Throws a TypeError for an invalid transaction hash, which the service accepts and never confirms. */
function requireHash({ payout }: BodyOf<'reportPayout'>): void {
  const { transaction_hash: hash } = payout ?? {};
  if (typeof hash === 'string' && hashDigits(hash) === undefined)
    throw new TypeError(
      'transaction_hash is not a transaction hash: expected 64 hexadecimal digits after 0x',
    );
}
