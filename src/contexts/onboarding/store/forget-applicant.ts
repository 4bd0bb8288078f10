import type { Forget, Get } from '../../../platform/context.js';
import { Database } from '../../../platform/postgres/database.js';

/** Tables with rows of a person; each by user_id. What is in events is sealed with the key of the person. */
const TABLES = ['images', 'phone_codes', 'steps', 'verifications', 'sandbox_reviews'] as const;

/** Drops images, one-time codes, what providers call the person, and steps that were still to be taken. */
export function forgetApplicant(get: Get): Forget {
  return async ({ userId }) => {
    for (const table of TABLES)
      await get(Database).query(`delete from onboarding.${table} where user_id = $1`, [userId]);
    return true;
  };
}
