import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getAddress } from 'ethers';
import type { WalletProvisioner } from '../../../src/contexts/onboarding/providers/providers.ports.js';
import { newId } from '../../../src/kernel/ids.js';

interface WalletsUnderTest {
  /** Opens the provisioner as another process. */
  open(): Promise<WalletProvisioner>;
  /** The address that the private key derives for the wallet of a user. */
  privately(userId: string, derivation: unknown): Promise<string>;
  cleanUp(): Promise<void>;
}

export function describeWalletProvisioner(name: string, prepare: () => Promise<WalletsUnderTest>): void {
  describe(`${name} as a provider of wallets`, () => {
    let under: WalletsUnderTest;
    let wallets: WalletProvisioner;
    beforeAll(async () => {
      under = await prepare();
      wallets = await under.open();
    });
    afterAll(() => under.cleanUp());

    it('gives a user one wallet, even if it is requested again, concurrently or by another process', async () => {
      const userId = newId();
      const other = await under.open();
      const calls = Array.from({ length: 8 }, (_, n) => (n % 2 ? wallets : other).provision(userId));
      const [first, ...rest] = await Promise.all(calls);
      expect(rest).toEqual(rest.map(() => first));
      expect(await (await under.open()).provision(userId)).toEqual(first);
    });

    it('gives each user another address with a checksum that the private key can derive', async () => {
      const users = Array.from({ length: 20 }, () => newId());
      const given = await Promise.all(users.map((userId) => wallets.provision(userId)));
      expect(new Set(given.map(({ address }) => address)).size).toBe(20);
      for (const [n, { address, derivation }] of given.entries()) {
        expect(getAddress(address)).toBe(address);
        expect(await under.privately(users[n]!, derivation)).toBe(address);
      }
    });
  });
}
