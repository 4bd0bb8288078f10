import type { DefaultApi } from '@onfido/api';
import { ProviderRefused, ProviderUnavailable } from '../../../platform/outbound/provider-errors.js';
import type { Callback, CallbackHeaders } from '../providers/providers.ports.js';
import type { ImageKind } from './image-kind.js';
import en from '../words/en.json' with { type: 'json' };

/** The options of one request; the package does not export this type. */
type RequestOptions = NonNullable<Parameters<DefaultApi['findCheck']>[1]>;
type Send = (api: DefaultApi, options: RequestOptions) => Promise<{ readonly data: unknown }>;

export type OnfidoAccount = Readonly<Record<'onfidoUrl' | 'onfidoApiToken' | 'onfidoWebhookToken', string>>;

const MAX_RESPONSE_BYTES = 1 << 20;
/** The maximum size of a request: an 8 MiB image in form encoding. */
const MAX_REQUEST_BYTES = 12 << 20;

/** A refused request (4xx) without a reason for the person. It counts as an unavailable provider. */
export class OnfidoRefused extends ProviderUnavailable {
  constructor(
    readonly status: number,
    readonly type: string,
  ) {
    super(`Onfido refuses our request (${status}, ${type})`);
  }
}

export type OnfidoObject = Readonly<Record<string, unknown>>;

/** Returns the reason to display. `about` is Onfido's description in lower case, which is never displayed. */
type Reason = (about: string) => string;

/** The client of Onfido's API 3.6, bounded in time and size. Its errors contain no personal data. */
export class OnfidoApi {
  private api: DefaultApi | null = null;

  constructor(
    private readonly account: OnfidoAccount,
    private readonly timeoutMs: number,
  ) {}

  /** Sends a request. Throws ProviderRefused for rejected data if `reason` is set, or ProviderUnavailable. */
  async call(send: Send, reason?: Reason): Promise<OnfidoObject> {
    const api = (this.api ??= await this.open());
    try {
      // The package's own timeout restarts with each byte.
      const { data } = await send(api, { signal: AbortSignal.timeout(this.timeoutMs) });
      return typeof data === 'object' && data !== null && !Array.isArray(data) ? (data as OnfidoObject) : {};
    } catch (error) {
      throw toError(error, reason);
    }
  }

  async list(name: string, send: Send): Promise<readonly OnfidoObject[]> {
    const list = (await this.call(send))[name];
    const isList = Array.isArray(list) && list.every((each) => typeof each === 'object' && each !== null);
    if (!isList) throw new ProviderUnavailable(`Onfido returned no list of ${name}`);
    return list as readonly OnfidoObject[];
  }

  /** Loads the package (400 kB) at the first call. */
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

/** An error of the package. Its body is not validated. */
interface Thrown {
  readonly code?: string;
  readonly response?: {
    readonly status: number;
    readonly data?: { readonly error?: { type?: unknown; message?: unknown; fields?: unknown } } | null;
  };
}

/** Keeps only status and type, because the package's errors contain names, images and the token. */
function toError(error: unknown, reason?: Reason): Error {
  const { response, code = 'no response' } = error as Thrown;
  if (response === undefined) return new ProviderUnavailable(`Onfido cannot be reached (${code})`);
  const { status } = response;
  if (status === 401 || status === 403)
    return new ProviderUnavailable(`Onfido does not accept our token (${status})`);
  if (status < 400 || status >= 500 || status === 408 || status === 429)
    return new ProviderUnavailable(`Onfido is unavailable: it responds with ${status}`);
  const { type, message, fields } = response.data?.error ?? {};
  if (reason !== undefined && [400, 413, 422].includes(status))
    return new ProviderRefused(reason(JSON.stringify([message, fields]).toLowerCase()));
  return new OnfidoRefused(status, /^[a-z_]{1,60}$/.test(String(type)) ? String(type) : 'unknown');
}

const SIGNATURE = /^[0-9a-f]{64}$/i;

/** Verifies and parses a webhook. `X-SHA2-Signature` is HMAC-SHA-256 of the body under `token`. */
export async function readWebhook(
  token: string,
  headers: CallbackHeaders,
  body: Buffer,
): Promise<Callback | 'forged' | 'malformed'> {
  const { OnfidoInvalidSignatureError, WebhookEventVerifier } = await import('@onfido/api');
  const signature = headers['x-sha2-signature'];
  // The package throws a different error for a signature of the wrong length.
  if (typeof signature !== 'string' || !SIGNATURE.test(signature)) return 'forged';
  try {
    return readCallback(new WebhookEventVerifier(token).readPayload(body, signature));
  } catch (error) {
    if (error instanceof OnfidoInvalidSignatureError) return 'forged';
    if (error instanceof SyntaxError) return 'malformed';
    throw error;
  }
}

function readCallback(event: unknown): Callback | 'malformed' {
  const { payload } = (event ?? {}) as { readonly payload?: OnfidoObject | null };
  const { id, completed_at_iso8601, started_at_iso8601 } = (payload?.['object'] ?? {}) as OnfidoObject;
  const at = new Date(String(completed_at_iso8601 ?? started_at_iso8601));
  if (Number.isNaN(at.getTime())) return 'malformed';
  if (payload?.['resource_type'] !== 'check') return { at, check: null };
  return typeof id === 'string' ? { at, check: id } : 'malformed';
}

export function imageReason(kind: ImageKind, about: string): string {
  if (/size|large|small|bytes/.test(about)) return en.reasonSize;
  return kind === 'selfie' ? en.reasonSelfie : en.reasonUnreadable;
}

/** The reasons by failed breakdown, the most actionable first. The first match is reported. */
const BREAKDOWNS: readonly (readonly [report: RegExp, path: readonly string[], reason: string])[] = [
  [/^document/, ['data_validation', 'document_expiration'], en.reasonExpired],
  [/^document/, ['data_validation', 'expiry_date'], en.reasonExpired],
  [/^document/, ['image_integrity', 'supported_document'], en.reasonUnsupported],
  [/^document/, ['image_integrity'], en.reasonUnreadable],
  [/^document/, ['age_validation'], en.reasonAge],
  [/^document/, ['data_comparison'], en.reasonDetails],
  [/^facial/, ['image_integrity', 'source_integrity'], en.reasonNotLive],
  [/^facial/, ['image_integrity'], en.reasonSelfie],
  [/^facial/, ['visual_authenticity'], en.reasonNotLive],
  [/^facial/, ['face_comparison'], en.reasonFace],
];

/** Returns the reason of a failed check. Suspected fraud is not explained to the person. */
export function checkReason(reports: readonly unknown[]): string {
  if (reports.some((report) => field(report, 'sub_result') === 'suspected')) return en.reasonVerification;
  const failed = BREAKDOWNS.find(([name, path]) =>
    reports.some((report) => name.test(String(field(report, 'name'))) && isFailed(report, path)),
  );
  return failed?.[2] ?? en.reasonVerification;
}

function isFailed(report: unknown, path: readonly string[]): boolean {
  let at: unknown = report;
  for (const name of path) at = field(field(at, 'breakdown'), name);
  const result = field(at, 'result');
  return result === 'consider' || result === 'unidentified';
}

function field(object: unknown, name: string): unknown {
  return typeof object === 'object' && object !== null ? (object as OnfidoObject)[name] : undefined;
}
