import { expect, it } from '@jest/globals';
import { healthCheck, measureOnScrape, scrape } from './metrics.js';

it('a scrape has what could be measured, within 3 s, while the rest hangs or fails', async () => {
  const endings = [
    measureOnScrape(() => new Promise<void>(() => undefined)),
    measureOnScrape(() => Promise.reject(new Error('gone'))),
    measureOnScrape(async () => healthCheck.set({ check: 'measured' }, 1)),
  ];
  const began = performance.now();
  expect(await scrape()).toContain('disburse_health_check{check="measured"} 1');
  expect(performance.now() - began).toBeLessThan(4500);
  for (const end of endings) end();
  healthCheck.reset();
  expect(await scrape()).not.toContain('check="measured"');
});
