import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { Forgets, type ErasedPerson } from '../../../platform/operations/erasure.js';
import { Snapshots } from '../../../platform/event-store/snapshots.js';
import { failpoint } from '../../../platform/failpoints.js';
import { ResponseStore } from '../../../platform/idempotency/response-store.js';
import { PersonalKeys } from '../../../platform/sealing/personal-keys.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { Background } from '../../../platform/jobs/background-work.js';
import { DueWork } from '../../../platform/jobs/due-work.js';
import { WorkItems, scheduleWork } from '../../../platform/jobs/work-items.js';
import {
  subscriptionName,
  subscriptionOf,
  type SubscriptionDefinition,
} from '../../../platform/projections/projection.js';
import { user, type UserErased } from './user.js';

const toErasure = (part: string): string => `users.erasure.${part}`;

/** Calls every method with `@Forgets` for each erased person until the method reports that it is done. */
@Injectable()
export class ErasureProcessor implements OnModuleInit {
  @Background()
  works: readonly DueWork[] = [];

  constructor(
    private readonly items: WorkItems,
    private readonly discovery: DiscoveryService,
    private readonly loop: CommandLoop,
    private readonly keys: PersonalKeys,
    private readonly snapshots: Snapshots,
    private readonly responses: ResponseStore,
  ) {}

  /** Fails the boot if a declared method has no provider. */
  onModuleInit(): void {
    const found = Forgets.discover(this.discovery);
    const missing = [...Forgets.declared].find((part) => found.every(({ value }) => value !== part));
    if (missing !== undefined) throw new Error(`no provider has a method with @Forgets('${missing}')`);
    this.works = found.map(({ value, call }) => this.toWork(value, call));
  }

  /** Drops the person's snapshots, responses and key. Sealed fields are unreadable without the key. */
  @Forgets('users')
  async forget({ userId, merchantId, createdAt }: ErasedPerson, signal: AbortSignal): Promise<boolean> {
    await this.keys.forget(userId);
    failpoint('erasure.key_dropped');
    await this.snapshots.forget(userId);
    failpoint('erasure.snapshots_dropped');
    const about = { named: [userId], scope: merchantId, since: createdAt };
    const isDone = await this.responses.drop(about, signal);
    failpoint('erasure.responses_dropped');
    return isDone;
  }

  wake(): void {
    for (const work of this.works) work.wake();
  }

  private toWork(part: string, forget: ErasureProcessor['forget']): DueWork {
    return new DueWork(this.items, {
      kind: toErasure(part),
      everyMs: 2000,
      batch: 1,
      leaseMs: 60_000,
      keepsLease: true,
      retry: { firstMs: 500, maxMs: 60_000 },
      perform: async ({ key: userId }, signal) => {
        failpoint('erasure.claimed');
        const isDone = await forget(await this.toPerson(userId), signal);
        failpoint('erasure.part_dropped');
        return isDone ? 'done' : 'retry';
      },
    });
  }

  private async toPerson(userId: string): Promise<ErasedPerson> {
    const { state } = await this.loop.load(user, userId);
    if (state.account_state !== 'erased') throw new Error('the user is not erased');
    const { merchant_id: merchantId, external_id: externalId, created_at: createdAt, erasure } = state;
    return { userId, merchantId, externalId, createdAt, erasedAt: erasure.at };
  }
}

const ERASING_SAGA = subscriptionName('users.erasing');

export function erasingSaga(wake: () => void): SubscriptionDefinition {
  return subscriptionOf<UserErased>({
    name: ERASING_SAGA,
    events: ['user.erased.v1' satisfies UserErased['type']],
    async apply(events, tx) {
      const items = events.map(({ data }) => ({ key: data.user_id }));
      for (const part of Forgets.declared) await scheduleWork(tx, toErasure(part), items);
    },
    afterCommit: wake,
  });
}
