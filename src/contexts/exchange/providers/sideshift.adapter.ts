import type { OnApplicationShutdown } from '@nestjs/common';
import type { Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { exchanged, isAtLeast, isDecimal, isZero, sum } from '../../../kernel/decimal.js';
import { ProviderRefused } from '../../../platform/outbound/provider-errors.js';
import type {
  AgreedOrder,
  ExchangeProvider,
  NewProviderOrder,
  ProviderStatus,
} from './exchange-provider.ports.js';
import { isDepositAddress } from '../orders/addresses.js';
import { PAIRS, type Pair, chainOf, countDecimals } from '../tokens/catalog.js';
import type { DepositFacts, ProviderOrder, Quote } from '../orders/order-events.js';
import {
  assetAmount,
  knownPair,
  memoText,
  readShift,
  requireAssets,
  requireSame,
  readTime,
} from './sideshift-shift.adapter.js';
import { publicAddress } from '../orders/compliance-notices.service.js';
import { readAmount } from './exchange-providers.service.js';
import {
  contradiction,
  SideShiftApi,
  type SideShiftAccount,
  type SideShiftObject,
} from './sideshift-api.adapter.js';

/** The validity of a quote without an order. */
const QUOTE_MS = 30_000;
const TIMES = {
  /** The timeout of one call. The creation of an order needs two calls, and its caller waits for both. */
  timeoutMs: 4000,
  /** The age at which a transfer is surely listed or pending. SideShift lists each soon after its block. */
  listedAfterMs: 60_000,
};
/** The decimals of rates and of amounts that SideShift computes. */
const RATE_DECIMALS = 18;
const AMOUNT_DECIMALS = 8;

/**
 * The provider SideShift (ADR 119). Each order is a fixed-rate shift for exactly the requested amount, paid
 * out automatically. SideShift refunds a wrong amount, a second deposit and a deposit after the expiry.
 */
export class SideShiftProvider implements ExchangeProvider, OnApplicationShutdown {
  readonly name = 'sideshift';
  /** SideShift uses the same names of coins and networks as the catalogue. */
  readonly pairIds = PAIRS.map(({ id }) => id);
  private readonly api: SideShiftApi;

  constructor(
    private readonly account: SideShiftAccount,
    private readonly clock: Clock,
    private readonly times = TIMES,
  ) {
    this.api = new SideShiftApi(account, times.timeoutMs);
  }

  async quote(pairId: string, amountFrom: string | null): Promise<Quote> {
    const pair = knownPair(pairId);
    const { from, to } = pair;
    const amount = requestedAmount(pair, amountFrom);
    const query = new URLSearchParams({ affiliateId: this.account.sideshiftAffiliateId, amount }).toString();
    const response = await this.api.get(`/pair/${from.token}-${from.chain}/${to.token}-${to.chain}?${query}`);
    requireAssets(response, pair);
    const minimum = assetAmount(response['min'], from, 'the minimum');
    const maximum = assetAmount(response['max'], from, 'the maximum');
    if (!isAtLeast(amount, minimum) || !isAtLeast(maximum, amount))
      throw DomainError.invalid({ amount_from: [`must be from ${minimum} to ${maximum}`] });
    const rate = readRate(response['rate']);
    return {
      amount_from: amount,
      amount_to: exchanged(amount, rate, Math.min(countDecimals(to), AMOUNT_DECIMALS)),
      rate,
      minimum,
      maximum,
      expires_at: new Date(this.clock.now().getTime() + QUOTE_MS).toISOString(),
    };
  }

  async create(order: NewProviderOrder): Promise<ProviderOrder> {
    const pair = knownPair(order.pair_id);
    requireNoMemo(order);
    const amount = requestedAmount(pair, order.amount_from);
    const { sideshiftAffiliateId: affiliateId } = this.account;
    // SideShift requires the end user's address, which must be public.
    const caller = publicAddress(order.caller_address ?? '');
    const requested = {
      depositCoin: pair.from.token,
      depositNetwork: pair.from.chain,
      settleCoin: pair.to.token,
      settleNetwork: pair.to.chain,
      depositAmount: amount,
      settleAmount: null,
      affiliateId,
    };
    const quote = await this.api.post('/quotes', requested, caller);
    const terms = readQuote(quote, pair, amount);
    const { order_id: externalId, withdraw_address: settleAddress } = order;
    const body = { quoteId: readId(quote['id']), settleAddress, affiliateId, externalId };
    return readNewShift(await this.api.post('/shifts/fixed', body, caller), order, terms);
  }

  async status(order: AgreedOrder, recorded: readonly DepositFacts[] = []): Promise<ProviderStatus> {
    const requestedAt = this.clock.now().getTime();
    const shift = await this.api.get(`/shifts/${encodeURIComponent(order.provider_reference)}`);
    return {
      ...readShift(shift, order, recorded),
      completeUntil: new Date(requestedAt - this.times.listedAfterMs).toISOString(),
    };
  }

  settle(): Promise<void> {
    return Promise.resolve();
  }

  /** Cancels a shift. Has no effect after its expiry or a deposit; the status then reports the outcome. */
  cancel(order: AgreedOrder): Promise<void> {
    return this.api.cancel(order.provider_reference);
  }

  onApplicationShutdown(): Promise<void> {
    return this.api.close();
  }
}

function readNewShift(
  response: SideShiftObject,
  { order_id, pair_id, withdraw_address }: NewProviderOrder,
  quote: ReturnType<typeof readQuote>,
): ProviderOrder {
  const { from, to } = knownPair(pair_id);
  const { depositAddress } = response;
  if (typeof depositAddress !== 'string' || !isDepositAddress(from.chain, depositAddress))
    return contradiction(`the deposit address of the shift is not valid on ${from.chain}`);
  const depositMemo = memoText(response['depositMemo']);
  if (depositMemo !== null && !/^[ -~]{1,255}$/.test(depositMemo))
    return contradiction('the deposit memo of the shift is malformed');
  const needsMemo = chainOf(from.chain)?.tag !== null;
  if (needsMemo && depositMemo === null) return contradiction('the shift has no deposit memo');
  const { amount_from } = quote;
  const terms = {
    ...quote,
    provider_reference: readId(response['id']),
    deposit_address: depositAddress,
    deposit_address_tag: depositMemo,
    minimum: amount_from,
    maximum: amount_from,
    expires_at: readTime(response['expiresAt'], 'the expiry of the shift'),
  };
  requireSame(response, { ...terms, order_id, pair_id, withdraw_address });
  for (const name of ['depositAmount', 'depositMin', 'depositMax'])
    if (assetAmount(response[name], from, 'the amount of the shift') !== amount_from)
      contradiction('the shift is of another amount than requested');
  if (assetAmount(response['settleAmount'], to, 'the amount of the shift') !== quote.amount_to)
    contradiction('the shift pays out another amount than its quote');
  return terms;
}

function readQuote(response: SideShiftObject, pair: Pair, amount: string) {
  requireAssets(response, pair);
  if (assetAmount(response['depositAmount'], pair.from, 'the amount of the quote') !== amount)
    contradiction('the quote is of another amount than requested');
  const amount_to = assetAmount(response['settleAmount'], pair.to, 'the amount of the quote');
  const rate = readRate(response['rate']);
  if (isZero(amount_to)) contradiction('the quote pays out nothing');
  return { amount_from: amount, amount_to, rate };
}

function requestedAmount({ from, defaultAmount }: Pair, amountFrom: string | null): string {
  return sum([readAmount('amount_from', amountFrom ?? defaultAmount, countDecimals(from))]);
}

/** Refuses tags and memos, because Solana has neither and a payout that needs a memo would be lost. */
function requireNoMemo({ withdraw_address_tag: tag, withdraw_address_memo: memo }: NewProviderOrder): void {
  const message = 'is not used on Solana: leave it out';
  if (tag !== null) throw new ProviderRefused(message, 'withdraw_address_tag');
  if (memo !== null) throw new ProviderRefused(message, 'withdraw_address_memo');
}

function readRate(value: unknown): string {
  return isDecimal(value, RATE_DECIMALS) && !isZero(value) ? value : contradiction('the rate is malformed');
}

function readId(value: unknown): string {
  return typeof value === 'string' && /^[A-Za-z0-9-]{6,64}$/.test(value)
    ? value
    : contradiction('an id is missing or malformed');
}
