import { subscriptionName, type SubscriptionDefinition } from '../../../platform/projections/projection.js';
import type { UserDeactivationStarted } from '../../users/contract.js';
import { askForSteps, dropSteps } from '../store/steps.js';

export const STEPS_SAGA = subscriptionName('onboarding.steps');

const LEAVES = 'user.deactivation_started.v1' satisfies UserDeactivationStarted['type'];

/**
 * Writes down every onboarding that waits for the service to go on: what the person had to do is done, or an
 * identity provider reported its outcome. The worker takes it from there; a row too many costs it one look. Of somebody
 * who leaves nothing waits any more.
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
      await askForSteps(tx, users(false));
      await dropSteps(tx, users(true));
    },
    afterCommit: wake,
  };
}
