import { describe, expect, it } from '@jest/globals';
import { Refusal } from '../../../platform/http/problem.js';
import { ProviderBudget } from './exchange-key.guard.js';
import { exchangeConfig } from '../exchange.config.js';
import { httpConfig } from '../../../platform/config/config.js';

const budgetOf = (exchangeProviderCallsPerMinute: number | null, rateLimitPerMinute = 100) =>
  new ProviderBudget(
    { ...exchangeConfig({}), exchangeProviderCallsPerMinute },
    { ...httpConfig({}), rateLimitPerMinute },
  );
const accepted = (budget: ProviderBudget, countedAs: string, times: number): number => {
  let passed = 0;
  for (let n = 0; n < times; n += 1)
    try {
      budget.take('key', countedAs);
      passed += 1;
    } catch (error) {
      expect((error as Refusal).problem).toMatchObject({
        status: 429,
        headers: { 'retry-after': expect.any(String) },
      });
    }
  return passed;
};

describe('the budget of calls to a provider', () => {
  it('gives one client a fifth of the budget of a key, and all clients together the whole budget', () => {
    const budget = budgetOf(10);
    for (const last of [1, 2, 3, 4]) expect(accepted(budget, `key/203.0.113.${last}`, 20)).toBe(2);
    expect(accepted(budget, 'key/203.0.113.5', 1)).toBe(1);
    expect(accepted(budget, 'key/2001:db8:0:0', 20)).toBe(1);
  });

  it('gives the owner of the key a separate budget', () => {
    const budget = budgetOf(10);
    for (const last of [1, 2, 3, 4, 5]) accepted(budget, `key/203.0.113.${last}`, 20);
    expect(accepted(budget, 'key', 20)).toBe(10);
  });

  it('lets a single client use its whole rate limit by default', () => {
    const budget = budgetOf(null, 7);
    for (const last of [1, 2, 3, 4, 5]) expect(accepted(budget, `key/203.0.113.${last}`, 20)).toBe(7);
    expect(accepted(budget, 'key/203.0.113.6', 20)).toBe(0);
    expect(accepted(budget, 'key', 50)).toBe(35);
  });
});
