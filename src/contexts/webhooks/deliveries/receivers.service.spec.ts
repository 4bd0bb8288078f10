import { Logger } from '@nestjs/common';
import { expect, it } from '@jest/globals';
import { ReceiverHosts } from './receivers.service.js';
import { webhooksConfig } from '../webhooks.config.js';

// Refused names are for the operator's log.
Logger.overrideLogger(false);

it.each([
  ['https://localhost/', true],
  ['https://127.0.0.1/', false],
  ['https://host.internal/', false],
  ['http://example.com/', false],
  ['nonsense', false],
])(
  'the error for a refused URL is transient only if its host may get another address later: %s %j',
  async (url, isTransient) => {
    const hosts = new ReceiverHosts(webhooksConfig({ MODE: 'production' }));
    await expect(hosts.check(url)).rejects.toMatchObject({ code: 'validation_failed', isTransient });
  },
);
