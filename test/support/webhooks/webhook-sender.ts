import { Queue } from 'bullmq';
import { systemClock } from '../../../src/kernel/clock.js';
import { WEBHOOK_SETTINGS } from '../../../src/contexts/webhooks/settings.js';
import { readConfigOf } from '../../../src/platform/config/config.js';
import { Database } from '../../../src/platform/postgres/database.js';
import { QueueBackend } from '../../../src/platform/queue/queue-backend.js';
import { KeyRing, masterKeysOf } from '../../../src/platform/sealing/key-ring.js';
import { Log } from '../../../src/platform/telemetry/logger.js';
import { HttpReceivers, ReceiverHosts } from '../../../src/contexts/webhooks/adapters/http-receivers.js';
import { AutomaticDisabling } from '../../../src/contexts/webhooks/application/automatic-disabling.js';
import { AttemptLogger } from '../../../src/contexts/webhooks/application/delivering/attempt-logger.js';
import { DeliverySender } from '../../../src/contexts/webhooks/application/delivering/delivery-sender.js';
import {
  LANE_QUEUE,
  LaneSchedule,
} from '../../../src/contexts/webhooks/application/delivering/lane-schedule.js';
import { Lanes } from '../../../src/contexts/webhooks/application/delivering/lanes.js';
import { SigningSecrets } from '../../../src/contexts/webhooks/application/signing-secrets.js';
import { DeliveryTable } from '../../../src/contexts/webhooks/store/delivery-table.js';
import { Destinations } from '../../../src/contexts/webhooks/store/destinations.js';
import type { CommandLoop } from '../../../src/platform/event-store/command-loop.js';
import { FailingEndpoints } from '../../../src/contexts/webhooks/store/failing-endpoints.js';

/** A process that sends deliveries and nothing else, put together by hand: somebody is going to kill it. */
const config = readConfigOf([{ settings: WEBHOOK_SETTINGS }], process.env);
const database = await Database.connect({ url: config.databaseUrl!, poolSize: 4 });
const backend = await QueueBackend.connect(config.databaseUrl!);
const destinations = new Destinations(database);
const table = new DeliveryTable(database);
const log = Log.open(config);
const schedule = new LaneSchedule(new Queue(LANE_QUEUE, { connection: backend.connection }));
const sender = new DeliverySender(
  table,
  destinations,
  { find: async () => null },
  schedule,
  new SigningSecrets((await KeyRing.open(database, masterKeysOf(config))).sealer),
  new AttemptLogger(log),
  new AutomaticDisabling(
    new FailingEndpoints(database, systemClock, config),
    {} as CommandLoop,
    systemClock,
    log,
  ),
  new HttpReceivers(config, new ReceiverHosts(config)),
  systemClock,
  config,
);
const lanes = new Lanes(table, sender);
for (;;) {
  await table.heartbeat();
  for (const endpointId of await table.dueEndpoints()) lanes.wake(endpointId);
  await new Promise((resolve) => setTimeout(resolve, 100));
}
