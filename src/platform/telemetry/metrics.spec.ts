import { it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { healthCheck, measureOnScrape, scrape } from './metrics.js';

it('a scrape has what could be measured while the rest hangs or fails', async () => {
  const endings = [
    measureOnScrape(() => new Promise<void>(() => undefined)),
    measureOnScrape(() => Promise.reject(new Error('gone'))),
    measureOnScrape(async () => healthCheck.set({ check: 'measured' }, 1)),
  ];
  // One that another suite began is kept for half a second.
  await eventually(async () => (await scrape()).includes('disburse_health_check{check="measured"} 1'));
  for (const end of endings) end();
  healthCheck.reset();
  await eventually(async () => !(await scrape()).includes('check="measured"'));
});
