import type { Forget, Get } from '../../../../platform/context.js';
import { Snapshots } from '../../../../platform/event-store/snapshots.js';
import { failpoint } from '../../../../platform/failpoints.js';
import { PersonalResponses } from '../../../../platform/idempotency/personal-responses.js';
import { PersonalKeys } from '../../../../platform/sealing/personal-keys.js';

/**
 * The part of an erasure that is the users' own: the key of the person, with which everything sealed in events can no
 * longer be read, states that were kept with it, and responses to merchants that name the person.
 */
export function forgetPerson(get: Get): Forget {
  return async (person, signal) => {
    await get(PersonalKeys).forget(person.userId);
    failpoint('erasure.key_dropped');
    await get(Snapshots).forget(person.userId);
    failpoint('erasure.snapshots_dropped');
    const isDone = await get(PersonalResponses).drop(
      { named: [person.userId], scope: person.merchantId, since: person.createdAt },
      signal,
    );
    failpoint('erasure.responses_dropped');
    return isDone;
  };
}
