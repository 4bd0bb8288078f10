import { Controller, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { UuidParam } from '../../../platform/http/decorators.js';
import type { Reply } from '../../../platform/http/reply.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import type { MerchantCaller } from '../application/caller.js';
import { UpdateWebhookEndpoint } from '../application/endpoint-commands.js';
import { WebhookEndpointResponse } from './webhook-dto.js';
import { CallingMerchant } from './webhook-endpoints.controller.js';
import { WriteResponses } from './write-responses.js';

/** Has an endpoint disabled as one whose deliveries kept failing. Sandbox only. */
@Controller('merchants/v1/sandbox/webhook_endpoints')
export class SandboxEndpointsController {
  constructor(
    private readonly commandBus: CommandBus,
    private readonly written: WriteResponses,
  ) {}

  @Post(':id/break')
  @ApiRoute({
    id: 'breakSandboxWebhookEndpoint',
    tag: 'Sandbox',
    summary: 'Break an endpoint',
    description:
      'Disables the endpoint as if its deliveries had kept failing. Enable it with PATCH, then recover what it missed. Only in the sandbox.',
    responses: {
      200: [WebhookEndpointResponse, 'The endpoint is disabled.'],
      404: 'The merchant has no such webhook endpoint.',
    },
  })
  async break(
    @CallingMerchant() caller: MerchantCaller,
    @UuidParam('id', 'Webhook endpoint') id: string,
  ): Promise<Reply> {
    const command = new UpdateWebhookEndpoint(caller, id, { status: 'disabled' }, 'failing');
    return this.written.replyToChange(200, await this.commandBus.execute(command));
  }
}
