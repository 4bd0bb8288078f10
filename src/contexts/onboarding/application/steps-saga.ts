import { subscriptionName, type SubscriptionDefinition } from '../../../platform/projections/projection.js';
import { askForSteps } from '../store/steps.js';

export const STEPS_SAGA = subscriptionName('onboarding.steps');

/**
 * Writes down every onboarding that waits for the service to go on: what the person had to do is done, or an
 * identity provider reported its outcome. The worker takes it from there; a row too many costs it one look.
 */
export function stepsSaga(wake: () => void): SubscriptionDefinition {
  return {
    name: STEPS_SAGA,
    events: ['onboarding.kyc_submitted.v1', 'onboarding.kyc_passed.v1', 'onboarding.card_retried.v1'],
    async apply(events, tx) {
      const userIds = new Set(events.map((event) => (event.data as { readonly user_id: string }).user_id));
      await askForSteps(tx, userIds);
    },
    afterCommit: wake,
  };
}
