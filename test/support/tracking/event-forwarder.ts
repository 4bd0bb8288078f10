import { TRACKING_SETTINGS } from '../../../src/contexts/tracking/settings.js';
import { readConfigOf } from '../../../src/platform/config/config.js';
import { Database } from '../../../src/platform/postgres/database.js';
import { WorkItems } from '../../../src/platform/work/work-items.js';
import { Log } from '../../../src/platform/telemetry/logger.js';
import { configuredAnalytics } from '../../../src/contexts/tracking/adapters/analytics.js';
import { ForwardingObserver } from '../../../src/contexts/tracking/application/forwarding/forwarding-observer.js';
import { ForwardingTable } from '../../../src/contexts/tracking/store/forwarding-table.js';
import { DEFAULT_TIMES, Forwarder } from '../../../src/contexts/tracking/application/forwarding/forwarder.js';

/** A process that forwards events and nothing else, put together by hand: somebody is going to kill it. */
const config = readConfigOf([{ settings: TRACKING_SETTINGS }], process.env);
const database = await Database.connect({ url: config.databaseUrl!, poolSize: 2 });
const forwarder = new Forwarder(
  new WorkItems(database),
  new ForwardingTable(database),
  new ForwardingObserver(Log.open(config)),
  configuredAnalytics(config, database),
  { ...DEFAULT_TIMES, leaseMs: 1000 },
  config,
);
forwarder.work.start();
setInterval(() => forwarder.work.wake(), 20);
