/** Any failure of a call. */
export class DisburseError extends Error {
  override name = 'DisburseError';
}

/** The error if no attempt got a response in time. A write may be done; repeat it under the same key. */
export class ConnectionError extends DisburseError {
  override name = 'ConnectionError';
}

/** The error for a response of more than `maxResponseBytes`. It is not retried, but a write may be done. */
export class ResponseTooLargeError extends ConnectionError {
  override name = 'ResponseTooLargeError';
}

/** The members of a problem response (docs/contract.md 3.1). */
export interface Problem {
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly errors: Readonly<Record<string, readonly string[]>>;
}

/** The error for a response with a status from 400. */
export class ApiError extends DisburseError {
  override name = 'ApiError';
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  /** The messages of a 422 by field. */
  readonly errors: Readonly<Record<string, readonly string[]>>;

  constructor(
    problem: Problem,
    readonly requestId: string | null,
    hint: string | null = null,
  ) {
    super([...sentences(problem), ...(hint === null ? [] : [hint])].join('; '));
    this.status = problem.status;
    this.title = problem.title;
    this.detail = problem.detail;
    this.errors = problem.errors;
  }
}

/** The status, the detail, and messages of fields that the detail lacks. */
function sentences({ status, detail, errors }: Problem): readonly string[] {
  const head = new RegExp(`^(HTTP )?${status}\\b`).test(detail) ? detail : `${status} ${detail}`;
  const fields = Object.entries(errors)
    // A message about one element begins with its index, as in `event_types[1] must be ...`.
    .map(([field, messages]) => `${field}${messages[0]?.startsWith('[') ? '' : ' '}${messages.join(', ')}`)
    .filter((each) => !`; ${detail};`.includes(`; ${each};`));
  return [head, ...fields];
}

/** 401: the key, time or signature is wrong. The message has the first byte that differs, if known. */
export class AuthenticationError extends ApiError {
  override name = 'AuthenticationError';
}
/** 403: the merchant is suspended, or the address not allowed. */
export class ForbiddenError extends ApiError {
  override name = 'ForbiddenError';
}
/** 404. */
export class NotFoundError extends ApiError {
  override name = 'NotFoundError';
}
/** 409: the state of the resource does not allow the call. */
export class ConflictError extends ApiError {
  override name = 'ConflictError';
}
/** 400 and 422: see `errors`. */
export class InvalidRequestError extends ApiError {
  override name = 'InvalidRequestError';
}
/** 429, after all attempts. */
export class RateLimitError extends ApiError {
  override name = 'RateLimitError';
}
/** 5xx, after all attempts. */
export class ServerError extends ApiError {
  override name = 'ServerError';
}

const CLASSES: Readonly<Record<number, typeof ApiError>> = {
  400: InvalidRequestError,
  401: AuthenticationError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  422: InvalidRequestError,
  429: RateLimitError,
};

export function apiError(problem: Problem, requestId: string | null, hint: string | null): ApiError {
  const Class = CLASSES[problem.status] ?? (problem.status >= 500 ? ServerError : ApiError);
  return new Class(problem, requestId, hint);
}

/** Returns the problem of a response. If a proxy sent none, the problem contains only the status. */
export function problemOf(status: number, text: string): Problem {
  const body = (jsonOf(text) ?? {}) as Record<string, unknown>;
  const title = textOr(body['title'], `HTTP ${status}`);
  return { title, detail: textOr(body['detail'], title), errors: errorsIn(body['errors']), status };
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}

/** Returns the lists of messages by field. Any other value is left out: a proxy may send it. */
function errorsIn(value: unknown): Problem['errors'] {
  const isMessages = (each: unknown): each is string[] =>
    Array.isArray(each) && each.every((message) => typeof message === 'string');
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string[]] => isMessages(entry[1])),
  );
}

function jsonOf(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

/** Explains which signed byte differs from the bytes that the service expects; null if it sent none. */
export function signatureHint(text: string, signed: Uint8Array): string | null {
  const { string_to_sign_bytes: theirs } = (jsonOf(text) ?? {}) as {
    string_to_sign_bytes?: readonly number[];
  };
  if (!Array.isArray(theirs)) return null;
  const at = Math.max(signed.length, theirs.length) === 0 ? -1 : firstDifference(signed, theirs);
  if (at < 0) return 'both signed the same bytes: the private key is not that of this api key';
  const show = (byte: number | undefined): string =>
    byte === undefined ? 'nothing' : JSON.stringify(String.fromCharCode(byte));
  return `byte ${at} of the string to sign differs: ${show(signed[at])} here, ${show(theirs[at])} at the service`;
}

function firstDifference(a: Uint8Array, b: readonly number[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) if (a[at] !== b[at]) return at;
  return -1;
}
