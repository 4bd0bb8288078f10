import { Inject, Injectable, Logger } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { backoffMs, type Backoff } from '../../../../platform/background/backoff.js';
import { BackgroundWork } from '../../../../platform/background/background-work.js';
import {
  CONTEXTS,
  RUNNING_CONTEXTS,
  type Context,
  type Forget,
  type Forgotten,
} from '../../../../platform/context.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../../platform/event-store/command-loop.js';
import { failpoint } from '../../../../platform/failpoints.js';
import { user } from '../../domain/user.js';
import { Erasures, type Erasure } from '../../store/erasures.js';

const SWEEP_MS = 2000;
const BATCH = 4;
/** After this long without an outcome it is taken up anew: the process that had it is dead, or slow, which harms nothing. */
const LEASE_SECONDS = 60;
const RETRY: Backoff = { firstMs: 500, mostMs: 60_000 };

/** Has every context drop what it keeps of persons who are erased (`forgets` of its manifest), until it says that it is done. */
@Injectable()
export class ErasingWorker {
  private readonly logger = new Logger(ErasingWorker.name);
  readonly work = new BackgroundWork({
    name: 'erasures of persons',
    everyMs: SWEEP_MS,
    run: (signal) => this.drain(signal),
  });

  constructor(
    private readonly erasures: Erasures,
    private readonly providers: ModuleRef,
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CONTEXTS) private readonly contexts: readonly Context[],
    @Inject(RUNNING_CONTEXTS) private readonly running: readonly Context[],
  ) {}

  /** Names of all contexts that keep something of persons. */
  parts(): readonly string[] {
    return this.contexts.filter(({ forgets }) => forgets).map(({ name }) => name);
  }

  private async drain(signal: AbortSignal): Promise<void> {
    const here = this.running.filter(({ forgets }) => forgets).map(({ name }) => name);
    while (!signal.aborted) {
      const batch = await this.erasures.lease(here, BATCH, LEASE_SECONDS);
      for (const erasure of batch) {
        if (signal.aborted) await this.erasures.retryIn(erasure, 0, null);
        else await this.carryOut(erasure, signal);
      }
      if (batch.length < BATCH) return;
    }
  }

  private async carryOut(erasure: Erasure, signal: AbortSignal): Promise<void> {
    failpoint('erasure.taken');
    const delayMs = backoffMs(RETRY, erasure.attempts - 1);
    try {
      const forget = this.forgetOf(erasure.part);
      const isDone = await this.leased(erasure, async () =>
        forget(await this.personOf(erasure.user_id), signal),
      );
      failpoint('erasure.part_dropped');
      if (isDone) await this.erasures.done(erasure);
      else await this.erasures.retryIn(erasure, delayMs, null);
    } catch (error) {
      const { user_id, part, attempts } = erasure;
      this.logger.warn({ msg: 'an erasure has to be tried again', user_id, part, attempts, delayMs, error });
      await this.erasures.retryIn(erasure, delayMs, String(error));
    }
  }

  /** Keeps the lease for as long as the work goes on. */
  private async leased<T>(erasure: Erasure, work: () => Promise<T>): Promise<T> {
    const kept = setInterval(
      () => void this.erasures.retryIn(erasure, LEASE_SECONDS * 1000, null).catch(() => undefined),
      (LEASE_SECONDS * 1000) / 3,
    );
    try {
      return await work();
    } finally {
      clearInterval(kept);
    }
  }

  private forgetOf(part: string): Forget {
    const context = this.running.find(({ name }) => name === part);
    return context!.forgets!((token) => this.providers.get(token, { strict: false }));
  }

  private async personOf(userId: string): Promise<Forgotten> {
    const { state } = await this.loop.load(user, userId);
    if (state.accountState !== 'erased') throw new Error('the user is not erased');
    const { merchantId, externalId, createdAt, erasure } = state;
    return { userId, merchantId, externalId, createdAt, erasedAt: erasure.at };
  }
}
