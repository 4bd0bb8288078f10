import { Global, Module } from '@nestjs/common';
import { ResponseStore } from './response-store.js';

/** The responses of requests with an Idempotency-Key, stored next to the events. */
@Global()
@Module({ providers: [ResponseStore], exports: [ResponseStore] })
export class IdempotencyModule {}
