import { expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:net';
import { eventually } from '../../../../test/support/eventually.js';
import { readConfig } from '../../../composition.js';
import { HealthRegistry } from '../../telemetry/health.js';
import { Log } from '../../telemetry/logger.js';
import { PageServer } from './page-server.js';

it('ends although a browser keeps a connection that it has sent nothing on', async () => {
  const config = readConfig({ LOG_LEVEL: 'silent', SHUTDOWN_GRACE_MS: '600000' });
  const advise = () => ({ heading: '', text: '' });
  const pages = new PageServer(config, Log.open(config), new HealthRegistry(), advise);
  await pages.listen(0);
  const browser = connect(pages.port!, '127.0.0.1');
  await eventually(
    () => new Promise<boolean>((resolve) => pages.routes.server.getConnections((_, n) => resolve(n === 1))),
  );
  await pages.close();
  await eventually(() => browser.destroyed);
});

it('408: a request that takes longer to send than it may', async () => {
  const config = readConfig({ LOG_LEVEL: 'silent' });
  const pages = new PageServer(
    config,
    Log.open(config),
    new HealthRegistry(),
    () => ({ heading: '', text: '' }),
    1000,
  );
  pages.routes.post('/slow', () => ({}));
  await pages.listen(0);
  const slow = connect(pages.port!, '127.0.0.1');
  slow.write(
    'POST /slow HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 4000\r\n\r\n{',
  );
  const drip = setInterval(() => slow.write(' '), 100);
  try {
    const [response] = (await once(slow, 'data')) as [Buffer];
    expect(response.toString()).toMatch(/^HTTP\/1\.1 408 /);
  } finally {
    clearInterval(drip);
    slow.destroy();
    await pages.close();
  }
});
