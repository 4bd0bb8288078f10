import { setMaxListeners } from 'node:events';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { processConfig, type ProcessConfig } from '../config/config.js';
import { EventCodec } from '../event-store/event-codec.js';
import { EVENT_STORE, type EventStore } from '../event-store/port.js';
import { Checkpoints } from './checkpoints.js';
import { EventFeed } from './event-feed.js';
import { PassingTypes } from './passing-types.js';
import { SubscriptionLoop, type SubscriptionState } from './subscription-loop.js';
import { SubscriptionRegistry } from './subscription-registry.js';
import { SubscriptionProgress } from './subscription-progress.js';

/** Runs the registered subscriptions in processes with the role `worker`, which share the work. */
@Injectable()
export class SubscriptionRunner implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly stopping = new AbortController();
  private readonly feed: EventFeed;
  private loops: readonly SubscriptionLoop[] = [];
  private running: Promise<unknown> | null = null;

  constructor(
    private readonly registry: SubscriptionRegistry,
    private readonly checkpoints: Checkpoints,
    private readonly codec: EventCodec,
    private readonly progress: SubscriptionProgress,
    @Inject(EVENT_STORE) store: EventStore,
    @Inject(processConfig.KEY) private readonly config: ProcessConfig,
    private readonly passing: PassingTypes,
  ) {
    this.feed = new EventFeed(store);
    // Each waiting subscription adds a listener.
    setMaxListeners(0, this.stopping.signal);
  }

  onApplicationBootstrap(): void {
    if (this.config.roles.includes('worker')) this.start();
  }

  start(): void {
    if (this.running !== null) return;
    const { feed, checkpoints, codec, progress, passing } = this;
    this.feed.start();
    progress.runsHere(this.registry.all().map(({ name }) => name));
    this.loops = this.registry
      .all()
      .map((definition) => new SubscriptionLoop(definition, { feed, checkpoints, codec, progress, passing }));
    this.running = Promise.all(this.loops.map((loop) => loop.run(this.stopping.signal)));
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.feed.stop();
    await this.running;
  }

  /** Stops after the last response, because responses wait for the projection of their own writes. */
  onApplicationShutdown(): Promise<void> {
    return this.stop();
  }

  states(): readonly SubscriptionState[] {
    return this.loops.map((loop) => loop.state);
  }
}
