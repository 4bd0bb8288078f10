import type { OutboundClient } from '../../../../platform/outbound/outbound-client.js';
import { plainHeaders } from '../provider-client.js';

/** A request of Twilio's package. */
export interface TwilioRequest {
  readonly method: string;
  readonly uri: string;
  readonly username?: string;
  readonly password?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** No response came. `wasSent` is false where nothing can have arrived. */
export class TwilioUnreachable extends Error {
  override readonly name = 'TwilioUnreachable';

  constructor(
    message: string,
    readonly wasSent: boolean,
  ) {
    super(message);
  }
}

/** What Twilio's package sends its requests through, in place of axios: to `base`, whichever host the package has in mind. */
export class TwilioTransport {
  constructor(
    private readonly client: Pick<OutboundClient, 'post'>,
    private readonly base: string,
  ) {}

  async request(request: TwilioRequest): Promise<{ statusCode: number; body: string }> {
    if (request.method !== 'post') throw new Error(`no ${request.method} is expected`);
    const { pathname, search } = new URL(request.uri);
    const { username = '', password = '', headers = {}, data = {} } = request;
    const body = new URLSearchParams(
      Object.entries(data).map(([name, value]): [string, string] => [name, String(value)]),
    );
    const result = await this.client.post(
      this.base.replace(/\/+$/, '') + pathname + search,
      {
        ...plainHeaders(headers),
        authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
      },
      body.toString(),
    );
    if (result.kind === 'response') return { statusCode: result.status, body: result.body.toString() };
    const { phase, error } = result;
    // A timeout says what was being done.
    const neverArrived =
      ['address', 'dns', 'connect', 'tls'].includes(phase) || /connecting|resolving/.test(error);
    throw new TwilioUnreachable(error, !neverArrived);
  }
}
