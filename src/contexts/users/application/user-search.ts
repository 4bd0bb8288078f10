import type { Search } from '../../../platform/operations/search.js';
import type { Get } from '../../../platform/operations/operation-definition.js';
import { AdminUsers } from './admin-users.js';

const PAGE = { merchantIds: null, pageSize: 20 };
const WALLET = /^0x[0-9a-f]{40}$/i;
const MAX_EXTERNAL_ID = 255;

/** Users by id, phone number, external id and wallet. */
export function userSearch(get: Get): Search {
  return {
    scope: 'users:read',
    find: async ({ text, uuid, phoneNumber }) => {
      const users = get(AdminUsers);
      const matches = await Promise.all([
        uuid === null ? [] : users.exactly({ ...PAGE, userIds: [uuid] }),
        phoneNumber === null ? [] : users.exactly({ ...PAGE, phoneNumber }),
        WALLET.test(text) ? users.exactly({ ...PAGE, wallet: text }) : [],
        text.length > MAX_EXTERNAL_ID ? [] : users.exactly({ ...PAGE, externalId: text }),
      ]);
      const found = new Map(matches.flat().map((each) => [each.id, each]));
      return [...found.values()].map((each) => ({ kind: 'user', ...each, title: 'User' }));
    },
  };
}
