import { Global, Module } from '@nestjs/common';
import { OPEN_EVENT_STORE, type OpenEventStore } from '../event-store/open-event-store.js';
import { Idempotency } from './idempotency.js';
import { PersonalResponses } from './personal-responses.js';
import { ResponseRetention } from './response-retention.js';
import { ResponseStore } from './response-store.js';

/** {@link Idempotency} for the edge, over the responses that are stored next to the events. */
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
    Idempotency,
  ],
  exports: [Idempotency, ResponseStore, PersonalResponses],
})
export class IdempotencyModule {}
