import { Inject, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import {
  RUNNING_CONTEXTS,
  type Forget,
  type Get,
  type Context,
  type ForgottenPerson,
} from '../../../platform/context.js';
import { Snapshots } from '../../../platform/event-store/snapshots.js';
import { failpoint } from '../../../platform/failpoints.js';
import { PersonalResponses } from '../../../platform/idempotency/personal-responses.js';
import { PersonalKeys } from '../../../platform/sealing/personal-keys.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { Background } from '../../../platform/background/background-work.js';
import { DueWork } from '../../../platform/work/due-work.js';
import { WorkItems, scheduleWork } from '../../../platform/work/work-items.js';
import {
  subscriptionName,
  subscriptionOf,
  type SubscriptionDefinition,
} from '../../../platform/projections/projection.js';
import { user, type UserErased } from '../domain/user.js';

/** Of an erasure in order: of the command, then of the worker. */
export const ERASURE_FAILPOINTS = [
  'erasure.recorded',
  'erasure.claimed',
  'erasure.key_dropped',
  'erasure.snapshots_dropped',
  'erasure.responses_dropped',
  'erasure.part_dropped',
] as const;

type Name = (typeof ERASURE_FAILPOINTS)[number];

declare module '../../../platform/failpoints.js' {
  interface Failpoints extends Record<Name, true> {}
}

/** Drops the key of the person, which makes sealed fields of events unreadable, snapshots, and stored responses about the person. */
export function forgetPerson(get: Get): Forget {
  return async (person, signal) => {
    await get(PersonalKeys).forget(person.userId);
    failpoint('erasure.key_dropped');
    await get(Snapshots).forget(person.userId);
    failpoint('erasure.snapshots_dropped');
    const isDone = await get(PersonalResponses).drop(
      { named: [person.userId], scope: person.merchantId, since: person.createdAt },
      signal,
    );
    failpoint('erasure.responses_dropped');
    return isDone;
  };
}

const PREFIX = 'users.erasure.';

/** The kind of work in which the context of this name drops what it stores of a person. */
function erasureOf(part: string): string {
  return PREFIX + part;
}

export function partsOf(contexts: readonly Context[]): readonly string[] {
  return contexts.filter(({ forgets }) => forgets).map(({ name }) => name);
}

/** Calls `forgets` of every context for erased persons until each is done. */
@Injectable()
export class ErasingWorker {
  @Background()
  readonly works: readonly DueWork[];

  constructor(
    private readonly items: WorkItems,
    private readonly providers: ModuleRef,
    private readonly loop: CommandLoop,
    @Inject(RUNNING_CONTEXTS) running: readonly Context[],
  ) {
    this.works = running.flatMap(({ name, forgets }) => (forgets ? [this.workOf(name, forgets)] : []));
  }

  wake(): void {
    for (const work of this.works) work.wake();
  }

  private workOf(part: string, forgets: NonNullable<Context['forgets']>): DueWork {
    return new DueWork(this.items, {
      kind: erasureOf(part),
      everyMs: 2000,
      batch: 1,
      leaseMs: 60_000,
      keepsLease: true,
      retry: { firstMs: 500, maxMs: 60_000 },
      perform: async ({ key: userId }, signal) => {
        failpoint('erasure.claimed');
        const forget: Forget = forgets((token) => this.providers.get(token, { strict: false }));
        const isDone = await forget(await this.personOf(userId), signal);
        failpoint('erasure.part_dropped');
        return isDone ? 'done' : 'retry';
      },
    });
  }

  private async personOf(userId: string): Promise<ForgottenPerson> {
    const { state } = await this.loop.load(user, userId);
    if (state.accountState !== 'erased') throw new Error('the user is not erased');
    const { merchantId, externalId, createdAt, erasure } = state;
    return { userId, merchantId, externalId, createdAt, erasedAt: erasure.at };
  }
}

const ERASING_SAGA = subscriptionName('users.erasing');

export function erasingSaga(parts: readonly string[], wake: () => void): SubscriptionDefinition {
  return subscriptionOf<UserErased>({
    name: ERASING_SAGA,
    events: ['user.erased.v1' satisfies UserErased['type']],
    async apply(events, tx) {
      const items = events.map(({ data }) => ({ key: data.user_id }));
      for (const part of parts) await scheduleWork(tx, erasureOf(part), items);
    },
    afterCommit: wake,
  });
}
