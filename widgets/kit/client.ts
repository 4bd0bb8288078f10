import { isBackground } from './activity.js';
import { isRow, queryOf, type Row } from './fields.js';

/** The title of the problem that a recent login resolves. */
export const LOGIN_REQUIRED = 'Login required';

/** An unsuccessful response. Status 0 means no response. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly title: string,
    readonly detail: string,
    /** The messages by the invalid member of the body. */
    readonly errors: Readonly<Record<string, readonly string[]>> = {},
  ) {
    super(detail || title);
  }

  /** True if the person has to sign in again before a decision. */
  get wantsLogin(): boolean {
    return this.title === LOGIN_REQUIRED;
  }
}

/** The response to a read, with the revision for `If-Match`. */
export interface Read {
  readonly body: Row;
  readonly etag: string | null;
}

export interface Write {
  readonly method: 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  readonly etag?: string | null;
  /** The Idempotency-Key: a UUID that is the same for repeats of the same write. */
  readonly key?: string;
}

export type Query = Readonly<Record<string, string | null | undefined>>;

/** The requests of a page to its origin, with its cookie. Paths begin with a slash and follow `base`. */
export class Client {
  /** Called for a 401. */
  onSignedOut: () => void = () => undefined;

  constructor(private readonly base: string) {}

  async get(path: string, query: Query = {}, signal?: AbortSignal): Promise<Read> {
    const response = await this.send(path + queryOf(query), signal === undefined ? {} : { signal });
    return { body: await bodyOf(response), etag: response.headers.get('etag') };
  }

  async write({ method, path, body, etag, key }: Write): Promise<{ status: number; body: Row }> {
    const headers: Record<string, string> = {};
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (key !== undefined) headers['idempotency-key'] = `"${key}"`;
    if (etag) headers['if-match'] = etag;
    const text = body === undefined ? null : JSON.stringify(body);
    const response = await this.send(path, { method, headers, body: text });
    return { status: response.status, body: await bodyOf(response) };
  }

  private async send(path: string, init: Init): Promise<Response> {
    const headers = { ...init.headers, ...(isBackground() && { 'disburse-background': 'true' }) };
    const request: RequestInit = { credentials: 'same-origin', redirect: 'error', ...init, headers };
    const response = await fetch(this.base + path, request).catch((error: unknown) => {
      if (error instanceof DOMException && error.name === 'AbortError') throw error;
      throw new Problem(
        0,
        'No connection',
        'The service did not respond. Check your connection: once it is back, the page is read again.',
      );
    });
    if (response.ok) return response;
    if (response.status === 401) this.onSignedOut();
    throw problemOf(response.status, await bodyOf(response));
  }
}

interface Init {
  readonly method?: Write['method'];
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | null;
  readonly signal?: AbortSignal;
}

async function bodyOf(response: Response): Promise<Row> {
  const body: unknown = response.status === 204 ? null : await response.json().catch(() => null);
  return isRow(body) ? body : {};
}

function problemOf(status: number, body: Row): Problem {
  const { title, detail, errors } = body;
  const messages = isRow(errors) ? Object.entries(errors) : [];
  return new Problem(
    status,
    typeof title === 'string' ? title : `The service responded with ${status}`,
    typeof detail === 'string' ? detail : '',
    Object.fromEntries(messages.map(([name, each]) => [name, [each].flat().map(String)])),
  );
}

/** Returns the single object of a response such as `{payout: {...}}`. */
export function theOne(body: Row): Row {
  const found = Object.values(body).find(isRow);
  return found ?? body;
}

/** Returns the rows of a list response such as `{payouts: [...], next_cursor}`. */
export function theRows(body: Row): readonly Row[] {
  const found = Object.values(body).find((each) => Array.isArray(each)) as unknown[] | undefined;
  return (found ?? []).filter(isRow);
}
