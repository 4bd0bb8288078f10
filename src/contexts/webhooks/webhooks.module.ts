import { WriteResponses } from './http/write-responses.js';
import { BullModule } from '@nestjs/bullmq';
import { Global, Module } from '@nestjs/common';
import { CONTEXTS, defineContext, type CheckedTables, type Context } from '../../platform/context.js';
import { provideSaga } from '../../platform/projections/subscription-registry.js';
import { HttpReceivers, ReceiverHosts } from './adapters/http-receivers.js';
import { AutomaticDisabling } from './application/automatic-disabling.js';
import {
  BreakSandboxEndpointHandler,
  DeleteWebhookEndpointHandler,
  RegisterWebhookEndpointHandler,
  RotateSigningSecretHandler,
  UpdateWebhookEndpointHandler,
} from './application/endpoint-commands.js';
import { DeliveriesCheck } from './application/deliveries-check.js';
import { DELIVERIES_SAGA, deliveriesSaga } from './application/deliveries-saga.js';
import { AttemptLogger } from './application/delivering/attempt-logger.js';
import { DeliverySender } from './application/delivering/delivery-sender.js';
import { LANE_QUEUE, LaneSchedule } from './application/delivering/lane-schedule.js';
import { LaneWaker, Lanes } from './application/delivering/lanes.js';
import { Recoveries } from './application/delivering/recoveries.js';
import { DeliveryRetention } from './application/delivering/delivery-retention.js';
import { Sweeper } from './application/delivering/sweeper.js';
import { RECEIVER_URLS, RECEIVERS } from './application/ports.js';
import { publishedBy } from './application/published-events.js';
import {
  RecoverWebhookEndpointHandler,
  RequestTestDeliveryHandler,
  ResendDeliveryHandler,
  ResendWebhookDeliveryHandler,
} from './application/delivery-commands.js';
import { SigningSecrets } from './application/signing-secrets.js';
import { TestEventData } from './http/webhook-dto.js';
import { AdminWebhooksController } from './http/admin/webhooks.controller.js';
import { WebhookDeliveriesController } from './http/webhook-deliveries.controller.js';
import { SandboxEndpointsController } from './http/sandbox-endpoints.controller.js';
import { WebhookEndpointsController } from './http/webhook-endpoints.controller.js';
import { Webhooks1795000000662 } from './migrations/1795000000662-webhooks.js';
import { checkWebhookSettings, webhooksConfig, type WebhooksConfig } from './settings.js';
import { DeliveryTable } from './store/delivery-table.js';
import { Destinations } from './store/destinations.js';
import { DeliveryRetentionTable } from './store/delivery-retention-table.js';
import { FailingEndpoints } from './store/failing-endpoints.js';
import { RecoveryTable } from './store/recoveries.js';
import { StoredDeliveries } from './store/stored-deliveries.js';
import { DeliveriesView } from './views/deliveries.js';
import { EndpointsView } from './views/endpoints.js';
import { RecentStats } from './views/endpoint-stats.js';
import { TEST_TYPE } from './domain/webhook-endpoints.js';
import { WEBHOOK_HISTORIES } from './domain/history.js';

/** Endpoints of merchants, and the signed deliveries to them. */
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
    { provide: RECEIVER_URLS, useExisting: ReceiverHosts },
    { provide: RECEIVERS, useClass: HttpReceivers },
    DeliveryTable,
    StoredDeliveries,
    Destinations,
    FailingEndpoints,
    DeliveryRetentionTable,
    RecoveryTable,
    AttemptLogger,
    AutomaticDisabling,
    DeliverySender,
    LaneSchedule,
    Lanes,
    LaneWaker,
    Sweeper,
    Recoveries,
    DeliveryRetention,
    provideSaga(
      [CONTEXTS, Lanes, SigningSecrets],
      (contexts: readonly Context[], lanes: Lanes, secrets: SigningSecrets) =>
        deliveriesSaga(
          publishedBy(contexts),
          (endpointIds) => endpointIds.forEach((each) => lanes.wake(each)),
          (delivery) => secrets.macOf(delivery),
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
    ...(mode === 'sandbox' && {
      controllers: [SandboxEndpointsController],
      providers: [BreakSandboxEndpointHandler],
    }),
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
