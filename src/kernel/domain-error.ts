/** The kind of an error, which ProblemFilter maps to an HTTP status (contract.md 3). */
export type DomainErrorCode =
  | 'bad_request'
  | 'forbidden'
  | 'not_found'
  | 'invalid_transition'
  | 'precondition_failed'
  | 'precondition_required'
  | 'too_large'
  | 'validation_failed'
  | 'rate_limited'
  | 'unavailable';

/** The messages per field. A field name has no wrapper: `url`, not `webhook_endpoint.url`. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** The error that domain and application code throw. The response contains `message`. */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly isTransient: boolean = false;

  constructor(
    readonly code: DomainErrorCode,
    message: string,
    readonly fields: FieldErrors = {},
    readonly retryAfterSeconds?: number,
  ) {
    super(message);
  }

  /** Marks an error that is due to the current state, so that the same request may succeed later. */
  asTransient(): this {
    return Object.assign(this, { isTransient: true });
  }

  static notFound(what: string): DomainError {
    return new DomainError('not_found', `${what} not found`);
  }

  static invalid(fields: FieldErrors): DomainError {
    const detail = Object.entries(fields)
      // The message of an element begins with its index, as in `addresses[1] must be ...`.
      .map(([field, messages]) => `${field}${messages[0]?.startsWith('[') ? '' : ' '}${messages.join(', ')}`)
      .join('; ');
    return new DomainError('validation_failed', detail, fields);
  }
}
