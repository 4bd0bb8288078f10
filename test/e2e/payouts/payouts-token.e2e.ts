import { describe, expect, it } from '@jest/globals';
import { HealthRegistry } from '../../../src/platform/telemetry/health.js';
import { exitCodeOf } from '../../../src/exit-codes.js';
import { eventually } from '../../support/eventually.js';
import { PayoutHarness } from '../../support/payouts/payout-harness.js';

describe('a boot', () => {
  const harness = PayoutHarness.forSuite();

  it.each([
    ['without code', '0x', 'is no contract on chain 31337'],
    // PUSH1 18, returned as a word to every call.
    ['with 18 decimals', '0x601260005260206000f3', 'with 18 decimals: USDC has 6'],
    ['without decimals()', '0x60006000fd', 'without decimals(): it is no token'],
  ])('ends with a sentence where USDC_ADDRESS is an address %s', async (_name, code, sentence) => {
    const token = harness.chain.newAddress();
    await harness.chain.rpc('anvil_setCode', [token, code]);
    const failure = await harness.start({ USDC_ADDRESS: token }).catch((error: unknown) => error);
    expect(String(failure)).toContain(sentence);
    expect(exitCodeOf(failure)).toBe(78);
  });

  it('is not ready while no node returns the token, and ready once one does', async () => {
    harness.node.tamper(({ method }) =>
      method === 'eth_getCode' ? { error: { code: -32000, message: 'header not found' } } : undefined,
    );
    const { app } = await harness.start();
    const chain = async () => (await app.get(HealthRegistry, { strict: false }).report()).checks['chain']!;
    expect(await chain()).toMatchObject({ status: 'unavailable', detail: expect.stringContaining('-32000') });
    harness.node.comeBack();
    await eventually(async () => (await chain()).status === 'ok');
  });
});
