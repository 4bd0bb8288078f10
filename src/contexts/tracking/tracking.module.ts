import { Module } from '@nestjs/common';
import { defineContext } from '../../platform/context.js';
import { Database } from '../../platform/postgres/database.js';
import { configuredAnalytics } from './adapters/amplitude.js';
import { Forwarder } from './application/forwarding/forwarder.js';
import { Analytics } from './application/ports.js';
import { ProcessingWorker } from './application/processing-worker.js';
import { EventsController } from './http/events.controller.js';
import { JourneyController, PortalEventsController } from './http/journey.controller.js';
import { Tracking1795000000700 } from './migrations/1795000000700-tracking.js';
import { checkTrackingSettings, trackingConfig } from './settings.js';
import { ErasedEvents } from './store/erased-events.js';
import { JourneyView } from './views/journey.js';
import { AcceptedBatches } from './store/accepted-batches.js';
import { CountedEvents } from './store/counted-events.js';
import { ForwardingTable } from './store/forwarding-table.js';
import { EventRetention } from './store/event-retention.js';

/** Event batches: accepted whole, counted once, stored as the journeys of users and forwarded to analytics. */
@Module({
  controllers: [EventsController, JourneyController, PortalEventsController],
  providers: [
    AcceptedBatches,
    CountedEvents,
    ProcessingWorker,
    { provide: Analytics, inject: [trackingConfig.KEY, Database], useFactory: configuredAnalytics },
    ForwardingTable,
    Forwarder,
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
  migrations: [Tracking1795000000700],
});
