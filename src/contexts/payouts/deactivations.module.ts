import { Module } from '@nestjs/common';
import type { Get } from '../../platform/context.js';
import { EVENT_STORE, type EventStore } from '../../platform/event-store/port.js';
import type { SubscriptionDefinition } from '../../platform/projections/projection.js';
import { deactivationSaga } from './application/deactivation-saga.js';
import { DeactivationWorker } from './application/deactivation-worker.js';
import { SettleDeactivationHandler } from './application/settle-deactivation.js';
import { Deactivations } from './store/deactivations.js';

/** Deactivations of users wait for their payouts. By itself, because operators need it without the rest of payouts. */
@Module({ providers: [SettleDeactivationHandler, DeactivationWorker, Deactivations] })
export class DeactivationsModule {
  static subscriptions(get: Get): readonly SubscriptionDefinition[] {
    return [deactivationSaga(() => get(DeactivationWorker).work.wake(), get<EventStore>(EVENT_STORE))];
  }
}
