/** A response with a status other than the route's. Otherwise a controller returns JSON text or an object. */
export class Reply {
  constructor(
    readonly status: number,
    /** JSON text; empty for no body. */
    readonly body: string,
  ) {}
}
