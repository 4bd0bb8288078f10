import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import { operate, type Operator } from '../../../platform/operator/operator.js';
import { ScanCursors } from '../store/scan-cursors.js';

/** `exchange rescan`: for a scan that has halted, and for deposits that a node did not tell of. */
export function scanCommands(program: Command, operator: Operator): void {
  program
    .command('rescan <block>')
    .description(
      'scan the chain for deposits once more from after this block; what was found before stays one',
    )
    .action(async function (this: Command, block: string) {
      if (!/^[0-9]{1,15}$/.test(block))
        throw new DomainError('bad_request', 'the block must be a whole number');
      const { chainId } = operator.config();
      await operate(operator, async (context) => {
        const cursors = context.get(ScanCursors, { strict: false });
        if (!(await cursors.setBack(chainId, Number(block))))
          throw new DomainError('bad_request', `Chain ${chainId} was never scanned up to block ${block}`);
        return {
          text: `The next scan of chain ${chainId} begins after block ${block}`,
          json: { chain_id: chainId, block_number: Number(block) },
        };
      }).call(this);
    });
}
