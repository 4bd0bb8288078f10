import type { DefaultApi } from '@onfido/api';
import { ProviderRefused, ProviderUnavailable } from '../../../../platform/outbound/provider-errors.js';

/** Options of one request; the package names the type of its HTTP client nowhere. */
type RequestOptions = NonNullable<Parameters<DefaultApi['findCheck']>[1]>;
type Send = (api: DefaultApi, options: RequestOptions) => Promise<{ readonly data: unknown }>;

export interface OnfidoAccount {
  readonly onfidoUrl: string;
  readonly onfidoApiToken: string;
}

const MAX_RESPONSE_BYTES = 1 << 20;
/** An image of 8 MiB and its form. */
const MAX_REQUEST_BYTES = 12 << 20;

/** Onfido refuses the request for good. */
export class OnfidoRefused extends Error {
  override readonly name = 'OnfidoRefused';
  constructor(
    readonly status: number,
    /** Onfido's own name of the error, such as `validation_error`. */
    readonly type: string,
    /** The refused part of the request, in lower case; never displayed. */
    readonly about: string,
  ) {
    super(`Onfido refuses the request with ${status}`);
  }
}

/** Unchecked JSON. */
export type OnfidoObject = Readonly<Record<string, unknown>>;

/**
 * Onfido's API 3.6 through its own package, bounded in time and size, without redirects and proxies. No error holds
 * personal data.
 */
export class OnfidoApi {
  private api: DefaultApi | null = null;

  constructor(
    private readonly account: OnfidoAccount,
    private readonly timeoutMs: number,
  ) {}

  /** A refusal is the person's with a `reason`; without one it is an error of ours, and is retried. */
  async call(send: Send, reason?: (refused: OnfidoRefused) => string): Promise<OnfidoObject> {
    try {
      return await this.request(send);
    } catch (error) {
      if (!(error instanceof OnfidoRefused)) throw error;
      if (reason !== undefined && [400, 413, 422].includes(error.status))
        throw new ProviderRefused(reason(error));
      throw new ProviderUnavailable(`Onfido refuses a request of ours (${error.status}, ${error.type})`);
    }
  }

  async list(name: string, send: Send): Promise<readonly OnfidoObject[]> {
    const list = (await this.call(send))[name];
    const isList = Array.isArray(list) && list.every((each) => typeof each === 'object' && each !== null);
    if (!isList) throw new ProviderUnavailable(`Onfido gives no list of ${name}`);
    return list as readonly OnfidoObject[];
  }

  /** Throws {@link OnfidoRefused} for what is never accepted, otherwise ProviderUnavailable. */
  async request(send: Send): Promise<OnfidoObject> {
    const api = (this.api ??= await this.open());
    try {
      // The package's own timeout restarts with each byte.
      const { data } = await send(api, { signal: AbortSignal.timeout(this.timeoutMs) });
      return typeof data === 'object' && data !== null && !Array.isArray(data) ? (data as OnfidoObject) : {};
    } catch (error) {
      throw errorOf(error);
    }
  }

  /** Loads 400 kB of code: at the first call. */
  private async open(): Promise<DefaultApi> {
    const { Configuration, DefaultApi } = await import('@onfido/api');
    const { onfidoApiToken: apiToken, onfidoUrl } = this.account;
    const baseOptions = {
      timeout: this.timeoutMs,
      maxRedirects: 0,
      proxy: false,
      decompress: false,
      maxContentLength: MAX_RESPONSE_BYTES,
      maxBodyLength: MAX_REQUEST_BYTES,
    };
    return new DefaultApi(
      new Configuration({ apiToken, basePath: onfidoUrl.replace(/\/+$/, ''), baseOptions }),
    );
  }
}

/** Errors of the package hold the request with names, images and token: only status and type are passed on. */
function errorOf(error: unknown): Error {
  const { response, code } = error as { readonly response?: unknown; readonly code?: unknown };
  if (typeof response !== 'object' || response === null) {
    const why = typeof code === 'string' ? code : 'no response';
    return new ProviderUnavailable(`Onfido cannot be reached (${why})`);
  }
  const { status, data } = response as { readonly status?: unknown; readonly data?: unknown };
  if (typeof status !== 'number') return new ProviderUnavailable('Onfido responds without a status');
  const { type, about } = refusalIn(data);
  if (status === 401 || status === 403)
    return new ProviderUnavailable(`Onfido does not accept our token (${status})`);
  if (status < 400 || status >= 500 || status === 408 || status === 429)
    return new ProviderUnavailable(`Onfido is unavailable: it responds with ${status}`);
  return new OnfidoRefused(status, type, about);
}

function refusalIn(data: unknown): { readonly type: string; readonly about: string } {
  const error = (data as { readonly error?: unknown } | null)?.error;
  const { type, message, fields } = (
    typeof error === 'object' && error !== null ? error : {}
  ) as OnfidoObject;
  return {
    type: typeof type === 'string' && /^[a-z_]{1,60}$/.test(type) ? type : 'unknown',
    about: JSON.stringify([message, fields] as const)
      .toLowerCase()
      .slice(0, 2000),
  };
}
