import type { loggedRequest } from './request-state.js';

/** The record of a merchant's request, without its body and the values of its query (admin-api.md 3). */
export type RequestRecord = NonNullable<ReturnType<typeof loggedRequest>>;

/** Records requests to the APIs of merchants. The access context provides it. */
export abstract class RequestLog {
  /** Returns at once and never throws. */
  abstract record(request: RequestRecord): void;
}
