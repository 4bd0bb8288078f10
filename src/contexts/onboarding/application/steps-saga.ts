import { subscriptionName, type SubscriptionDefinition } from '../../../platform/projections/projection.js';
import { dropWork, scheduleWork } from '../../../platform/work/work-items.js';
import type { UserDeactivationStarted } from '../../users/contract.js';
import { STEP } from './steps-worker.js';

export const STEPS_SAGA = subscriptionName('onboarding.steps');

const LEAVES = 'user.deactivation_started.v1' satisfies UserDeactivationStarted['type'];

/**
 * Schedules every onboarding that waits for the service: the person has done their part, or an identity provider reported
 * its outcome. An item too many costs the worker one check. The items of users who are being deactivated are deleted.
 */
export function stepsSaga(wake: () => void): SubscriptionDefinition {
  return {
    name: STEPS_SAGA,
    events: ['onboarding.kyc_submitted.v1', 'onboarding.kyc_passed.v1', 'onboarding.card_retried.v1', LEAVES],
    async apply(events, tx) {
      const leaves = new Map(
        events.map(({ type, data }) => [(data as { readonly user_id: string }).user_id, type === LEAVES]),
      );
      const users = (isLeaving: boolean): string[] =>
        [...leaves].filter(([, leaving]) => leaving === isLeaving).map(([userId]) => userId);
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
