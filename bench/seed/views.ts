import { readFileSync } from 'node:fs';
import { KNOWN_EVENTS } from '../../src/composition.js';
import { AuthenticEventStore } from '../../src/platform/event-store/authentic-event-store.js';
import type { EventStore } from '../../src/platform/event-store/port.js';
import { EventCodec } from '../../src/platform/event-store/event-codec.js';
import { EventRegistry } from '../../src/platform/event-store/event-registry.js';
import { PostgresEventStore } from '../../src/platform/event-store/postgres/postgres-event-store.js';
import { Checkpoints } from '../../src/platform/projections/checkpoints.js';
import { ReadModelRebuild } from '../../src/platform/projections/read-model-rebuild.js';
import { SubscriptionRegistry } from '../../src/platform/projections/subscription-registry.js';
import { payoutViews } from '../../src/contexts/payouts/views/projection.js';
import { Database } from '../../src/platform/postgres/database.js';
import { PersonalKeys } from '../../src/platform/sealing/personal-keys.js';
import { KeyRing, MasterKey } from '../../src/platform/sealing/key-ring.js';

const POOL_SIZE = 4;

/** The service's own rebuild of the read models of payouts, wired by hand, without HTTP. */
export class Views {
  private constructor(
    private readonly database: Database,
    private readonly store: EventStore,
    private readonly registry: SubscriptionRegistry,
    private readonly checkpoints: Checkpoints,
    private readonly codec: EventCodec,
  ) {}

  /** `secretsFile` is the sandbox's, with the master key that opens personal fields. */
  static async open(url: string, secretsFile: string): Promise<Views> {
    const database = await Database.connect({ url, poolSize: POOL_SIZE });
    const events = new EventRegistry();
    events.register(KNOWN_EVENTS);
    const registry = new SubscriptionRegistry();
    registry.register(payoutViews);
    const { sealer } = await KeyRing.open(database, {
      current: new MasterKey(masterKeyOf(secretsFile)),
      former: null,
    });
    const codec = new EventCodec(events, new PersonalKeys(database, sealer));
    return new Views(
      database,
      new AuthenticEventStore(new PostgresEventStore(database.pool), sealer),
      registry,
      new Checkpoints(database),
      codec,
    );
  }

  /** Rebuilds the read models from the first event. Number of events. */
  async rebuild(): Promise<number> {
    const { registry, checkpoints, codec, store, database } = this;
    const rebuilding = new ReadModelRebuild(registry, checkpoints, codec, store, database);
    const rebuilt = await rebuilding.rebuild(payoutViews.name, { compare: false });
    return rebuilt.events;
  }

  async close(): Promise<void> {
    await this.store.close();
    await this.database.close();
  }
}

export function masterKeyOf(secretsFile: string): Buffer {
  const { master_key: key } = JSON.parse(readFileSync(secretsFile, 'utf8')) as { master_key: string };
  return Buffer.from(key, 'hex');
}
