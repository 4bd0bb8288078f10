/**
 * A response that is already text: the exact bytes are sent, stored under the Idempotency-Key and replayed.
 *
 * A controller has two ways to respond:
 *
 * ```ts
 * // 1. A plain object, serialized once by the edge; with @HttpCode() for a status other than 200 (POST: 201).
 * @Get(':id')
 * async get(@MerchantId() merchantId: string, @UuidParam() id: string) {
 *   return { user: await this.users.find(merchantId, id) };
 * }
 *
 * // 2. A Reply, when the text was made before: a write whose response travels with its events.
 * @Post('report')
 * @ResponseTravels()
 * async report(@MerchantId() merchantId: string, @Ticket() ticket: IdempotencyTicket, @Body() body: unknown) {
 *   const text = await this.commandBus.execute(new ReportPayout(merchantId, ticket, body));
 *   return new Reply(201, text); // the handler passed ticket.response(201, text) to CommandLoop.execute
 * }
 * ```
 *
 * Return undefined (or a Reply with an empty body) for a response without a body.
 */
export class Reply {
  constructor(
    readonly status: number,
    /** JSON text, as its bytes in UTF-8 when it is large; empty for no body. */
    readonly body: string | Buffer,
  ) {}
}
