import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { EVENT_STORE, type EventStore } from '../../../platform/event-store/port.js';
import { LedgerTables } from '../store/ledger-tables.js';
import { LedgerKeys } from './ledger-keys.js';

/**
 * Begins the ledger of a log that has no events yet. For any other log a ledger that is missing was removed: it begins
 * again only when an operator runs `audit begin`.
 */
@Injectable()
export class LedgerStart implements OnModuleInit {
  constructor(
    @Inject(EVENT_STORE) private readonly store: Pick<EventStore, 'head' | 'identity'>,
    private readonly keys: LedgerKeys,
    private readonly tables: LedgerTables,
  ) {}

  async onModuleInit(): Promise<void> {
    if ((await this.store.head()) === null) await this.begin({ emptied: false });
  }

  /** From the first event, without heads: no new head follows those that were published. */
  async again(): Promise<void> {
    await this.begin({ emptied: true });
  }

  private async begin(how: { readonly emptied: boolean }): Promise<void> {
    await this.keys.begin();
    await this.tables.begin(await this.store.identity(), how);
  }
}
