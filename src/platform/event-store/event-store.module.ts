import { Global, Inject, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { type StoreConfig, storeConfig } from '../config/config.js';
import { Database } from '../postgres/database.js';
import { KeyRing } from '../sealing/key-ring.js';
import { AuthenticEventStore } from './authentic-event-store.js';
import { CLAIM_EVENTS } from './claims.js';
import { CommandLoop } from './command-loop.js';
import { EventCodec } from './event-codec.js';
import { FollowedLog } from './followed-log.js';
import { OPEN_EVENT_STORE, openEventStore, type OpenEventStore } from './open-event-store.js';
import { EVENT_STORE } from './port.js';
import { Snapshots } from './snapshots.js';

@Global()
@Module({
  providers: [
    EventCodec,
    {
      provide: OPEN_EVENT_STORE,
      inject: [storeConfig.KEY, Database],
      useFactory: (config: StoreConfig, { pool }: Database) => openEventStore(config, pool),
    },
    {
      provide: EVENT_STORE,
      inject: [OPEN_EVENT_STORE, KeyRing],
      useFactory: ({ store }: OpenEventStore, ring: KeyRing) =>
        new AuthenticEventStore(store, ring.sealer, () => ring.refresh()),
    },
    Snapshots,
    CommandLoop,
    FollowedLog,
  ],
  exports: [FollowedLog, EventCodec, EVENT_STORE, OPEN_EVENT_STORE, CommandLoop, Snapshots],
})
export class EventStoreModule implements OnModuleInit, OnApplicationShutdown {
  constructor(
    @Inject(OPEN_EVENT_STORE) private readonly open: OpenEventStore,
    private readonly codec: EventCodec,
    private readonly log: FollowedLog,
  ) {}

  async onModuleInit(): Promise<void> {
    this.codec.register(CLAIM_EVENTS);
    await this.log.verify();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.open.close();
  }
}
