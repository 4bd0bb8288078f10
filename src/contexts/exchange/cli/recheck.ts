import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { logPages } from '../../../platform/event-store/log-pages.js';
import { EVENT_STORE, type EventStore } from '../../../platform/event-store/port.js';
import { operate, type Operator, type Outcome } from '../../../platform/operator/operator.js';
import { ORDER_TRANSFERS, type CheckedDeposit, type OrderTransfers } from '../application/ports.js';
import { existingOrder, order, type ExistingOrder } from '../domain/order.js';

/** Exit codes: a deposit is not on the chain; nothing is wrong, and not every deposit was found. */
const EXIT_MISSING = 2;
const EXIT_INCOMPLETE = 1;

interface Finding extends CheckedDeposit {
  readonly orderId: string;
  /** `--from` it begins with this order; null for the first event of the log. */
  readonly position: string | null;
}

/** `npm run exchange -- recheck`: reads every recorded deposit from the nodes again. Changes nothing. */
export function recheckCommand(program: Command, operator: Operator): void {
  program
    .command('recheck')
    .description(
      'ask the nodes of CHAIN_RPC_URL again for every recorded deposit; exit 2 when one is not on the chain, 1 when not all could be checked',
    )
    .option('--from <position>', 'continue after this position of the log')
    .action(async function (this: Command) {
      const { from = null } = this.opts<{ from?: string }>();
      if (from !== null && !/^[0-9]{1,40}$/.test(from))
        throw new DomainError('bad_request', '--from must be a position as this program prints them');
      const asJson = this.optsWithGlobals<{ json?: boolean }>().json === true;
      await operate(operator, async (context) => {
        const recheck = new Recheck(context, (finding) =>
          operator.print(asJson ? JSON.stringify(jsonOf(finding)) : textOf(finding)),
        );
        await recheck.run(from);
        if (recheck.counts.missing > 0) operator.exit(EXIT_MISSING);
        else if (recheck.isIncomplete) operator.exit(EXIT_INCOMPLETE);
        return recheck.outcome();
      }).call(this);
    });
}

class Recheck {
  readonly counts = { on_chain: 0, missing: 0, unknown: 0 };
  private position: string | null = null;
  private ordersElsewhere = 0;
  private readonly store: EventStore;
  private readonly loop: CommandLoop;
  private readonly transfers: OrderTransfers;

  /** `report` receives every deposit that was not found, at once. */
  constructor(
    context: INestApplicationContext,
    private readonly report: (finding: Finding) => void,
  ) {
    this.store = context.get<EventStore>(EVENT_STORE, { strict: false });
    this.loop = context.get(CommandLoop, { strict: false });
    this.transfers = context.get<OrderTransfers>(ORDER_TRANSFERS, { strict: false });
  }

  /** Also where no node of any order's chain is configured: nothing was checked then. */
  get isIncomplete(): boolean {
    const { on_chain, missing, unknown } = this.counts;
    return unknown > 0 || (on_chain + missing === 0 && this.ordersElsewhere > 0);
  }

  /** Each order once, at the event that created it, which comes after {@link position}. */
  async run(from: string | null): Promise<void> {
    this.position = from;
    for await (const events of logPages(this.store, { after: from, end: await this.store.head() })) {
      for (const { type, data, position } of events) {
        if (type === 'order.created.v1') await this.check(String(data['order_id']));
        this.position = position;
      }
    }
  }

  private async check(orderId: string): Promise<void> {
    const state = existingOrder(await this.loop.show(order, orderId));
    if (state.deposits.length + state.lateDeposits.length === 0) return;
    const deposits = await this.depositsOf(state);
    if (deposits === null) this.ordersElsewhere += 1;
    for (const each of deposits ?? []) {
      this.counts[each.found] += 1;
      if (each.why !== null) this.report({ orderId, position: this.position, ...each });
    }
  }

  /** Unknown, all of them, while too few nodes respond. */
  private async depositsOf(state: ExistingOrder): Promise<readonly CheckedDeposit[] | null> {
    try {
      return await this.transfers.checkDeposits(state);
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'unavailable') throw error;
      return [...state.deposits, ...state.lateDeposits].map(({ deposit_id }) => ({
        depositId: deposit_id,
        found: 'unknown',
        why: error.message,
      }));
    }
  }

  outcome(): Outcome {
    const { position, counts, ordersElsewhere: elsewhere } = this;
    const { on_chain, missing, unknown } = counts;
    const lines = [
      `${on_chain + missing + unknown} deposits checked, up to position ${position ?? 'none'}: ${on_chain} on the chain, ${missing} missing`,
    ];
    if (unknown > 0) lines.push(`${unknown} could not be checked: try again`);
    if (elsewhere > 0)
      lines.push(
        `${elsewhere} orders with deposits are of chains without a node here (CHAIN_RPC_URL, CHAIN_ID, USDC_ADDRESS)`,
      );
    return { text: lines.join('\n'), json: { ...counts, orders_elsewhere: elsewhere, position } };
  }
}

function textOf({ orderId, depositId, position, found, why }: Finding): string {
  return `${found.toUpperCase().padEnd(8)} order ${orderId}, deposit ${depositId} (after position ${position ?? 'none'}): ${why}`;
}

function jsonOf({ orderId, depositId, position, found, why }: Finding): object {
  return { order_id: orderId, deposit_id: depositId, position, found, why };
}
