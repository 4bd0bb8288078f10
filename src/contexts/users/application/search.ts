import type { Get } from '../../../platform/context.js';
import type { Found, Search, SearchQuery } from '../../../platform/operations/search.js';
import { Fault } from '../../../kernel/fault.js';
import { AdminUsers, type ExactUser } from './admin-users.js';
import { parsePhoneNumber } from './phone-number.js';
import { readExternalId } from './profile.js';

const WALLET = /^0x[0-9a-f]{40}$/i;

/** Users by id, external id, wallet and phone number. */
export function userSearches(get: Get): readonly Search[] {
  return [{ scope: 'users:read', find: (query) => find(get(AdminUsers), query) }];
}

async function find(
  users: AdminUsers,
  { text, uuid, phoneNumber, merchants, limit }: SearchQuery,
): Promise<readonly Found[]> {
  const all = { merchantIds: merchants, pageSize: limit };
  const externalId = readExternalId(text);
  const phone = phoneNumber === null ? null : parsePhoneNumber(phoneNumber);
  const found = await Promise.all([
    uuid === null ? [] : users.exactly({ ...all, userIds: [uuid] }),
    externalId instanceof Fault ? [] : users.exactly({ ...all, externalId }),
    WALLET.test(text) ? users.exactly({ ...all, wallet: text }) : [],
    phone === null || phone instanceof Fault ? [] : users.exactly({ ...all, phoneNumber: phone }),
  ]);
  const byId = new Map(found.flat().map((user) => [user.userId, user]));
  return [...byId.values()].map(foundOf);
}

function foundOf({ userId: id, merchantId: merchant_id, externalId, state }: ExactUser): Found {
  return { kind: 'user', id, merchant_id, title: `User ${externalId ?? id}, ${state}` };
}
