import { createHash } from 'node:crypto';
import type { OnApplicationShutdown } from '@nestjs/common';
import { ProviderRefused, ProviderUnavailable } from '../../src/platform/outbound/provider-errors.js';
import type {
  AgreedOrder,
  ExchangeProvider,
  NewProviderOrder,
  ProviderStatus,
} from '../../src/contexts/exchange/providers/exchange-provider.ports.js';
import type { ProviderOrder, Quote } from '../../src/contexts/exchange/orders/order-events.js';
import { base58Text } from '../../src/kernel/base58.js';
import type { Clock } from '../../src/kernel/clock.js';
import { exchanged, isAtLeast, isDecimal } from '../../src/kernel/decimal.js';
import { DomainError } from '../../src/kernel/domain-error.js';
import { fromMinorUnits } from '../../src/kernel/money.js';
import type { Sealer } from '../../src/platform/sealing/sealer.js';
import type { DevChain, TokenTransfer } from './dev-chain.js';
import type { ListedDeposits, SandboxOrder, SandboxOrders } from './sandbox-orders.js';
import type { ExchangeConfig } from '../../src/contexts/exchange/exchange.config.js';

/** The only pair of the sandbox, with a fixed rate: test USDC of the dev chain for SOL. */
const PAIR = { id: 'USDCSOL', rate: '0.005', amount: '100', minimum: '5', maximum: '5000' };
const DECIMALS_FROM = 6;
const DECIMALS_TO = 9;
/** The purpose of the MACs over settlements. */
const SETTLEMENT = 'sandbox settlement';
/** The margin by which the terms outlive the order, because the order is stored after them. */
const CREATION_MARGIN_MS = 60_000;
/** The number of earlier blocks that are searched too, because a reorganisation may move a deposit there. */
const EARLIER_BLOCKS = 64;

/**
 * Exchanges test USDC of the dev chain for SOL that is never paid out (ADR 146). Each order has an address,
 * whose deposits each poll reads from the chain. There is one rate; payout hashes belong to no transaction.
 */
export class SandboxProvider implements ExchangeProvider, OnApplicationShutdown {
  readonly name = 'sandbox';
  readonly pairIds = [PAIR.id];

  constructor(
    private readonly config: ExchangeConfig,
    private readonly clock: Clock,
    private readonly orders: SandboxOrders,
    private readonly chain: DevChain,
    private readonly sealer: Sealer,
  ) {}

  async quote(pairId: string, amountFrom: string | null): Promise<Quote> {
    if (pairId !== PAIR.id)
      throw new ProviderRefused(
        'is not a pair that the sandbox exchanges: GET /v1/tokens lists them',
        'pair_id',
      );
    const { rate, minimum, maximum, amount: defaultAmount } = PAIR;
    const amount = amountFrom ?? defaultAmount;
    const invalid = (message: string): DomainError => DomainError.invalid({ amount_from: [message] });
    if (!isDecimal(amount, DECIMALS_FROM))
      throw invalid(`must be a decimal with at most ${DECIMALS_FROM} digits after the point`);
    if (!isAtLeast(amount, minimum) || !isAtLeast(maximum, amount))
      throw invalid(`must be from ${minimum} to ${maximum}`);
    const amountTo = exchanged(amount, rate, DECIMALS_TO);
    return { amount_from: amount, amount_to: amountTo, rate, minimum, maximum, expires_at: this.expiry(0) };
  }

  async create({ order_id: orderId, pair_id, amount_from }: NewProviderOrder): Promise<ProviderOrder> {
    const quote = await this.quote(pair_id, amount_from);
    return orUnavailable(async () => {
      const known = await this.orders.find(orderId);
      if (known !== null) return known.terms;
      const { head } = await this.chain.heads();
      const depositAddress = await addressOf(orderId);
      const terms = {
        ...quote,
        expires_at: this.expiry(CREATION_MARGIN_MS),
        provider_reference: depositAddress.toLowerCase(),
        deposit_address: depositAddress,
        deposit_address_tag: null,
      };
      return this.orders.add(orderId, terms, Math.max(0, head.number - EARLIER_BLOCKS));
    });
  }

  /**
   * Returns the order's state. The deposit address is `reference`, from the order's event; rows only record
   * earlier deposits.
   */
  status({
    order_id: orderId,
    provider_reference: reference,
  }: Pick<AgreedOrder, 'order_id' | 'provider_reference'>): Promise<ProviderStatus> {
    return orUnavailable(async () => {
      const order = await this.orders.find(orderId, this.config.exchangeSettleMs);
      if (order === null) throw new ProviderUnavailable('the sandbox has no such order');
      const now = this.clock.now();
      const { head, final } = await this.chain.heads();
      const all = await this.chain.transfers(
        Math.min(order.first_block, head.number),
        head.number,
        reference,
      );
      const transfers = all.filter(({ amountMinor }) => amountMinor > 0n);
      const counted = transfers.filter(
        ({ id, blockNumber }) => blockNumber <= final.number || id in order.listed,
      );
      const listed = await this.listed(orderId, order.listed, counted, now);
      const ids = new Set(transfers.map(({ id }) => id));
      return {
        deposits: counted.map(({ id, amountMinor, transactionHash }) => ({
          deposit_id: id,
          amount: fromMinorUnits(amountMinor),
          transaction_hash: transactionHash,
          deposited_at: listed[id]!,
        })),
        missing: Object.keys(listed).filter((id) => !ids.has(id)),
        isDepositPending: counted.length < transfers.length,
        completeUntil: now.toISOString(),
        outcome: this.isSettled(orderId, order)
          ? { kind: 'completed', transactionHash: payoutHash(orderId), amountTo: order.settled_amount_to }
          : null,
      };
    });
  }

  settle({
    order_id: orderId,
    amount_to: amountTo,
  }: Pick<AgreedOrder, 'order_id' | 'amount_to'>): Promise<void> {
    return orUnavailable(async () => {
      const mac = this.sealer.mac(SETTLEMENT, `${orderId} ${amountTo}`);
      if (!(await this.orders.settle(orderId, amountTo, mac)))
        throw new ProviderRefused('the order was cancelled or never created', null);
    });
  }

  cancel({ order_id: orderId }: Pick<AgreedOrder, 'order_id'>): Promise<void> {
    return orUnavailable(() => this.orders.cancel(orderId));
  }

  onApplicationShutdown(): Promise<void> {
    return this.chain.close();
  }

  /** Returns the times of the deposits. New ones get the time of their block, but no future time. */
  private async listed(
    orderId: string,
    before: ListedDeposits,
    counted: readonly TokenTransfer[],
    now: Date,
  ): Promise<ListedDeposits> {
    const fresh = counted.filter(({ id }) => !(id in before));
    if (fresh.length === 0) return before;
    const blocks = await this.chain.blocks(fresh.map(({ blockNumber }) => blockNumber));
    const times = fresh.map(({ id, blockNumber, blockHash }) => {
      const block = blocks.get(blockNumber);
      if (block?.hash !== blockHash) throw new ProviderUnavailable('a block was just replaced', 'later');
      return [id, new Date(Math.min(block.timestamp * 1000, now.getTime())).toISOString()] as const;
    });
    return this.orders.list(orderId, Object.fromEntries(times));
  }

  private isSettled(
    orderId: string,
    { is_settled, settled_amount_to: amountTo, settled_mac }: SandboxOrder,
  ): boolean {
    return is_settled && this.sealer.isAuthentic(SETTLEMENT, `${orderId} ${amountTo}`, settled_mac);
  }

  private expiry(marginMs: number): string {
    const waitMs = this.config.exchangeOrderExpirySeconds * 1000;
    return new Date(this.clock.now().getTime() + waitMs + marginMs).toISOString();
  }
}

/** Returns an address in the mixed case of EIP-55. It has no private key; the treasury sends the refunds. */
async function addressOf(orderId: string): Promise<string> {
  const { getAddress } = await import('ethers');
  const digest = createHash('sha256').update(`sandbox deposit address ${orderId}`).digest('hex');
  return getAddress(`0x${digest.slice(0, 40)}`);
}

/** Returns Base58 of 64 bytes, the format of a Solana signature. An order always gets the same value. */
function payoutHash(orderId: string): string {
  return base58Text(createHash('sha512').update(`sandbox payout ${orderId}`).digest());
}

/** Runs `call`. Throws ProviderUnavailable (outcome unknown) after a failure of the database or the chain. */
async function orUnavailable<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof ProviderUnavailable || error instanceof ProviderRefused) throw error;
    throw Object.assign(new ProviderUnavailable('the sandbox is unavailable'), { cause: error });
  }
}
