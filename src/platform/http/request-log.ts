/** The record of a merchant's request, without its body and the values of its query (admin-api.md 3). */
export interface RequestRecord {
  readonly requestId: string;
  readonly merchantId: string;
  /** The secret that signed the request; null without a valid signature. */
  readonly credentialId: string | null;
  /** The arrival, as `performance.now()`. */
  readonly startedAt: number;
  readonly method: string;
  /** The normalised address; it is not stored. */
  readonly client: string;
  /** Shortened and without personal data, as {@link stringToSign}. */
  readonly path: string;
  readonly queryNames: readonly string[];
  readonly status: number;
  readonly durationMs: number;
  /** The `detail` of the problem in the response. */
  readonly refusal: string | null;
  /** The text that a wrong signature should have covered. */
  readonly stringToSign: string | null;
}

/** Records requests to the APIs of merchants. The access context provides it. */
export abstract class RequestLog {
  /** Returns at once and never throws. */
  abstract record(request: RequestRecord): void;
}
