import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { HDNodeWallet } from 'ethers';
import fc from 'fast-check';
import { testDatabase, type TestDatabase } from '../../../../test/support/postgres.js';
import { newId } from '../../../kernel/ids.js';
import { Database } from '../../../platform/postgres/database.js';
import type { ProvisionedWallet } from '../providers/providers.ports.js';
import { XpubWallets } from './xpub-wallets.adapter.js';

const ACCOUNT = "m/44'/60'/0'";

function account(): { node: HDNodeWallet; xpub: string } {
  const node = HDNodeWallet.createRandom('', ACCOUNT);
  return { node, xpub: node.neuter().extendedKey };
}

let db: TestDatabase;
let second: Database;

beforeAll(async () => {
  db = await testDatabase();
  second = await Database.connect({ url: db.url, poolSize: 6 });
});
afterAll(async () => {
  await second.onApplicationShutdown();
  await db.drop();
});

describe('wallets of an extended public key', () => {
  it('equal the wallets that the private key derives at the returned path', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.nat(2 ** 31 - 1),
        async (seed, first) => {
          const root = HDNodeWallet.fromSeed(seed).derivePath(ACCOUNT);
          const wallets = await XpubWallets.open(root.neuter().extendedKey, first, db.database);
          const { address, derivation } = await wallets.provision(newId());
          expect(derivation).toEqual({ key: root.fingerprint.slice(2), path: `0/${first}`, index: first });
          expect(root.derivePath(derivation!.path).address).toBe(address);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('are derived from the current key for a user whose index belongs to a former key', async () => {
    const [old, next] = [account(), account()];
    const user = newId();
    const former = await XpubWallets.open(old.xpub, 0, db.database);
    await former.provision(newId());
    expect(await former.provision(user)).toEqual(await former.provision(user));
    const given = await (await XpubWallets.open(next.xpub, 0, db.database)).provision(user);
    expect(given.derivation).toEqual({ key: next.node.fingerprint.slice(2), path: '0/0', index: 0 });
    expect(given.address).toBe(next.node.deriveChild(0).deriveChild(0).address);
  });

  it('are distinct and without gaps for 200 users, even if two processes request every wallet', async () => {
    const { xpub } = account();
    const processes = [await XpubWallets.open(xpub, 0, db.database), await XpubWallets.open(xpub, 0, second)];
    const users = Array.from({ length: 200 }, newId);
    const given: ProvisionedWallet[] = [];
    // As many at a time as a worker has.
    while (given.length < users.length) {
      const some = users.slice(given.length, given.length + 16);
      const twice = await Promise.all(
        processes.map((each) => Promise.all(some.map((user) => each.provision(user)))),
      );
      expect(twice[1]).toEqual(twice[0]);
      given.push(...twice[0]!);
    }
    const numbers = given.map(({ derivation }) => derivation!.index).sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 200 }, (_, index) => index));
    expect(new Set(given.map(({ address }) => address)).size).toBe(200);
  });

  it('are children of the key even if SQL changed the index or key of a user', async () => {
    const { node, xpub } = account();
    const wallets = await XpubWallets.open(xpub, 0, db.database);
    const user = newId();
    await wallets.provision(user);
    for (const change of ['index = 7', `key = 'forged'`]) {
      await db.database.query(`update onboarding.wallet_indexes set ${change} where user_id = $1`, [user]);
      const { address, derivation } = await wallets.provision(user);
      expect(node.derivePath(derivation!.path).address).toBe(address);
    }
  });

  it('start at ONBOARDING_WALLET_FIRST_INDEX after an older database was restored', async () => {
    const { xpub } = account();
    const user = newId();
    await (await XpubWallets.open(xpub, 0, db.database)).provision(user);
    const restored = await XpubWallets.open(xpub, 500, db.database);
    expect((await restored.provision(newId())).derivation).toMatchObject({ index: 500 });
    for (let times = 0; times < 2; times += 1)
      expect((await restored.provision(user)).derivation).toMatchObject({ index: 501 });
  });
});
