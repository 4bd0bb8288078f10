import { Module } from '@nestjs/common';
import { defineContext } from '../../platform/context.js';
import { configuredAnalytics } from './forwarding/amplitude.adapter.js';
import { ForwardingProcessor } from './forwarding/forwarding.processor.js';
import { Analytics } from './forwarding/analytics.ports.js';
import { BatchesProcessor } from './batches/batches.processor.js';
import { EventsController } from './batches/events.controller.js';
import { JourneyController, PortalEventsController } from './journey/journey.controller.js';
import { Tracking1795000000701 } from './migrations/1795000000701-tracking.js';
import { checkTrackingSettings, trackingConfig } from './tracking.config.js';
import { ErasedEvents } from './journey/erased-events.store.js';
import { JourneyView } from './journey/journey.view.js';
import { AcceptedBatches } from './batches/accepted-batches.store.js';
import { ForwardingStore } from './forwarding/forwarding.store.js';
import { EventRetention } from './journey/event-retention.store.js';

/** Accepts batches of events, stores each event once and forwards new events to the analytics provider. */
@Module({
  controllers: [EventsController, JourneyController, PortalEventsController],
  providers: [
    AcceptedBatches,
    BatchesProcessor,
    { provide: Analytics, inject: [trackingConfig.KEY], useFactory: configuredAnalytics },
    ForwardingStore,
    ForwardingProcessor,
    JourneyView,
    ErasedEvents,
    EventRetention,
  ],
})
class TrackingModule {}

export const tracking = defineContext({
  name: 'tracking',
  module: () => TrackingModule,
  document: {
    tags: { Events: [5, 'Server-side events of the merchant, and the journeys they make.'] },
  },
  config: trackingConfig,
  checkSettings: checkTrackingSettings,
  migrations: [Tracking1795000000701],
});
