/** A request of a merchant as it is recorded (admin-api.md 3): nothing of its body and no value of its query. */
export interface RequestRecord {
  readonly requestId: string;
  readonly merchantId: string;
  /** The secret that signed it; null where none was verified. */
  readonly credentialId: string | null;
  /** The arrival, by `performance.now()`. */
  readonly startedAt: number;
  readonly method: string;
  /** The address, or its part that is one client; it is not recorded. */
  readonly client: string;
  /** The path without personal data, no longer than a row may be, like {@link stringToSign}. */
  readonly path: string;
  readonly queryNames: readonly string[];
  readonly status: number;
  readonly durationMs: number;
  /** The `detail` of the problem that it got. */
  readonly refusal: string | null;
  /** The text that a signature should have covered but did not match, without the body. */
  readonly stringToSign: string | null;
}

/** Records requests to the APIs of merchants. The access context provides it; without one none is recorded. */
export abstract class RequestLog {
  /** Called with each response. Returns at once and never throws. */
  abstract record(request: RequestRecord): void;
}
