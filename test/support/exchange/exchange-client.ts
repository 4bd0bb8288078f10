import { createHmac } from 'node:crypto';
import { send, type ApiResponse, type SignedCall } from '../http/signed-client.js';

interface ExchangeCredentials {
  readonly apiKey: string;
  readonly secret: string;
}

export interface ExchangeCall {
  readonly method?: SignedCall['method'];
  readonly path: string;
  /** Parameters besides `api_key` and `signature`. Undefined ones are omitted. */
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** The signed address, by default that of the query, or none for the list. Null signs nothing. */
  readonly signs?: string | null | undefined;
  readonly idempotencyKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const LIST = '/v1/merchant/orders';

/** Signs `withdraw_address=<address>` (contract.md 21.3), without the service's code. */
export const exchangeSignature = (secret: string, withdrawAddress: string): string =>
  createHmac('sha256', secret).update(`withdraw_address=${withdrawAddress}`).digest('hex');

/** Computes `signature_v2` of an ASCII query (contract.md 21.8), without the service's code. */
export function querySignature(
  secret: string,
  path: string,
  query: Readonly<Record<string, string>>,
): string {
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${escape(value)}`);
  return createHmac('sha256', secret)
    .update(`${path}?${pairs.sort().join('&')}`)
    .digest('hex');
}

/** Encodes everything but letters, digits and `-._~` (RFC 3986). */
function escape(text: string): string {
  return text.replace(
    /[^A-Za-z0-9\-._~]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

/** A caller of the exchange API with its key. It signs if there is an address to sign. */
export class ExchangeClient {
  constructor(
    readonly baseUrl: string,
    readonly credentials: ExchangeCredentials,
    private readonly check: (call: ExchangeCall, response: ApiResponse) => void = () => undefined,
  ) {}

  async call(call: ExchangeCall): Promise<ApiResponse> {
    const isList = call.path.split('?')[0] === LIST;
    const { apiKey } = this.credentials;
    const signature = this.signatureOf(call, isList);
    const query = isList ? { ...call.query } : { api_key: apiKey, ...call.query, signature };
    const given = Object.entries(query).filter((each): each is [string, string] => each[1] !== undefined);
    const headers = {
      ...(isList ? { 'x-api-key': apiKey } : {}),
      ...(isList && signature !== undefined ? { 'x-signature': signature } : {}),
      ...(call.idempotencyKey === undefined ? {} : { 'idempotency-key': `"${call.idempotencyKey}"` }),
      ...call.headers,
    };
    const url = `${this.baseUrl}${call.path}?${new URLSearchParams(given)}`;
    const { method = 'GET', body } = call;
    const response = await send(url, { method, headers, ...(body === undefined ? {} : { body }) });
    this.check(call, response);
    return response;
  }

  get(path: string, query?: ExchangeCall['query'], signs?: string | null): Promise<ApiResponse> {
    return this.call({ path, query: query ?? {}, signs });
  }

  order(query: ExchangeCall['query'], idempotencyKey?: string): Promise<ApiResponse> {
    const key = idempotencyKey === undefined ? {} : { idempotencyKey };
    return this.call({ method: 'POST', path: '/v1/orders', query: query ?? {}, ...key });
  }

  act(orderId: string, action: 'refresh' | 'cancel' | 'mark_as_paid', address: string): Promise<ApiResponse> {
    return this.call({ method: 'PATCH', path: `/v1/orders/${orderId}/${action}`, signs: address });
  }

  read(orderId: string, address: string): Promise<ApiResponse> {
    return this.call({ path: `/v1/orders/${orderId}`, signs: address });
  }

  list(query: ExchangeCall['query']): Promise<ApiResponse> {
    return this.call({ path: LIST, query: query ?? {} });
  }

  private signatureOf({ signs, query }: ExchangeCall, isList: boolean): string | undefined {
    const own = isList ? '' : (query?.['withdraw_address'] ?? null);
    const address = signs === undefined ? own : signs;
    return address === null ? query?.['signature'] : exchangeSignature(this.credentials.secret, address);
  }
}
