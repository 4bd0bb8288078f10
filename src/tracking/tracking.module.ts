import { Module } from '@nestjs/common';

/** Event batches of merchants: accepted whole, counted once, kept as the journeys of users, passed on to analytics. */
@Module({})
export class TrackingModule {}
