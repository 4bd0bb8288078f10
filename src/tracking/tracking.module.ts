import { Module } from '@nestjs/common';
import { AcceptBatchHandler } from './application/accept-batch.js';
import { BatchArrivals } from './application/batch-arrivals.js';
import { BatchTable } from './application/batch-table.js';
import { Partitions } from './application/partitions.js';
import { EventsController } from './http/events.controller.js';

/** Event batches of merchants: accepted whole, counted once, kept as the journeys of users, passed on to analytics. */
@Module({
  controllers: [EventsController],
  providers: [Partitions, BatchTable, BatchArrivals, AcceptBatchHandler],
})
export class TrackingModule {}
