import { subscriptionName, type SubscriptionDefinition } from '../../../platform/projections/projection.js';
import { dropWork, scheduleWork } from '../../../platform/work/work-items.js';
import type { UserDeactivationStarted } from '../../users/contract.js';
import { STEP } from './steps-worker.js';

const STEPS_SAGA = subscriptionName('onboarding.steps');

const DEACTIVATION_STARTED = 'user.deactivation_started.v1' satisfies UserDeactivationStarted['type'];

/** Schedules every onboarding that waits for the service, and deletes the items of users who are deactivating. */
export function stepsSaga(wake: () => void): SubscriptionDefinition {
  return {
    name: STEPS_SAGA,
    events: [
      'onboarding.kyc_submitted.v1',
      'onboarding.kyc_passed.v1',
      'onboarding.card_retried.v1',
      DEACTIVATION_STARTED,
    ],
    async apply(events, tx) {
      const deactivates = new Map(
        events.map(({ type, data }) => [
          (data as { readonly user_id: string }).user_id,
          type === DEACTIVATION_STARTED,
        ]),
      );
      const users = (isDeactivating: boolean): string[] =>
        [...deactivates]
          .filter(([, deactivating]) => deactivating === isDeactivating)
          .map(([userId]) => userId);
      await scheduleWork(
        tx,
        STEP,
        users(false).map((key) => ({ key, state: {} })),
      );
      await dropWork(tx, STEP, users(true));
    },
    afterCommit: wake,
  };
}
