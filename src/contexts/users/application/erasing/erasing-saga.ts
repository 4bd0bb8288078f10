import {
  subscriptionName,
  type SubscriptionDefinition,
} from '../../../../platform/projections/projection.js';
import type { UserErased } from '../../domain/user-events.js';
import { addErasures } from '../../store/erasures.js';

export const ERASING_SAGA = subscriptionName('users.erasing');

/** Writes down that each of these contexts has to drop what it keeps of whoever is erased. The worker takes it from there. */
export function erasingSaga(parts: () => readonly string[], wake: () => void): SubscriptionDefinition {
  return {
    name: ERASING_SAGA,
    events: ['user.erased.v1' satisfies UserErased['type']],
    async apply(events, tx) {
      const userIds = events.map(({ data }) => (data as unknown as UserErased['data']).user_id);
      await addErasures(tx, [...new Set(userIds)], parts());
    },
    afterCommit: wake,
  };
}
