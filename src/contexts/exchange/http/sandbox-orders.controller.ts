import { Controller, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { Cause, MerchantId, UuidParam } from '../../../platform/http/decorators.js';
import { Reply } from '../../../platform/http/reply.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { EndSandboxOrder } from '../application/end-sandbox-order.js';
import { orderResponse } from '../domain/order-record.js';
import { OrderResponse } from './order-dto.js';

const SANDBOX_ONLY = 'Signed as all calls of the merchant API. Only in the sandbox.';
const NOT_FOUND = 'The merchant has no such order.';

/** Ends an order of the sandbox's provider. Sandbox only. */
@Controller('merchants/v1/sandbox/orders')
export class SandboxOrdersController {
  constructor(private readonly commandBus: CommandBus) {}

  @Post(':id/fail')
  @ApiRoute({
    id: 'failSandboxOrder',
    tag: 'Sandbox',
    summary: 'Fail an order',
    description: `An order of any key of the merchant fails, as if its provider could not exchange it: what was received is refundable. ${SANDBOX_ONLY}`,
    responses: {
      200: [OrderResponse, 'The order has failed.'],
      404: NOT_FOUND,
      409: 'The order is processing, has ended otherwise, or is at another provider.',
    },
  })
  fail(
    @MerchantId() merchantId: string,
    @UuidParam('id', 'Order') id: string,
    @Cause() cause: EventMetadata,
  ): Promise<Reply> {
    return this.end(new EndSandboxOrder(merchantId, id, 'failed', cause));
  }

  @Post(':id/refund')
  @ApiRoute({
    id: 'refundSandboxOrder',
    tag: 'Sandbox',
    summary: 'Refund an order',
    description: `An order of any key of the merchant that received less than its amount is refunded, as if its provider had sent that back; no money moves, and the hash is no transaction. ${SANDBOX_ONLY}`,
    responses: {
      200: [OrderResponse, 'The order is refunded.'],
      404: NOT_FOUND,
      409: 'The order has received nothing, is processing, has ended otherwise, or is at another provider.',
    },
  })
  refund(
    @MerchantId() merchantId: string,
    @UuidParam('id', 'Order') id: string,
    @Cause() cause: EventMetadata,
  ): Promise<Reply> {
    return this.end(new EndSandboxOrder(merchantId, id, 'refunded', cause));
  }

  private async end(command: EndSandboxOrder): Promise<Reply> {
    return new Reply(200, orderResponse(await this.commandBus.execute(command), null));
  }
}
