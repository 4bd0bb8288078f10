/** Header fields as they came, names in lower case. */
export type CallbackHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** What a callback says once its signature holds: that there may be something to look at, and nothing that is believed. */
export interface Callback {
  /** Names the event: a repeat has the same, and no other has it. */
  readonly eventId: string;
  /** When the provider signed it, or what it tells of happened. */
  readonly at: Date;
  /** What the provider calls the check; null when it concerns none. */
  readonly check: string | null;
}

/** The body was not signed by the provider (`forged`), or is not what it sends (`malformed`). */
export class CallbackRefused extends Error {
  override readonly name = 'CallbackRefused';
  constructor(readonly why: 'forged' | 'malformed') {
    super(`the callback is ${why}`);
  }
}

/** Verifies the callbacks of one provider by their signatures. */
export interface CallbackReader {
  /** As in the path. */
  readonly provider: string;
  /** Throws, or rejects with, {@link CallbackRefused}. `body`: the bytes as they came. */
  read(headers: CallbackHeaders, body: Buffer): Callback | Promise<Callback>;
}
/** Null where the identity provider sends none. */
export const CALLBACK_READER = Symbol('CALLBACK_READER');
