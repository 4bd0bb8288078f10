import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { CommandHandler } from '@nestjs/cqrs';
import { Operation, OperatorCommand, type OperationHandler } from '../../../platform/operations/operation.js';
import { EVENT_STORE, type EventStore } from '../../../platform/event-store/port.js';
import type { Macs } from '../../../platform/event-store/authentic-event-store.js';
import { type SubscriptionDefinition, subscriptionName } from '../../../platform/projections/projection.js';
import { hashOfEvent } from './event-leaf.js';
import { LedgerTampered, type HeadExtent } from './signed-head.js';
import { HealthRegistry, NotReady } from '../../../platform/telemetry/health.js';
import { Sealer } from '../../../platform/sealing/sealer.js';
import { Heads } from './heads.store.js';
import { extendLedger, Ledger } from './ledger.store.js';
import { LEDGER_SUBJECT, LedgerKeys } from './ledger-keys.commands.js';

export const LEDGER = subscriptionName('audit.ledger');

/** The minimum time between batches. No request waits for leaves, and EventFeed retains events longer. */
const GATHER_MS = 40;

/** Adds every event of the log to the ledger as a leaf, in the order of the log. */
export function ledgerFollower(
  store: Pick<EventStore, 'identity'>,
  macs: Macs,
  anchor: Pick<LedgerAnchor, 'guard'>,
  lastKnown: () => Promise<HeadExtent | null>,
): SubscriptionDefinition {
  return {
    name: LEDGER,
    events: [],
    wholeLog: true,
    gatherMs: GATHER_MS,
    async apply(events, tx) {
      const leaves = events.map((event) => ({ position: event.position, hash: hashOfEvent(event) }));
      const logId = await store.identity();
      await anchor.guard('follower', async () =>
        extendLedger(tx, macs, { logId, signed: (await lastKnown())?.size }, leaves),
      );
    },
  };
}

/** The last signed head in the memory of this process, and the faults that stop follower and signer. */
@Injectable()
export class LedgerAnchor {
  private readonly logger = new Logger(LedgerAnchor.name);
  private readonly problems = new Map<string, string>();
  last: HeadExtent | null = null;

  constructor(
    health: HealthRegistry,
    @Inject(Ledger) private readonly ledger: Pick<Ledger, 'last'>,
    @Inject(EVENT_STORE) private readonly store: Pick<EventStore, 'readAll'>,
  ) {
    health.register({
      name: 'ledger',
      check: async () => {
        if (this.problems.size > 0) throw new NotReady([...new Set(this.problems.values())].join('; '));
        await this.requireRecorded().catch((error: unknown) => {
          throw error instanceof LedgerTampered ? new NotReady(error.message) : error;
        });
      },
    });
  }

  /** Runs the follower or signer. {@link LedgerTampered} makes the process unready until a run succeeds. */
  async guard<T>(who: 'follower' | 'signer', work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      // The follower has not committed yet, so this checks the last leaf before its batch.
      await this.requireRecorded();
      this.problems.delete(who);
      return result;
    } catch (error) {
      if (error instanceof LedgerTampered && this.problems.get(who) !== error.message) {
        this.problems.set(who, error.message);
        this.logger.error({ msg: `ledger ${who} stopped: ${error.message}`, last_head: this.last });
      }
      throw error;
    }
  }

  /**
   * Throws {@link LedgerTampered} while the log lacks the event of the last leaf. If the newest events
   * were deleted and others were appended later, only this check finds the deletion.
   */
  private async requireRecorded(): Promise<void> {
    const last = await this.ledger.last();
    if (last === null) return;
    const [event] = await this.store.readAll(last.after, 1);
    if (event?.position !== last.position)
      throw new LedgerTampered(`the event at position ${last.position} was recorded and is not in the log`);
  }
}

/** Begins a new ledger after the former was lost or changed. Only `audit begin` requests this operation. */
@Operation({ ...LEDGER_SUBJECT, name: 'ledger.begin' })
export class BeginLedger extends OperatorCommand {}

/** Begins the ledger of an empty log at startup. A log that has events but no ledger needs `audit begin`. */
@CommandHandler(BeginLedger)
export class LedgerStart implements OnModuleInit, OperationHandler<BeginLedger> {
  constructor(
    @Inject(EVENT_STORE) private readonly store: Pick<EventStore, 'head' | 'identity'>,
    private readonly keys: LedgerKeys,
    private readonly heads: Heads,
    private readonly sealer: Sealer,
  ) {}

  async onModuleInit(): Promise<void> {
    if ((await this.store.head()) === null) await this.begin({ emptied: false });
  }

  /** Empties the ledger and restarts it at the first event. New heads do not extend published heads. */
  execute(): Promise<void> {
    return this.begin({ emptied: true });
  }

  private async begin(how: { readonly emptied: boolean }): Promise<void> {
    await this.keys.begin();
    await this.heads.begin(this.sealer, await this.store.identity(), how);
  }
}
