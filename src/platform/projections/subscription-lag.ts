import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../../kernel/clock.js';
import { sharedMeasurement } from '../telemetry/metrics.js';
import { EVENT_STORE, type EventStore } from '../event-store/port.js';
import { Checkpoints } from './checkpoints.js';
import { SubscriptionRegistry } from './subscription-registry.js';

interface Lag {
  readonly name: string;
  readonly position: string | null;
  /** The age in milliseconds of the oldest event after the checkpoint; 0 if no event follows. */
  readonly ageMs: number;
  readonly isAwaited: boolean;
}

/** The lag of each subscription. Up to half a second of it may be due to irrelevant events. */
@Injectable()
export class SubscriptionLag {
  readonly all = sharedMeasurement(() => this.measure());

  constructor(
    private readonly registry: SubscriptionRegistry,
    private readonly checkpoints: Checkpoints,
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  private async measure(): Promise<readonly Lag[]> {
    const definitions = this.registry.all();
    const names = definitions.map(({ name }) => name);
    const positions = await this.checkpoints.read(names);
    const head = await this.store.head();
    const next = new Map<string | null, number>();
    for (const position of new Set(names.map((name) => positions.get(name) ?? null))) {
      const [oldest] = position === head ? [] : await this.store.readAll(position, 1);
      const ageMs = oldest ? this.clock.now().getTime() - oldest.recordedAt.getTime() : 0;
      next.set(position, Math.max(0, ageMs));
    }
    return definitions.map(({ name, wholeLog }) => {
      const position = positions.get(name) ?? null;
      return { name, position, ageMs: next.get(position) ?? 0, isAwaited: !wholeLog };
    });
  }
}
