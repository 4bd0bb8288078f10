import type { Readable } from 'node:stream';

/** A response with its own status. With the status of the route, a controller returns the JSON text or an object. */
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
