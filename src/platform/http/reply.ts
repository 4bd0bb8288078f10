/** A response with its own status. With the route's status, a controller returns JSON text or an object. */
export class Reply {
  constructor(
    readonly status: number,
    /** JSON text; empty for no body. */
    readonly body: string,
  ) {}
}
