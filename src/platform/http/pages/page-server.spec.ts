import { it } from '@jest/globals';
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
