import { createHash } from 'node:crypto';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { base58Text } from '../../src/kernel/base58.js';
import { CLOCK, type Clock } from '../../src/kernel/clock.js';
import { fromMinorUnits } from '../../src/kernel/money.js';
import { GroupCall } from '../../src/platform/background/group-call.js';
import { CONFIG, type Config } from '../../src/platform/config/config.js';
import type { Sealer } from '../../src/platform/sealing/sealer.js';
import {
  ProviderRefused,
  ProviderUnavailable,
  type ExchangeProvider,
  type NewProviderOrder,
  type ProviderOrder,
  type ProviderReference,
  type ProviderStatus,
  type Quote,
  type Settlement,
} from '../../src/contexts/exchange/application/ports.js';
import { DepositKeys } from './deposit-keys.js';
import { Deposits } from './deposits.js';
import { sandboxQuote, SANDBOX_PAIRS } from './rates.js';
import type { DevChain } from './dev-chain.js';
import { SandboxOrders, type SandboxOrder, type SandboxStanding } from './sandbox-orders.js';

/** A scan that was silent for so long is not relied on for new orders. */
const SILENCE_SECONDS = 60;
/** References are this and the index of the address. */
const REFERENCE = 'sandbox-';
/** Purpose of MACs. */
const SETTLEMENT = 'sandbox settlement';
/** Rows are reported once by a process; so many are remembered. */
const MAX_REPORTED = 10_000;
/** A quote holds for so much longer, so that the order, which is made after it, has its whole time. */
const MADE_WITHIN_MS = 60_000;

/**
 * Exchanges test USDC of the dev chain for SOL that nobody gets: a deposit address per order, deposits found by the
 * {@link DepositScanner}, rates from a table, and an outgoing hash that is no transaction.
 */
@Injectable()
export class SandboxProvider implements ExchangeProvider {
  readonly name = 'sandbox';
  readonly pairIds = SANDBOX_PAIRS;
  private readonly logger = new Logger(SandboxProvider.name);
  private readonly reported = new Set<string>();
  private readonly keys = new DepositKeys();
  private readonly creations = new GroupCall<NewProviderOrder, ProviderOrder>(
    (wanted) => this.createAll(wanted),
    {
      most: 50,
    },
  );

  constructor(
    @Inject(CONFIG)
    private readonly config: Pick<Config, 'exchangeOrderExpirySeconds' | 'exchangeSettleMs'>,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly orders: SandboxOrders,
    private readonly deposits: Deposits,
    private readonly chain: Pick<DevChain, 'finalTransfers'>,
    private readonly sealer: Sealer,
  ) {}

  async quote(pairId: string, amountFrom: string | null): Promise<Quote> {
    return { ...sandboxQuote(pairId, amountFrom), expiresAt: this.expiry().toISOString() };
  }

  async create(order: NewProviderOrder): Promise<ProviderOrder> {
    sandboxQuote(order.pairId, order.amountFrom);
    return known(() => this.creations.call(order));
  }

  async status({ orderId, reference }: ProviderReference): Promise<ProviderStatus> {
    const row = await known(() => this.orders.standing(orderId, this.config.exchangeSettleMs));
    if (row === null) throw new ProviderUnavailable('the sandbox has no such order');
    const onChain = await known(() => this.onChain(reference, row));
    const rows = row.deposits.map((each) => {
      const { transaction_hash, place, block_hash, amount_minor } = each;
      return { ...each, id: depositId(transaction_hash, place, block_hash, amount_minor) };
    });
    // What the scan has not come to yet is like this for a moment too.
    const wrong = rows.filter(({ id, is_missing }) => onChain.has(id) === is_missing);
    for (const each of wrong) this.report(orderId, each.id, each.is_missing);
    const isDustThere = isCovered(row, onChain);
    if (!isDustThere) this.report(orderId, 'sandbox_dust', false);
    const sound = rows.filter((each) => !wrong.includes(each));
    return {
      deposits: sound
        .filter(({ is_missing }) => !is_missing)
        .map((each) => ({
          id: each.id,
          amount: fromMinorUnits(BigInt(each.amount_minor)),
          transactionHash: each.transaction_hash,
          at: new Date(each.block_at).toISOString(),
        })),
      missing: sound.filter(({ is_missing }) => is_missing).map(({ id }) => id),
      ...(isDustThere
        ? { unlisted: { count: row.dust.count, amount: fromMinorUnits(BigInt(row.dust.amount_minor)) } }
        : {}),
      isDepositUnderWay: row.is_awaited,
      completeUntil: wrong.length > 0 ? null : (row.complete_until?.toISOString() ?? null),
      outcome: this.isSettled(orderId, row)
        ? { kind: 'completed', transactionHash: payoutHash(orderId), amountTo: row.settled_amount_to }
        : null,
    };
  }

  /**
   * Amounts of final transfers to the order by the id of the deposit: the rows are an index, which others can write to. The
   * address follows from the reference, which is in the order's event.
   */
  private async onChain(reference: string, { deposits, dust }: SandboxStanding) {
    if (deposits.length === 0 && dust.count === 0) return new Map<string, bigint>();
    const [address] = await this.keys.addressesAt([Number(reference.slice(REFERENCE.length))]);
    const from = Math.min(...deposits.map(({ block_number }) => block_number));
    const transfers = await this.chain.finalTransfers(from, address!);
    return new Map(
      transfers.map(({ transactionHash, place, blockHash, amountMinor }) => [
        depositId(transactionHash, place, blockHash, String(amountMinor)),
        amountMinor,
      ]),
    );
  }

  private isSettled(orderId: string, row: SandboxStanding): boolean {
    const { is_settled, settled_amount_to: amountTo, settled_mac: mac } = row;
    return is_settled && this.sealer.isAuthentic(SETTLEMENT, `${orderId} ${amountTo}`, mac);
  }

  private report(orderId: string, deposit: string, isMissing: boolean): void {
    const name = `${orderId} ${deposit}`;
    if (this.reported.has(name)) return;
    if (this.reported.size >= MAX_REPORTED) this.reported.clear();
    this.reported.add(name);
    const msg = isMissing
      ? 'deposit row ignored: it is marked as missing, and the chain has the transfer'
      : 'deposit row ignored: the chain does not have the transfer';
    this.logger.error({ msg, order_id: orderId, deposit });
  }

  async settle({ orderId }: ProviderReference, { amountTo }: Settlement): Promise<void> {
    const mac = this.sealer.mac(SETTLEMENT, `${orderId} ${amountTo}`);
    if (!(await known(() => this.orders.settle(orderId, amountTo, mac))))
      throw new ProviderRefused('the order was cancelled, or never made', null);
  }

  async cancel({ orderId }: ProviderReference): Promise<void> {
    await known(() => this.orders.cancel(orderId));
  }

  async ping(): Promise<void> {
    const seconds = Math.round(await known(() => this.deposits.silence()));
    if (seconds > SILENCE_SECONDS)
      throw new ProviderUnavailable(`the chain was not scanned for deposits for ${seconds} s`);
  }

  private async createAll(wanted: readonly NewProviderOrder[]): Promise<readonly ProviderOrder[]> {
    const byId = new Map(wanted.map((order) => [order.orderId, order]));
    const ids = [...byId.keys()];
    const stored = new Map((await this.orders.find(ids)).map((order) => [order.order_id, order]));
    const fresh = ids.filter((id) => !stored.has(id)).map((id) => byId.get(id)!);
    if (fresh.length > 0) {
      await this.ping();
      const orders = await this.newOrders(fresh);
      const added = await this.orders.add(orders);
      // Of those that another process made meanwhile, its are the ones.
      const others = orders.filter(({ order_id: id }) => !added.has(id)).map(({ order_id: id }) => id);
      const found = others.length === 0 ? [] : await this.orders.find(others);
      for (const each of [...orders.filter(({ order_id: id }) => added.has(id)), ...found])
        stored.set(each.order_id, each);
    }
    return wanted.map(({ orderId }) => providerOrder(stored.get(orderId)!));
  }

  private async newOrders(fresh: readonly NewProviderOrder[]): Promise<readonly SandboxOrder[]> {
    const indexes = await this.orders.drawIndexes(fresh.length);
    const addresses = await this.keys.addressesAt(indexes);
    return fresh.map(({ orderId, pairId, amountFrom }, n) => {
      const quote = sandboxQuote(pairId, amountFrom);
      return {
        order_id: orderId,
        address_index: indexes[n]!,
        deposit_address: addresses[n]!,
        pair_id: pairId,
        amount_from: quote.amountFrom,
        amount_to: quote.amountTo,
        rate: quote.rate,
        minimum: quote.minimum,
        maximum: quote.maximum,
        expires_at: new Date(this.expiry().getTime() + MADE_WITHIN_MS),
      };
    });
  }

  private expiry(): Date {
    return new Date(this.clock.now().getTime() + this.config.exchangeOrderExpirySeconds * 1000);
  }
}

/** The recipient is the order's. */
function depositId(transactionHash: string, place: number, blockHash: string, amountMinor: string): string {
  return `${transactionHash}:${place}:${blockHash}:${amountMinor}`;
}

/** Whether what is listed and what is summed up came: the scan may be behind the chain, never ahead. */
function isCovered({ deposits, dust }: SandboxStanding, onChain: ReadonlyMap<string, bigint>): boolean {
  if (dust.count === 0) return true;
  const listed = deposits.filter(({ is_missing }) => !is_missing).map((each) => BigInt(each.amount_minor));
  const total = (amounts: Iterable<bigint>): bigint => [...amounts].reduce((sum, each) => sum + each, 0n);
  return BigInt(dust.amount_minor) + total(listed) <= total(onChain.values());
}

function providerOrder(order: SandboxOrder): ProviderOrder {
  return {
    reference: `${REFERENCE}${order.address_index}`,
    depositAddress: order.deposit_address,
    depositAddressTag: null,
    amountFrom: order.amount_from,
    amountTo: order.amount_to,
    rate: order.rate,
    minimum: order.minimum,
    maximum: order.maximum,
    expiresAt: order.expires_at.toISOString(),
  };
}

/** Looks like the signature of a Solana transaction: Base58 of 64 bytes, the same for the same order. */
function payoutHash(orderId: string): string {
  return base58Text(createHash('sha512').update(`sandbox payout ${orderId}`).digest());
}

/** Whatever goes wrong on the way to the database or the chain: it is not known what came of it. */
async function known<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ProviderUnavailable || error instanceof ProviderRefused) throw error;
    throw Object.assign(new ProviderUnavailable('the sandbox is unavailable'), { cause: error });
  }
}
