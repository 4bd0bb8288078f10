import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { BackgroundWork } from '../../../platform/background/background-work.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { failpoint } from '../../../platform/failpoints.js';
import type { SignedHead } from '../domain/signed-head.js';
import { Heads } from '../store/heads.js';
import { Ledger } from '../store/ledger.js';
import { HeadsFile } from './heads-file.js';
import { LedgerKeys } from './ledger-keys.js';

/** Signs a head over what the ledger holds, at an interval, when there is something new. Several processes may. */
@Injectable()
export class HeadSigner {
  readonly work: BackgroundWork;
  private readonly file: HeadsFile | null;

  constructor(
    private readonly ledger: Ledger,
    private readonly heads: Heads,
    private readonly keys: LedgerKeys,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) config: Pick<Config, 'auditHeadSeconds' | 'auditHeadsFile'>,
  ) {
    this.file = config.auditHeadsFile === null ? null : new HeadsFile(config.auditHeadsFile);
    this.work = new BackgroundWork({
      name: 'signing of heads',
      everyMs: config.auditHeadSeconds * 1000,
      run: async () => {
        await this.sign();
        await this.file?.append(this.heads);
      },
    });
  }

  /** The new head; null when the newest one covers the ledger. */
  async sign(): Promise<SignedHead | null> {
    // One row, so that size, position and root belong together whatever is added meanwhile.
    const state = await this.ledger.state();
    if (state === null) return null;
    const { logId, tree, position } = state;
    if (tree.size === (await this.heads.newest())?.size) return null;
    const head = await this.keys.sign({
      ...{ log_id: logId, size: tree.size, root: tree.root.toString('hex'), position },
      signed_at: timestamp(this.clock),
    });
    failpoint('head.signed');
    await this.heads.add(head);
    failpoint('head.stored');
    return head;
  }
}
