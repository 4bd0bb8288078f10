import { setTimeout as sleep } from 'node:timers/promises';
import {
  Controller,
  createParamDecorator,
  Delete,
  Get,
  Injectable,
  Patch,
  Post,
  type ExecutionContext,
} from '@nestjs/common';
import { CommandBus, type Command } from '@nestjs/cqrs';
import { ApiBody } from '@nestjs/swagger';
import { PortalRoute } from '../../../platform/http/admin/portal.guard.js';
import {
  ListQuery,
  MerchantId,
  OptionalBody,
  UuidParam,
  ValidBody,
} from '../../../platform/http/decorators.js';
import { Reply } from '../../../platform/http/reply.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import {
  DeleteWebhookEndpoint,
  RegisterWebhookEndpoint,
  RotateSigningSecret,
  UpdateWebhookEndpoint,
  type MerchantCaller,
  type Responded,
} from './endpoints.commands.js';
import { RequestTestDelivery } from '../deliveries/deliveries.commands.js';
import { DELIVERIES_SAGA } from '../deliveries/deliveries.saga.js';
import { DESTINATION_FRESH_MS } from './destinations.store.js';
import { EndpointsView } from './endpoints.view.js';
import { WebhookTestDeliveryResponse } from '../deliveries/deliveries.dto.js';
import {
  NewWebhookEndpoint,
  NoParameters,
  SecretRotation,
  WebhookEndpointChanges,
  WebhookEndpointResponse,
  WebhookEndpointsResponse,
  WebhookEndpointWithSecretResponse,
} from './endpoints.dto.js';
import { toCause, getMerchant, getRequest, getTicket } from '../../../platform/http/request-state.js';

const WHAT = 'Webhook endpoint';
const READ = 'endpoints:read';
const WRITE = 'endpoints:write';
const TAG = 'Webhook endpoints';
const MALFORMED = 'The JSON or the Idempotency-Key is malformed.';
const NO_ENDPOINT = 'The merchant has no such webhook endpoint.';

export const CallingMerchant = createParamDecorator(
  (_: unknown, context: ExecutionContext): MerchantCaller => {
    const request = getRequest(context);
    const { merchantId } = getMerchant(request);
    return { merchantId, metadata: toCause(request), ticket: getTicket(request) };
  },
);

/** The time by which a timer of Node may fire early. */
const TIMER_EARLY_MS = 2;

/** Executes commands, and responds once reads and deliveries reflect them. */
@Injectable()
export class WriteResponses {
  constructor(
    private readonly commandBus: CommandBus,
    private readonly progress: SubscriptionProgress,
  ) {}

  /** @param expiresCache also waits until the former state of the endpoint has expired in all senders */
  async reply(status: number, command: Command<Responded>, expiresCache = false): Promise<Reply> {
    const { body, position } = await this.commandBus.execute(command);
    await this.progress.waitFor(DELIVERIES_SAGA, position);
    if (expiresCache && position !== null) await sleep(DESTINATION_FRESH_MS + TIMER_EARLY_MS);
    return new Reply(status, body);
  }
}

/** The routes of a merchant's endpoints (contract.md 12). */
@Controller('merchants/v1/webhook_endpoints')
export class WebhookEndpointsController {
  constructor(
    private readonly view: EndpointsView,
    private readonly writes: WriteResponses,
  ) {}

  @Post()
  @PortalRoute('endpoints', WRITE)
  @ApiRoute({
    id: 'registerWebhookEndpoint',
    tag: TAG,
    summary: 'Register an endpoint',
    description:
      'Only this response and that of a rotation contain `signing_secret`. A merchant may have 10 endpoints.',
    responses: {
      201: [WebhookEndpointWithSecretResponse, 'The endpoint was registered, enabled.'],
      400: MALFORMED,
      422: 'The url may not receive webhooks, or the merchant has 10 endpoints already.',
    },
  })
  async register(
    @CallingMerchant() caller: MerchantCaller,
    @ValidBody() body: NewWebhookEndpoint,
  ): Promise<Reply> {
    const { url, description = null, event_types = null } = body.webhook_endpoint;
    return this.writes.reply(201, new RegisterWebhookEndpoint(caller, { url, description, event_types }));
  }

  @Get()
  @PortalRoute('endpoints', READ)
  @ApiRoute({
    id: 'listWebhookEndpoints',
    tag: TAG,
    summary: 'List the endpoints',
    responses: {
      200: [WebhookEndpointsResponse, 'All endpoints of the merchant, oldest first.'],
      400: 'A query parameter: the list has none.',
    },
  })
  async list(
    @MerchantId() merchantId: string,
    @ListQuery({ isPaged: false }) _: NoParameters,
  ): Promise<WebhookEndpointsResponse> {
    return { webhook_endpoints: await this.view.list(merchantId) };
  }

  @Get(':id')
  @PortalRoute('endpoints/:id', READ)
  @ApiRoute({
    id: 'getWebhookEndpoint',
    tag: TAG,
    summary: 'Get an endpoint',
    responses: { 200: [WebhookEndpointResponse, 'The endpoint.'], 404: NO_ENDPOINT },
  })
  async get(
    @MerchantId() merchantId: string,
    @UuidParam('id', WHAT) id: string,
  ): Promise<WebhookEndpointResponse> {
    return { webhook_endpoint: await this.view.get(merchantId, id) };
  }

  @Patch(':id')
  @PortalRoute('endpoints/:id', WRITE)
  @ApiRoute({
    id: 'updateWebhookEndpoint',
    tag: TAG,
    summary: 'Change an endpoint',
    description:
      'What is absent stays as it is. Enabling clears the failures that count towards automatic disabling. `signing_secret` cannot be changed here: 422.',
    responses: {
      200: [WebhookEndpointResponse, 'The endpoint after the change.'],
      400: MALFORMED,
      404: NO_ENDPOINT,
      422: 'A field is malformed, or the url may not receive webhooks.',
    },
  })
  async update(
    @CallingMerchant() caller: MerchantCaller,
    @UuidParam('id', WHAT) id: string,
    @ValidBody() body: WebhookEndpointChanges,
  ): Promise<Reply> {
    const changes = body.webhook_endpoint ?? {};
    return this.writes.reply(200, new UpdateWebhookEndpoint(caller, { endpoint_id: id, changes }), true);
  }

  @Delete(':id')
  @PortalRoute('endpoints/:id', WRITE)
  @ApiRoute({
    id: 'deleteWebhookEndpoint',
    tag: TAG,
    summary: 'Delete an endpoint',
    description: 'Deliveries still to be sent to it are dropped.',
    responses: { 204: 'The endpoint is gone.', 400: MALFORMED, 404: NO_ENDPOINT },
  })
  async remove(@CallingMerchant() caller: MerchantCaller, @UuidParam('id', WHAT) id: string): Promise<Reply> {
    return this.writes.reply(204, new DeleteWebhookEndpoint(caller, id), true);
  }

  @Post(':id/test_delivery')
  @PortalRoute('endpoints/:id/test', WRITE)
  @ApiRoute({
    id: 'testWebhookEndpoint',
    tag: TAG,
    summary: 'Send a test delivery',
    description: 'A `webhook_endpoint.test` event goes out, also to a disabled endpoint.',
    responses: {
      202: [WebhookTestDeliveryResponse, 'The delivery is on its way.'],
      400: MALFORMED,
      404: NO_ENDPOINT,
    },
  })
  async test(@CallingMerchant() caller: MerchantCaller, @UuidParam('id', WHAT) id: string): Promise<Reply> {
    return this.writes.reply(202, new RequestTestDelivery(caller, id));
  }

  @Post(':id/rotate_secret')
  @PortalRoute('endpoints/:id/rotate_secret', WRITE)
  @ApiRoute({
    id: 'rotateWebhookSecret',
    tag: TAG,
    summary: 'Rotate the signing secret',
    description:
      'An extension. Only this response contains the fresh `signing_secret`. Until the overlap ends `webhook-signature` holds an entry for each valid secret, the newest first.',
    responses: {
      200: [WebhookEndpointWithSecretResponse, 'The endpoint with its fresh secret.'],
      400: MALFORMED,
      404: NO_ENDPOINT,
      409: 'Four former secrets are still valid, or a request with this Idempotency-Key is in progress.',
      422: 'overlap_seconds is no integer from 0 to 86400.',
    },
  })
  @ApiBody({ type: SecretRotation, required: false })
  async rotate(
    @CallingMerchant() caller: MerchantCaller,
    @UuidParam('id', WHAT) id: string,
    @OptionalBody() { overlap_seconds }: SecretRotation,
  ): Promise<Reply> {
    return this.writes.reply(
      200,
      new RotateSigningSecret(caller, { endpoint_id: id, overlap_seconds }),
      true,
    );
  }
}

@Controller('merchants/v1/sandbox/webhook_endpoints')
export class SandboxEndpointsController {
  constructor(private readonly writes: WriteResponses) {}

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
    const changes = { status: 'disabled' } as const;
    const command = new UpdateWebhookEndpoint(caller, { endpoint_id: id, changes, cause: 'failing' });
    return this.writes.reply(200, command, true);
  }
}
