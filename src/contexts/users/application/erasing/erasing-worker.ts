import { Inject, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import {
  CONTEXTS,
  RUNNING_CONTEXTS,
  type Context,
  type Forget,
  type Forgotten,
} from '../../../../platform/context.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../../platform/event-store/command-loop.js';
import { failpoint } from '../../../../platform/failpoints.js';
import { DueWork } from '../../../../platform/work/due-work.js';
import { WorkItems, type OpenItem } from '../../../../platform/work/work-items.js';
import { user } from '../../domain/user.js';

const PREFIX = 'users.erasure.';

/** The kind of work of one part of an erasure: the context of this name drops what it keeps. */
export function erasureOf(part: string): string {
  return PREFIX + part;
}

/** Names of the contexts that keep something of persons. */
export function partsOf(contexts: readonly Context[]): readonly string[] {
  return contexts.filter(({ forgets }) => forgets).map(({ name }) => name);
}

/** Has every context drop what it keeps of erased persons (`forgets` of its manifest), until it says that it is done. */
@Injectable()
export class ErasingWorker {
  readonly works: readonly DueWork[];

  constructor(
    private readonly items: WorkItems,
    private readonly providers: ModuleRef,
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CONTEXTS) private readonly contexts: readonly Context[],
    @Inject(RUNNING_CONTEXTS) running: readonly Context[],
  ) {
    this.works = running.flatMap(({ name, forgets }) => (forgets ? [this.workOf(name, forgets)] : []));
  }

  wake(): void {
    for (const work of this.works) work.wake();
  }

  /** What has still to be dropped of a person. */
  async leftOf(userId: string): Promise<readonly (OpenItem & { readonly part: string })[]> {
    const left = await this.items.open(partsOf(this.contexts).map(erasureOf), userId);
    return left.map((item) => ({ ...item, part: item.kind.slice(PREFIX.length) }));
  }

  private workOf(part: string, forgets: NonNullable<Context['forgets']>): DueWork {
    return new DueWork(this.items, {
      kind: erasureOf(part),
      everyMs: 2000,
      batch: 1,
      leaseMs: 60_000,
      keepsLease: true,
      retry: { firstMs: 500, mostMs: 60_000 },
      perform: async ({ key: userId }, signal) => {
        failpoint('erasure.taken');
        const forget: Forget = forgets((token) => this.providers.get(token, { strict: false }));
        const isDone = await forget(await this.personOf(userId), signal);
        failpoint('erasure.part_dropped');
        return isDone ? 'done' : 'retry';
      },
    });
  }

  private async personOf(userId: string): Promise<Forgotten> {
    const { state } = await this.loop.load(user, userId);
    if (state.accountState !== 'erased') throw new Error('the user is not erased');
    const { merchantId, externalId, createdAt, erasure } = state;
    return { userId, merchantId, externalId, createdAt, erasedAt: erasure.at };
  }
}
