import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { base58Text } from '../../../../kernel/base58.js';
import { CLOCK, type Clock } from '../../../../kernel/clock.js';
import { fromMinorUnits } from '../../../../kernel/money.js';
import { GroupCall } from '../../../../platform/background/group-call.js';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
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
} from '../../application/ports.js';
import { SandboxOrders, type SandboxOrder } from '../../store/sandbox-orders.js';
import { ScanCursors } from '../../store/scan-cursors.js';
import { DepositKeys } from './deposit-keys.js';
import { DepositScanner } from './deposit-scanner.js';
import { sandboxQuote, SANDBOX_PAIRS } from './rates.js';

/** A scan that was silent for so long is not relied on for new orders. */
const SILENCE_SECONDS = 60;
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
  private readonly keys: DepositKeys;
  private readonly creations = new GroupCall<NewProviderOrder, ProviderOrder>(
    (wanted) => this.createAll(wanted),
    {
      most: 50,
    },
  );

  constructor(
    @Inject(CONFIG)
    private readonly config: Pick<
      Config,
      'chainId' | 'exchangeOrderExpirySeconds' | 'exchangeDepositXpub' | 'exchangeSettleMs'
    >,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly orders: SandboxOrders,
    private readonly cursors: ScanCursors,
    private readonly scanner: DepositScanner,
  ) {
    this.keys = new DepositKeys(config.exchangeDepositXpub);
  }

  async quote(pairId: string, amountFrom: string | null): Promise<Quote> {
    return { ...sandboxQuote(pairId, amountFrom), expiresAt: this.expiry().toISOString() };
  }

  async create(order: NewProviderOrder): Promise<ProviderOrder> {
    sandboxQuote(order.pairId, order.amountFrom);
    return known(() => this.creations.call(order));
  }

  async status({ orderId }: ProviderReference): Promise<ProviderStatus> {
    const { chainId, exchangeSettleMs } = this.config;
    const row = await known(() => this.orders.standing(orderId, chainId, exchangeSettleMs));
    if (row === null) throw new ProviderUnavailable('the sandbox has no such order');
    return {
      deposits: row.deposits.map(({ chain_id, transaction_hash, place, amount_minor, block_at }) => ({
        id: `${chain_id}:${transaction_hash}:${place}`,
        amount: fromMinorUnits(BigInt(amount_minor)),
        transactionHash: transaction_hash,
        at: new Date(block_at).toISOString(),
      })),
      isDepositUnderWay: row.is_under_way,
      completeUntil: row.complete_until?.toISOString() ?? null,
      outcome: row.is_settled
        ? { kind: 'completed', transactionHash: payoutHash(orderId), amountTo: row.settled_amount_to }
        : null,
    };
  }

  async settle({ orderId }: ProviderReference, { amountTo }: Settlement): Promise<void> {
    if (!(await known(() => this.orders.settle(orderId, amountTo))))
      throw new ProviderRefused('the order was cancelled, or never made', null);
  }

  async cancel({ orderId }: ProviderReference): Promise<void> {
    await known(() => this.orders.cancel(orderId));
  }

  async ping(): Promise<void> {
    const state = await known(() => this.cursors.state(this.config.chainId));
    if (state === null) throw new ProviderUnavailable('the chain was never scanned for deposits');
    if (state.silent_seconds > SILENCE_SECONDS) {
      const seconds = Math.round(state.silent_seconds);
      throw new ProviderUnavailable(`the chain was not scanned for deposits for ${seconds} s`);
    }
  }

  private async createAll(wanted: readonly NewProviderOrder[]): Promise<readonly ProviderOrder[]> {
    const byId = new Map(wanted.map((order) => [order.orderId, order]));
    const ids = [...byId.keys()];
    const stored = new Map((await this.orders.find(ids)).map((order) => [order.order_id, order]));
    const fresh = ids.filter((id) => !stored.has(id)).map((id) => byId.get(id)!);
    if (fresh.length > 0) {
      // Nobody may pay to an address before there is a place from which transfers to it will be found.
      if ((await this.cursors.state(this.config.chainId)) === null) await this.scanner.begin();
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

function providerOrder(order: SandboxOrder): ProviderOrder {
  return {
    reference: `sandbox-${order.address_index}`,
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
