import {
  subscriptionName,
  type SubscriptionDefinition,
} from '../../../../platform/projections/projection.js';
import { scheduleWork } from '../../../../platform/work/work-items.js';
import type { UserErased } from '../../domain/user-events.js';
import { erasureOf } from './erasing-worker.js';

export const ERASING_SAGA = subscriptionName('users.erasing');

/** Schedules what each of these contexts has to drop of an erased person. */
export function erasingSaga(parts: () => readonly string[], wake: () => void): SubscriptionDefinition {
  return {
    name: ERASING_SAGA,
    events: ['user.erased.v1' satisfies UserErased['type']],
    async apply(events, tx) {
      const items = events.map(({ data }) => ({ key: (data as unknown as UserErased['data']).user_id }));
      for (const part of parts()) await scheduleWork(tx, erasureOf(part), items);
    },
    afterCommit: wake,
  };
}
