import { it } from '@jest/globals';
import { Gauge } from 'prom-client';
import { eventually } from '../../../test/support/eventually.js';
import { measureOnScrape, registry, scrape } from './metrics.js';

it('a scrape has the successful measurements while others hang or fail', async () => {
  const measured = new Gauge({ name: 'measured_by_spec', help: 'x', registers: [registry] });
  const endings = [
    measureOnScrape(() => new Promise<void>(() => undefined)),
    measureOnScrape(() => Promise.reject(new Error('gone'))),
    measureOnScrape(async () => measured.inc()),
  ];
  // A scrape of another suite is cached for half a second.
  await eventually(async () => (await scrape()).includes('measured_by_spec 1'));
  for (const end of endings) end();
  registry.removeSingleMetric('measured_by_spec');
  await eventually(async () => !(await scrape()).includes('measured_by_spec'));
});
