import { DomainError } from '../../../kernel/domain-error.js';
import type { ExistingUser, UsersView } from '../../users/contract.js';

/**
 * The user who is signing up. Throws `not_found` when the merchant has no such user, and `invalid_transition`
 * when the user is on the way out.
 */
export async function findApplicant(
  users: UsersView,
  merchantId: string,
  userId: string,
): Promise<ExistingUser> {
  const found = await users.find(merchantId, userId);
  if (found === null) throw DomainError.notFound('User');
  if (found.accountState === 'deactivating' || found.accountState === 'deactivated') {
    throw new DomainError('invalid_transition', `The user is ${found.accountState}`);
  }
  return found;
}
