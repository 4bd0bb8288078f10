import { Global, Module } from '@nestjs/common';
import { OPEN_EVENT_STORE, type OpenEventStore } from '../event-store/open-event-store.js';
import { PersonalResponses } from './personal-responses.js';
import { ResponseRetention } from './response-retention.js';
import { ResponseStore } from './response-store.js';

/** The responses of requests with an Idempotency-Key, stored next to the events. */
@Global()
@Module({
  providers: [
    {
      provide: ResponseStore,
      inject: [OPEN_EVENT_STORE],
      useFactory: ({ responses }: OpenEventStore) => new ResponseStore(responses.pool, responses.writer),
    },
    ResponseRetention,
    PersonalResponses,
  ],
  exports: [ResponseStore, PersonalResponses],
})
export class IdempotencyModule {}
