import { Injectable, Inject } from '@nestjs/common';
import type { Aggregate, DomainEvent } from '../../../kernel/aggregate.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { Claim } from '../../../platform/event-store/command-loop-types.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { DIRECTORY_VIEW } from '../views/directory-projection.js';

/** Decides on one aggregate, then waits, for a bounded time, until the directory has the change: a printed secret can be used at once. */
@Injectable()
export class AccessCommands {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly progress: SubscriptionProgress,
  ) {}

  /** The state by the events, without any delay. */
  async load<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    id: string,
  ): Promise<State> {
    return (await this.loop.load(aggregate, id)).state;
  }

  async change<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    id: string,
    decide: (state: State, at: string) => readonly Event[],
    { claims = [], cause = { actor: 'operator' } }: { claims?: readonly Claim[]; cause?: EventMetadata } = {},
  ): Promise<void> {
    const at = timestamp(this.clock);
    const { position } = await this.loop.execute(aggregate, id, (state) => decide(state, at), {
      metadata: cause,
      claims,
    });
    await this.progress.waitFor(DIRECTORY_VIEW, position);
  }
}
