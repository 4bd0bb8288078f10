import { describe, expect, it } from '@jest/globals';
import type { DiscoveryService } from '@nestjs/core';
import { Searches, type Found, type SearchQuery } from '../../../platform/operations/search.js';
import { AdminSearchController, searchText } from './search.controller.js';

const found = (kind: string, id: string, merchant: string | null): Found => ({
  kind,
  id,
  merchant_id: merchant,
  title: kind,
});
interface Search {
  readonly scope: string;
  readonly find: (query: SearchQuery) => Promise<readonly Found[]>;
}

/** A search over providers with one of these methods each. */
function searching(...searches: Search[]) {
  const providers = searches.map(({ scope, find }) => {
    class Provider {
      @Searches(scope)
      find(query: SearchQuery): Promise<readonly Found[]> {
        return find(query);
      }
    }
    return { instance: new Provider() };
  });
  const controller = new AdminSearchController({
    getProviders: () => providers,
  } as unknown as DiscoveryService);
  controller.onModuleInit();
  return {
    find: async (by: ReturnType<typeof caller>, q: string) => (await controller.find(by, { q })).results,
  };
}
const caller = (merchants: readonly string[] | null, ...scopes: string[]) => ({
  merchants,
  scopes: new Set(scopes),
});

describe('a search', () => {
  it('runs only searches that the scopes of the caller allow, and returns their results', async () => {
    let searched = 0;
    const search = searching(
      { scope: 'payouts:read', find: async () => [found('payout', 'p', 'm')] },
      {
        scope: 'users:read',
        find: async () => {
          searched += 1;
          return [found('user', 'u', 'm')];
        },
      },
    );
    expect(await search.find(caller(null, 'payouts:read'), 'x')).toEqual([found('payout', 'p', 'm')]);
    expect(searched).toBe(0);
  });

  it('hides results of other merchants, and results without a merchant, from a confined key', async () => {
    const all = [found('user', 'a', 'm1'), found('user', 'b', 'm2'), found('operator', 'c', null)];
    const search = searching({ scope: 'users:read', find: async () => all });
    expect(await search.find(caller(['m2'], 'users:read'), 'x')).toEqual([all[1]]);
    expect(await search.find(caller(null, 'users:read'), 'x')).toEqual(all);
  });

  it('refuses a phone number if the caller lacks the scope for personal data', async () => {
    const search = searching({ scope: 'users:read', find: async () => [found('user', 'u', 'm')] });
    await expect(search.find(caller(null, 'users:read'), '+1 555 000-1111')).rejects.toMatchObject({
      code: 'forbidden',
      message: 'The scope users_personal:read is missing',
    });
    expect(await search.find(caller(null, 'users:read', 'users_personal:read'), '+15550001111')).toHaveLength(
      1,
    );
  });

  it('searches only the merchants of the caller, so that other results do not fill the page', async () => {
    const queries: unknown[] = [];
    const search = searching({
      scope: 'users:read',
      find: async (query) => {
        queries.push(query);
        return [];
      },
    });
    await search.find(caller(['m2'], 'users:read'), 'x');
    expect(queries).toEqual([{ text: 'x', uuid: null, phoneNumber: null, merchants: ['m2'], limit: 20 }]);
  });

  it('returns at most 20 results', async () => {
    const many = Array.from({ length: 30 }, (_, n) => found('user', String(n), 'm'));
    const search = searching({ scope: 'users:read', find: async () => many });
    expect(await search.find(caller(null, 'users:read'), 'x')).toHaveLength(20);
  });

  it.each([
    [' 0E8DDEC7-5AC1-4E55-8AE3-1D2F3A4B5C6D ', '0e8ddec7-5ac1-4e55-8ae3-1d2f3a4b5c6d', null],
    ['+1 (555) 000-1111', null, '+15550001111'],
    [' 1 (555) 000-1111', null, '+15550001111'],
    ['\u202a+1 555 000 1111\u202c', null, '+15550001111'],
    ['+١ ٥٥٥ ٠٠٠ ١١١١', null, '+15550001111'],
    ['customer-17', null, null],
  ])('reads %s as a UUID, a phone number or text', (q, uuid, phoneNumber) => {
    expect(searchText(q)).toMatchObject({ uuid, phoneNumber });
  });
});
