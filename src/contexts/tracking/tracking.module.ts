import { Module } from '@nestjs/common';
import { CONFIG } from '../../platform/config/config.js';
import { defineContext } from '../../platform/context.js';
import { Database } from '../../platform/postgres/database.js';
import { configuredAnalytics } from './adapters/configured-analytics.js';
import { AcceptBatchHandler } from './application/accept-batch.js';
import { BatchArrivals } from './application/batch-arrivals.js';
import { BatchTable } from './application/batch-table.js';
import { Forwarder, FORWARDING_TIMES, timesFor } from './application/forwarding/forwarder.js';
import { ForwardingObserver } from './application/forwarding/forwarding-observer.js';
import { ForwardingTable } from './application/forwarding/forwarding-table.js';
import { Partitions } from './application/partitions.js';
import { ANALYTICS } from './application/ports.js';
import { AcceptedBatches } from './application/processing/accepted-batches.js';
import { BatchProcessor } from './application/processing/batch-processor.js';
import { KnownEvents } from './application/processing/known-events.js';
import { MonthFilters } from './application/processing/month-filters.js';
import { Processing } from './application/processing/processing.js';
import { ProcessingObserver } from './application/processing/processing-observer.js';
import { EventsController } from './http/events.controller.js';
import { JourneyController } from './http/journey.controller.js';
import { journeyApi } from './http/journey-openapi.js';
import { trackingApi } from './http/openapi.js';
import { Tracking1764000000720 } from './migrations/1764000000720-tracking.js';
import { checkTrackingSettings, TRACKING_SETTINGS } from './settings.js';
import { JourneyView } from './views/journey.js';

/** Event batches of merchants: accepted whole, counted once, kept as the journeys of users, passed on to analytics. */
@Module({
  controllers: [EventsController, JourneyController],
  providers: [
    Partitions,
    BatchTable,
    BatchArrivals,
    AcceptBatchHandler,
    AcceptedBatches,
    MonthFilters,
    KnownEvents,
    BatchProcessor,
    ProcessingObserver,
    Processing,
    { provide: ANALYTICS, inject: [CONFIG, Database], useFactory: configuredAnalytics },
    { provide: FORWARDING_TIMES, inject: [CONFIG], useFactory: timesFor },
    ForwardingTable,
    ForwardingObserver,
    Forwarder,
    JourneyView,
  ],
})
export class TrackingModule {}

export const tracking = defineContext({
  name: 'tracking',
  module: () => TrackingModule,
  settings: TRACKING_SETTINGS,
  checkSettings: checkTrackingSettings,
  migrations: [Tracking1764000000720],
  apis: () => [trackingApi, journeyApi],
});
