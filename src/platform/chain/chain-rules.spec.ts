import { describe, expect, it } from '@jest/globals';
import { readConfig } from '../../composition.js';
import { chainConfig } from '../config/config.js';
import { chainRules } from './chain-rules.js';

describe('the required finality of a transfer', () => {
  it.each([
    [1, 'safe'],
    [10, 'safe'],
    [8453, 'safe'],
    [42161, 'safe'],
    [137, 'finalized'],
    [31337, 1],
    [99_999, 'safe'],
  ])('on chain %i is %s by default', (chainId, finality) =>
    expect(chainRules({ ...chainConfig({}), chainId }).finality).toBe(finality),
  );

  it.each([
    ['safe', 'safe'],
    ['finalized', 'finalized'],
    ['12', 12],
  ])('can be set by an operator to %s', (text, finality) => {
    const config = readConfig({ CHAIN_ID: '8453', PAYOUT_FINALITY: text });
    expect(chainRules(config).finality).toBe(finality);
  });

  it.each(['latest', 'Safe', '0', '-1', '1.5', '100001'])('cannot be set to %s', (text) => {
    expect(() => readConfig({ PAYOUT_FINALITY: text })).toThrow(
      /^PAYOUT_FINALITY must be safe, finalized, or a number of confirmations from 1 to 100000, not /,
    );
  });
});
