import type { Readable } from 'node:stream';

/**
 * A response that is already text: these bytes are sent, stored under the Idempotency-Key and replayed. A write whose
 * response is stored with its events returns one; other controllers return a plain object, which the edge serializes.
 */
export class Reply {
  constructor(
    readonly status: number,
    /** JSON text, as its bytes in UTF-8 when it is large; empty for no body. */
    readonly body: string | Buffer,
  ) {}
}

/** A response that is sent while it is read, of a GET: one that is cut off has no end of its chunks. */
export class StreamReply {
  constructor(
    readonly contentType: string,
    readonly body: Readable,
  ) {}
}
