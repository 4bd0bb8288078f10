import type { Readable } from 'node:stream';

/**
 * A response with a status other than the route's. For the route's status, a controller returns the JSON text or an
 * object.
 */
export class Reply {
  constructor(
    readonly status: number,
    /** JSON text; empty for no body. */
    readonly body: string,
  ) {}
}

/** A streamed response to a GET. Its last chunk is missing if the source fails. */
export class StreamReply {
  constructor(
    readonly contentType: string,
    readonly body: Readable,
  ) {}
}
