import { send, type ApiResponse } from '../http/signed-client.js';

export interface AdminCall {
  readonly method?: 'GET' | 'POST' | 'PATCH';
  /** The path after `/admin/v1`, with the query. */
  readonly path: string;
  readonly body?: object | string;
  /** The ETag with its quotes. */
  readonly ifMatch?: string;
  /** A bare uuid, which the header quotes. */
  readonly idempotencyKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export class AdminClient {
  constructor(
    readonly baseUrl: string,
    readonly key: string,
    /** The owner of the key. */
    readonly operatorId: string,
    private readonly check: (call: AdminCall, response: ApiResponse) => void = () => undefined,
  ) {}

  async call(call: AdminCall): Promise<ApiResponse> {
    const { method = 'GET', path, body, ifMatch, idempotencyKey, headers } = call;
    const response = await send(`${this.baseUrl}/admin/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': `"${idempotencyKey}"` }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    this.check(call, response);
    return response;
  }

  get(path: string): Promise<ApiResponse> {
    return this.call({ path });
  }

  post(path: string, body?: AdminCall['body'], options: Partial<AdminCall> = {}): Promise<ApiResponse> {
    return this.call({ method: 'POST', path, ...(body === undefined ? {} : { body }), ...options });
  }

  /** Reads the ETag of `path`, then writes to `path` + `action`. */
  async change(path: string, action: string, body: object): Promise<ApiResponse> {
    const { headers } = await this.get(path);
    const method = action === '' ? 'PATCH' : 'POST';
    return this.call({ method, path: `${path}${action}`, body, ifMatch: headers['etag'] ?? '' });
  }
}
