import { randomBytes, randomUUID } from 'node:crypto';
import { exchanged, isAtLeast, isDecimal, isZero } from '../../../../src/kernel/decimal.js';
import { Refusal } from '../provider-server.js';
import { readAddress } from '../../../../src/contexts/exchange/orders/addresses.js';

export class Refused extends Refusal {
  constructor(status: number, message: string, code = 'BAD_USER_INPUT') {
    super(status, { error: { message, code } });
  }
}

interface ShiftDeposit {
  updatedAt: string;
  depositHash: string;
  depositReceivedAt: string;
  depositAmount: string;
  status: 'pending' | 'processing' | 'review' | 'settling' | 'settled' | 'refund' | 'refunding' | 'refunded';
  settleHash?: string;
  settleAmount?: string;
  rate?: string;
  issue?: string;
}

interface Quote {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly depositAmount: string;
  readonly settleAmount: string;
  readonly rate: string;
  readonly affiliateId: string;
  readonly expiresAt: number;
}

interface Shift {
  readonly id: string;
  readonly quote: Quote;
  readonly createdAt: number;
  expiresAt: number;
  readonly depositAddress: string;
  readonly depositMemo: string | null;
  readonly settleAddress: string;
  readonly externalId: string | null;
  readonly deposits: ShiftDeposit[];
}

/** Coins and networks, with the rate to SOL and the minimum and maximum of a deposit. */
const METHODS: Readonly<Record<string, { rate: string; min: string; max: string }>> = {
  'usdc-ethereum': { rate: '0.005123456789', min: '5', max: '20000' },
  'xrp-ripple': { rate: '0.0131', min: '3', max: '10000' },
};
const SETTLED_IN = 'sol-solana';
const WITH_MEMO = ['ripple', 'stellar'];
const DECIMALS = 8;
const FIXED_MS = 15 * 60_000;
const CANCEL_AFTER_MS = 5 * 60_000;

/** SideShift's quotes and shifts of a fixed rate, by the rules of docs.sideshift.ai. */
export class ShiftBook {
  /** An address of SideShift, which accepts no payout. */
  static readonly OWN_ADDRESS = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
  readonly shifts = new Map<string, Shift>();
  private readonly quotes = new Map<string, Quote>();

  constructor(private readonly now: () => number) {}

  pair(from: string, to: string, amount: string): object {
    const { rate, min, max } = methodOf(from, to);
    if (!isDecimal(amount) || isZero(amount)) throw new Refused(400, 'Invalid amount');
    return { min, max, rate, ...coinsOf(from, to) };
  }

  quote(body: Record<string, unknown>): object {
    const { depositAmount, settleAmount, affiliateId } = body;
    const from = `${String(body['depositCoin'])}-${String(body['depositNetwork'])}`.toLowerCase();
    const to = `${String(body['settleCoin'])}-${String(body['settleNetwork'])}`.toLowerCase();
    const { rate, min, max } = methodOf(from, to);
    if (settleAmount !== null || !isDecimal(depositAmount, DECIMALS))
      throw new Refused(400, 'Bad request: Invalid parameters: depositAmount');
    if (isZero(depositAmount)) throw new Refused(400, 'depositAmount must be greater than zero');
    if (!isAtLeast(depositAmount, min)) throw new Refused(400, 'Amount too low');
    if (!isAtLeast(max, depositAmount)) throw new Refused(400, 'Amount too high');
    const expiresAt = this.now() + FIXED_MS;
    const amounts = { depositAmount, settleAmount: exchanged(depositAmount, rate, DECIMALS), rate };
    const terms = { id: randomUUID(), ...amounts, affiliateId: affiliateId as string };
    this.quotes.set(terms.id, { ...terms, from, to, expiresAt });
    return { ...terms, createdAt: iso(this.now()), ...coinsOf(from, to), expiresAt: iso(expiresAt) };
  }

  open(body: Record<string, unknown>): object {
    const { quoteId, settleAddress, settleMemo, affiliateId, externalId } = body;
    const quote = this.quotes.get(String(quoteId));
    if (quote === undefined) throw new Refused(404, 'Quote not found', 'NOT_FOUND');
    if (quote.affiliateId !== affiliateId)
      throw new Refused(400, 'Quote has different affiliateId than input');
    if (quote.expiresAt <= this.now())
      throw new Refused(400, 'Quote has already expired. Request a new quote.');
    if (typeof settleAddress !== 'string' || typeof readAddress(settleAddress) !== 'string')
      throw new Refused(400, 'Invalid receiving address');
    if (settleAddress === ShiftBook.OWN_ADDRESS)
      throw new Refused(400, 'This settle address belongs to SideShift.ai');
    if (settleMemo !== undefined) throw new Refused(400, 'Memo is not supported for SOL');
    const hasMemo = WITH_MEMO.includes(networkOf(quote.from));
    const shift: Shift = {
      id: randomBytes(10).toString('hex'),
      quote,
      createdAt: this.now(),
      expiresAt: quote.expiresAt,
      // All shifts of such a network share an address.
      depositAddress: hasMemo ? 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh' : `0x${randomBytes(20).toString('hex')}`,
      depositMemo: hasMemo ? String(randomBytes(4).readUInt32BE()) : null,
      settleAddress,
      externalId: typeof externalId === 'string' ? externalId : null,
      deposits: [],
    };
    this.shifts.set(shift.id, shift);
    return this.reported(shift);
  }

  shift(id: string): object {
    return this.reported(this.find(id));
  }

  cancel(id: unknown): void {
    const shift = this.find(String(id));
    if (shift.deposits.length > 0 || shift.expiresAt <= this.now())
      throw new Refused(400, 'Order already expired');
    if (this.now() - shift.createdAt < CANCEL_AFTER_MS)
      throw new Refused(400, 'Orders can only be cancelled after 5 minutes.');
    shift.expiresAt = this.now();
  }

  receive(id: string, depositAmount: string): ShiftDeposit {
    const at = iso(this.now());
    const depositHash = `0x${randomBytes(32).toString('hex')}`;
    const times = { updatedAt: at, depositReceivedAt: at };
    const deposit: ShiftDeposit = { ...times, depositHash, depositAmount, status: 'pending' };
    this.find(id).deposits.push(deposit);
    return deposit;
  }

  /** Confirms a deposit. The first one of the exact amount is paid out if it came in time. */
  process(id: string, deposit: ShiftDeposit): void {
    const { quote, expiresAt, deposits } = this.find(id);
    const isExact = deposit.depositAmount === quote.depositAmount;
    const isInTime = Date.parse(deposit.depositReceivedAt) <= expiresAt;
    if (isExact && isInTime && deposits[0] === deposit) {
      const { settleAmount, rate } = quote;
      Object.assign(deposit, { status: 'settled', settleAmount, rate, settleHash: solanaHash() });
    } else Object.assign(deposit, { status: 'refund', issue: isExact ? 'expired' : 'incorrect amount' });
  }

  refund(deposit: ShiftDeposit): void {
    Object.assign(deposit, { status: 'refunded', settleHash: `0x${randomBytes(32).toString('hex')}` });
  }

  find(id: string): Shift {
    const shift = this.shifts.get(id);
    if (shift === undefined) throw new Refused(404, 'Order not found', 'NOT_FOUND');
    return shift;
  }

  private reported(shift: Shift): object {
    const { id, quote, deposits, depositMemo, externalId } = shift;
    const { depositAmount, settleAmount, rate } = quote;
    const [only] = deposits;
    const unpaid = shift.expiresAt <= this.now() ? 'expired' : 'waiting';
    return {
      id,
      createdAt: iso(shift.createdAt),
      ...coinsOf(quote.from, quote.to),
      depositAddress: shift.depositAddress,
      ...(depositMemo === null ? {} : { depositMemo }),
      settleAddress: shift.settleAddress,
      depositMin: depositAmount,
      depositMax: depositAmount,
      type: 'fixed',
      quoteId: quote.id,
      expiresAt: iso(shift.expiresAt),
      averageShiftSeconds: '44.5',
      ...(externalId === null ? {} : { externalId }),
      ...(only === undefined && { depositAmount, settleAmount, rate, status: unpaid }),
      ...(deposits.length === 1 && { ...only, rate }),
      ...(deposits.length > 1 && { status: 'multiple', deposits }),
    };
  }
}

function methodOf(from: string, to: string): { rate: string; min: string; max: string } {
  const method = Object.hasOwn(METHODS, from) ? METHODS[from] : undefined;
  const unknown = method === undefined ? from : to;
  if (method === undefined || to !== SETTLED_IN)
    throw new Refused(400, `Method ${unknown.replace('-', '/')} not found`, 'METHOD_NOT_FOUND');
  return method;
}

function coinsOf(from: string, to: string): object {
  return {
    depositCoin: from.split('-')[0]!.toUpperCase(),
    settleCoin: to.split('-')[0]!.toUpperCase(),
    depositNetwork: networkOf(from),
    settleNetwork: networkOf(to),
  };
}

const networkOf = (method: string): string => method.split('-')[1]!;

const iso = (ms: number): string => new Date(ms).toISOString();

const solanaHash = (): string => randomBytes(64).toString('base64url').slice(0, 86);
