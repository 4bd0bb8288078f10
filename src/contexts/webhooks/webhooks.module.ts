import { BullModule } from '@nestjs/bullmq';
import { Global, Module } from '@nestjs/common';
import { CONTEXTS, defineContext, type CheckedTables, type Context } from '../../platform/context.js';
import { provideSaga } from '../../platform/projections/subscription-registry.js';
import {
  RecoverWebhookEndpointHandler,
  RequestTestDeliveryHandler,
  ResendDeliveryHandler,
  ResendWebhookDeliveryHandler,
} from './application/delivery-commands.js';
import {
  DeleteWebhookEndpointHandler,
  RegisterWebhookEndpointHandler,
  RotateSigningSecretHandler,
  UpdateWebhookEndpointHandler,
} from './application/endpoint-commands.js';
import { AutomaticDisabling } from './deliveries/automatic-disabling.js';
import { DeliveriesCheck } from './deliveries/deliveries-check.js';
import { DELIVERIES_SAGA, deliveriesSaga } from './deliveries/deliveries-saga.js';
import { DeliveryProcessor, LANE_QUEUE } from './deliveries/delivery-processor.js';
import { DeliveryRetention } from './deliveries/delivery-retention.js';
import { DeliverySender } from './deliveries/delivery-sender.js';
import { DeliveryTable } from './deliveries/delivery-table.js';
import { Destinations } from './deliveries/destinations.js';
import { publishedBy } from './deliveries/published-events.js';
import { ReceiverHosts, Receivers } from './deliveries/receivers.js';
import { Recoveries } from './deliveries/recoveries.js';
import { SigningSecrets } from './deliveries/signing-secrets.js';
import { TEST_TYPE } from './domain/event-types.js';
import { WEBHOOK_HISTORIES } from './domain/history.js';
import { AdminWebhooksController } from './http/admin/webhooks.controller.js';
import { WebhookDeliveriesController } from './http/webhook-deliveries.controller.js';
import { TestEventData } from './http/delivery-dto.js';
import {
  SandboxEndpointsController,
  WebhookEndpointsController,
} from './http/webhook-endpoints.controller.js';
import { WriteResponses } from './http/write-responses.js';
import { Webhooks1795000000662 } from './migrations/1795000000662-webhooks.js';
import { checkWebhookSettings, webhooksConfig, type WebhooksConfig } from './settings.js';
import { DeliveriesView } from './views/deliveries.js';
import { RecentStats } from './views/endpoint-stats.js';
import { EndpointsView } from './views/endpoints.js';

@Global()
@Module({
  imports: [BullModule.registerQueue({ name: LANE_QUEUE })],
  controllers: [WebhookEndpointsController, WebhookDeliveriesController, AdminWebhooksController],
  providers: [
    WriteResponses,
    RegisterWebhookEndpointHandler,
    UpdateWebhookEndpointHandler,
    DeleteWebhookEndpointHandler,
    RotateSigningSecretHandler,
    RequestTestDeliveryHandler,
    ResendWebhookDeliveryHandler,
    ResendDeliveryHandler,
    RecoverWebhookEndpointHandler,
    EndpointsView,
    DeliveriesView,
    RecentStats,
    SigningSecrets,
    ReceiverHosts,
    Receivers,
    DeliveryTable,
    Destinations,
    AutomaticDisabling,
    DeliverySender,
    DeliveryProcessor,
    Recoveries,
    DeliveryRetention,
    provideSaga(
      [CONTEXTS, DeliveryProcessor, SigningSecrets],
      (contexts: readonly Context[], processor: DeliveryProcessor, secrets: SigningSecrets) =>
        deliveriesSaga(
          publishedBy(contexts),
          (endpointIds) => endpointIds.forEach((each) => processor.wake(each)),
          (delivery) => secrets.toMac(delivery),
        ),
    ),
  ],
  exports: [EndpointsView, DeliveriesView],
})
class WebhooksModule {}

export const webhooks = defineContext({
  name: 'webhooks',
  module: ({ mode }) => ({
    module: WebhooksModule,
    ...(mode === 'sandbox' && { controllers: [SandboxEndpointsController] }),
  }),
  histories: WEBHOOK_HISTORIES,
  document: {
    tags: {
      'Webhook endpoints': [3, 'Webhook endpoints and deliveries.'],
      'Webhook deliveries': [4, 'What became of each delivery, and how it is sent again.'],
      'Admin: webhooks': [26, 'Webhook endpoints and deliveries of all merchants.'],
      Webhooks: [8, 'What the service sends to the endpoints of a merchant.'],
    },
    webhooks: [{ type: TEST_TYPE, when: 'POST .../test_delivery was called.', data: TestEventData }],
  },
  checks: [
    { name: DELIVERIES_SAGA, of: (tables: CheckedTables<WebhooksConfig>) => new DeliveriesCheck(tables) },
  ],
  config: webhooksConfig,
  checkSettings: checkWebhookSettings,
  migrations: [Webhooks1795000000662],
});
