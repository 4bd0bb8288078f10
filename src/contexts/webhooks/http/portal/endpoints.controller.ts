import { Get, Patch, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { DomainError } from '../../../../kernel/domain-error.js';
import { PortalController, PortalScopes } from '../../../../platform/http/admin/portal-controller.js';
import {
  ListQuery,
  MerchantId,
  OptionalBody,
  UuidParam,
  ValidBody,
} from '../../../../platform/http/decorators.js';
import { Reply } from '../../../../platform/http/reply.js';
import type { MerchantCaller } from '../../application/caller.js';
import { RecoverWebhookEndpoint, RequestTestDelivery } from '../../application/delivery-commands.js';
import { RotateSigningSecret, UpdateWebhookEndpoint } from '../../application/endpoint-commands.js';
import { EndpointsView } from '../../views/endpoints.js';
import { NoParameters, RecoveryRequest, SecretRotation, WebhookEndpointChanges } from '../webhook-dto.js';
import { CallingMerchant } from '../webhook-endpoints.controller.js';
import { WriteResponses } from '../write-responses.js';

const WHAT = 'Webhook endpoint';
const READ = 'endpoints:read';
const WRITE = 'endpoints:write';

/** Endpoints of the merchant, for its people, in the shapes of the merchant API (admin-api.md 6). */
@PortalController('endpoints')
export class PortalEndpointsController {
  constructor(
    private readonly commandBus: CommandBus,
    private readonly view: EndpointsView,
    private readonly written: WriteResponses,
  ) {}

  @Get()
  @PortalScopes(READ)
  async list(@MerchantId() merchantId: string, @ListQuery({ isPaged: false }) _: NoParameters) {
    return { webhook_endpoints: await this.view.list(merchantId) };
  }

  @Get(':id')
  @PortalScopes(READ)
  async get(@MerchantId() merchantId: string, @UuidParam('id', WHAT) id: string) {
    const webhook_endpoint = await this.view.find(merchantId, id);
    if (!webhook_endpoint) throw DomainError.notFound(WHAT);
    return { webhook_endpoint };
  }

  @Patch(':id')
  @PortalScopes(WRITE)
  async update(
    @CallingMerchant() caller: MerchantCaller,
    @UuidParam('id', WHAT) id: string,
    @ValidBody() body: WebhookEndpointChanges,
  ): Promise<Reply> {
    const command = new UpdateWebhookEndpoint(caller, id, body.webhook_endpoint ?? {});
    return this.written.replyToChange(200, await this.commandBus.execute(command));
  }

  @Post(':id/test')
  @PortalScopes(WRITE)
  async test(@CallingMerchant() caller: MerchantCaller, @UuidParam('id', WHAT) id: string): Promise<Reply> {
    return new Reply(202, (await this.commandBus.execute(new RequestTestDelivery(caller, id))).body);
  }

  @Post(':id/rotate_secret')
  @PortalScopes(WRITE)
  async rotate(
    @CallingMerchant() caller: MerchantCaller,
    @UuidParam('id', WHAT) id: string,
    @OptionalBody() { overlap_seconds }: SecretRotation,
  ): Promise<Reply> {
    const command = new RotateSigningSecret(caller, id, overlap_seconds);
    return this.written.replyToChange(200, await this.commandBus.execute(command));
  }

  @Post(':id/recover')
  @PortalScopes(WRITE)
  async recover(
    @CallingMerchant() caller: MerchantCaller,
    @UuidParam('id', WHAT) id: string,
    @ValidBody() { since }: RecoveryRequest,
  ): Promise<Reply> {
    const command = new RecoverWebhookEndpoint(caller, id, since);
    return this.written.reply(202, await this.commandBus.execute(command));
  }
}
