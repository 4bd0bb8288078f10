import type { OutboundClient } from '../../../../platform/outbound/outbound-client.js';
import { plainHeaders } from '../provider-client.js';

/** What Stripe's package takes for a response. */
interface StripeResponse {
  getStatusCode(): number;
  getHeaders(): Record<string, string>;
  getRawResponse(): object;
  toStream(): never;
  toJSON(): Promise<unknown>;
}

/** What Stripe's package sends its requests through, to `base` whichever host it has in mind. */
export class StripeTransport {
  constructor(
    private readonly client: Pick<OutboundClient, 'get' | 'post'>,
    private readonly base: string,
  ) {}

  getClientName(): string {
    return 'disburse';
  }

  async makeRequest(
    _host: string,
    _port: string,
    path: string,
    method: string,
    headers: object,
    body: string,
  ): Promise<StripeResponse> {
    const url = this.base.replace(/\/+$/, '') + path;
    const sent = plainHeaders(headers as Record<string, unknown>);
    if (method !== 'GET' && method !== 'POST') throw new Error(`no ${method} is expected`);
    const result =
      method === 'GET' ? await this.client.get(url, sent) : await this.client.post(url, sent, body);
    if (result.kind === 'failed') throw new Error(result.error);
    return {
      getStatusCode: () => result.status,
      getHeaders: () => ({}),
      getRawResponse: () => ({ statusCode: result.status }),
      toStream: () => {
        throw new Error('no stream is expected');
      },
      toJSON: async () => {
        const parsed: unknown = JSON.parse(result.body.toString());
        if (typeof parsed !== 'object' || parsed === null) throw new Error('no object');
        return parsed;
      },
    };
  }
}
