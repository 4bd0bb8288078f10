import { Inject, Module, type OnModuleInit } from '@nestjs/common';
import { EVENT_STORE, type EventStore } from '../../platform/event-store/port.js';
import { SubscriptionRegistry } from '../../platform/projections/subscription-registry.js';
import { deactivationSaga } from './application/deactivation-saga.js';
import { DeactivationWorker } from './application/deactivation-worker.js';
import { SettleDeactivationHandler } from './application/settle-deactivation.js';
import { Deactivations } from './store/deactivations.js';

/** Deactivations of users wait for their payouts. By itself, because operators need it without the rest of payouts. */
@Module({ providers: [SettleDeactivationHandler, DeactivationWorker, Deactivations] })
export class DeactivationsModule implements OnModuleInit {
  constructor(
    private readonly subscriptions: SubscriptionRegistry,
    private readonly worker: DeactivationWorker,
    @Inject(EVENT_STORE) private readonly store: EventStore,
  ) {}

  onModuleInit(): void {
    this.subscriptions.register(deactivationSaga(() => this.worker.wake(), this.store));
  }
}
