import { createApi, resultOf, writing, type Api, type ClientOptions } from './calls.js';
import { Pages } from './pages.js';
import { signAddress, signExchangeCall } from './signing.js';
import type { QueryOf, WriteOptions } from './types.js';

export interface ExchangeOptions extends ClientOptions {
  /** The public part of a key of the exchange. */
  readonly apiKey: string;
  /** The secret of the key; absent for a key that requires no signatures. */
  readonly secret?: string;
}

type Signed = 'signature' | 'signature_v2' | 'api_key';
type Without<Query> = Omit<Query, Signed>;

/** The exchange and on-ramp API (docs/contract.md 21 to 25). Calls are retried, and signed with a secret. */
export class DisburseExchange {
  /** The typed client of every path, which the methods below call. */
  readonly api: Api;

  constructor(private readonly options: ExchangeOptions) {
    this.api = createApi(options, (outgoing) => signExchangeCall(options, outgoing));
  }

  readonly orders = {
    create: (query: Without<QueryOf<'createOrder'>>, options?: WriteOptions) =>
      resultOf(this.api.POST('/v1/orders', { params: { query }, ...writing(options) })),
    /** The orders, newest first. The period includes its first and its last day. */
    list: (query: QueryOf<'listOrders'>) =>
      new Pages(
        (cursor) =>
          resultOf(
            this.api.GET('/v1/merchant/orders', {
              params: { query: { ...query, ...(cursor === undefined ? {} : { page_cursor: cursor }) } },
            }),
          ),
        ({ orders }) => orders,
        query.page_cursor,
      ),
    /** Returns the order as last recorded; `refresh` reads it from the provider. */
    get: async (order: OrderReference) => resultOf(this.api.GET('/v1/orders/{id}', await this.action(order))),
    /** Reads the order from its provider. The three actions sign the withdraw address of the order. */
    refresh: async (order: OrderReference, options?: WriteOptions) =>
      resultOf(
        this.api.PATCH('/v1/orders/{id}/refresh', { ...(await this.action(order)), ...writing(options) }),
      ),
    cancel: async (order: OrderReference, options?: WriteOptions) =>
      resultOf(
        this.api.PATCH('/v1/orders/{id}/cancel', { ...(await this.action(order)), ...writing(options) }),
      ),
    markAsPaid: async (order: OrderReference, options?: WriteOptions) =>
      resultOf(
        this.api.PATCH('/v1/orders/{id}/mark_as_paid', {
          ...(await this.action(order)),
          ...writing(options),
        }),
      ),
  };

  tokens(query: Without<QueryOf<'listTokens'>>) {
    return resultOf(this.api.GET('/v1/tokens', { params: { query } }));
  }

  /** Returns the configuration with the `signed_url` of the pay page. */
  configuration(query: Without<QueryOf<'getConfiguration'>>) {
    return resultOf(this.api.GET('/v1/merchants/configuration', { params: { query } }));
  }

  private async action({ id, withdraw_address }: OrderReference) {
    const { secret } = this.options;
    const query = secret === undefined ? {} : { signature: await signAddress(secret, withdraw_address) };
    return { params: { path: { id }, query } };
  }
}

/** The members of an order that an action needs. */
export interface OrderReference {
  readonly id: string;
  readonly withdraw_address: string;
}
