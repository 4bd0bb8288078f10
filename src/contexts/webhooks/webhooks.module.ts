import { BullModule } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import { CONTEXTS, defineContext, type CheckedTables, type Context } from '../../platform/context.js';
import { provideSaga } from '../../platform/projections/subscription-registry.js';
import {
  RecoverWebhookEndpointHandler,
  RequestTestDeliveryHandler,
  ResendDeliveryHandler,
  ResendWebhookDeliveryHandler,
} from './deliveries/deliveries.commands.js';
import {
  DeleteWebhookEndpointHandler,
  RegisterWebhookEndpointHandler,
  RotateSigningSecretHandler,
  UpdateWebhookEndpointHandler,
} from './endpoints/endpoints.commands.js';
import { AutomaticDisablingProcessor } from './endpoints/automatic-disabling.processor.js';
import { DeliveriesCheck } from './deliveries/deliveries-check.service.js';
import { DELIVERIES_SAGA, deliveriesSaga } from './deliveries/deliveries.saga.js';
import { DeliveryProcessor, LANE_QUEUE } from './deliveries/deliveries.processor.js';
import { DeliveryRetentionProcessor } from './deliveries/delivery-retention.processor.js';
import { DeliverySender } from './deliveries/delivery-sender.service.js';
import { DeliveryTable } from './deliveries/deliveries.store.js';
import { Destinations } from './endpoints/destinations.store.js';
import { publishedBy } from './deliveries/published-events.service.js';
import { ReceiverHosts, Receivers } from './deliveries/receivers.service.js';
import { RecoveriesProcessor } from './recoveries/recoveries.processor.js';
import { SigningSecrets } from './endpoints/signing-secrets.store.js';
import { TEST_TYPE } from './endpoints/event-types.js';
import { WEBHOOK_HISTORIES } from './endpoints/history.js';
import { AdminWebhooksController } from './deliveries/admin-webhooks.controller.js';
import { WebhookDeliveriesController } from './deliveries/deliveries.controller.js';
import { TestEventData } from './deliveries/deliveries.dto.js';
import {
  SandboxEndpointsController,
  WebhookEndpointsController,
  WriteResponses,
} from './endpoints/endpoints.controller.js';
import { Webhooks1795000000662 } from './migrations/1795000000662-webhooks.js';
import { checkWebhookSettings, webhooksConfig, type WebhooksConfig } from './webhooks.config.js';
import { DeliveriesView } from './deliveries/deliveries.view.js';
import { RecentStats } from './endpoints/endpoint-stats.view.js';
import { EndpointsView } from './endpoints/endpoints.view.js';

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
    AutomaticDisablingProcessor,
    DeliverySender,
    DeliveryProcessor,
    RecoveriesProcessor,
    DeliveryRetentionProcessor,
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
