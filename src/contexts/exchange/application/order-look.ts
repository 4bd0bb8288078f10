import { Inject, Injectable, Logger } from '@nestjs/common';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { isDecimal } from '../../../kernel/decimal.js';
import {
  ClaimTaken,
  COMMAND_LOOP,
  type Claim,
  type CommandLoop,
} from '../../../platform/event-store/command-loop.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { failpoint } from '../../../platform/failpoints.js';
import { ClockCheck, ClockOff } from '../../../platform/postgres/clock-check.js';
import { observe, type Observation } from '../domain/observation.js';
import { isAfter, made, order, shortfall, type MadeOrder, type Order } from '../domain/order.js';
import type { OrderEvent } from '../domain/order-events.js';
import { ProviderUnavailable, type Deposit, type ProviderStatus } from './ports.js';
import { ProviderCalls } from './provider-calls.js';

/** Reasons are shown to merchants. */
const MOST_REASON = 255;

export interface Looked {
  readonly state: MadeOrder;
  readonly isDepositUnderWay: boolean;
}

interface ProviderObservation extends Observation {
  readonly deposits: readonly Deposit[];
}

/** Asks the provider about an order, and writes what follows. However many ask at once, the provider is asked once. */
@Injectable()
export class OrderLook {
  private readonly logger = new Logger(OrderLook.name);
  private readonly underWay = new Map<string, Promise<Looked>>();

  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly calls: ProviderCalls,
    private readonly clockCheck: ClockCheck,
  ) {}

  /** Throws DomainError `not_found`, and {@link ProviderUnavailable}. */
  look(orderId: string, cause?: EventMetadata): Promise<Looked> {
    const known = this.underWay.get(orderId);
    if (known !== undefined) return known;
    const looking = this.ask(orderId, cause).finally(() => this.underWay.delete(orderId));
    this.underWay.set(orderId, looking);
    return looking;
  }

  private async ask(orderId: string, cause?: EventMetadata): Promise<Looked> {
    const loaded = made((await this.loop.load(order, orderId)).state);
    const { provider: name, provider_reference: reference } = loaded.facts;
    // Without a cause it is the watch that asks.
    const keyId = cause === undefined ? null : loaded.facts.key_id;
    const status = await this.calls.call(name, keyId, (it) => it.status({ orderId, reference }));
    failpoint('order.asked');
    return this.record(await this.observationOf(status, loaded), loaded, cause);
  }

  private async record(
    observation: ProviderObservation,
    loaded: MadeOrder,
    cause: EventMetadata | undefined,
  ): Promise<Looked> {
    const { order_id: orderId } = loaded.facts;
    const { isDepositUnderWay } = observation;
    const expected = observe(observation, loaded);
    if (expected.length === 0) return { state: loaded, isDepositUnderWay };
    let events: readonly OrderEvent[] = [];
    try {
      const { state } = await this.loop.execute(
        order,
        orderId,
        (current: Order) => [...(events = observe(observation, current))],
        {
          ...(cause === undefined
            ? { metadata: { actor: 'exchange.watch' }, follows: true }
            : { metadata: cause }),
          claims: claimsOf(observation, expected),
        },
      );
      failpoint('order.observed');
      this.report(events, made(state));
      return { state: made(state), isDepositUnderWay };
    } catch (error) {
      if (!(error instanceof ClaimTaken)) throw error;
      this.reportRefused(orderId, error);
      return this.record(withoutClaimed(observation, error.claim), loaded, cause);
    }
  }

  private reportRefused(orderId: string, { claim, owner }: ClaimTaken): void {
    const msg = 'deposit refused: its transaction is a deposit of another order';
    this.logger.error({ msg, order_id: orderId, claim: claim.key, owner });
  }

  /** An order may have been paid out for a deposit that never came. */
  private report(events: readonly OrderEvent[], state: MadeOrder): void {
    for (const { type, data } of events) {
      if (type !== 'order.deposit_missing.v1') continue;
      const msg = 'deposit missing: a reorganisation took it off the chain';
      this.logger.error({ msg, ...data, status: state.status, shortfall: shortfall(state) });
    }
  }

  /** While this process's clock is off, no order ends by it. */
  private async observationOf(status: ProviderStatus, { facts }: MadeOrder): Promise<ProviderObservation> {
    if (!isPlausible(status)) throw new ProviderUnavailable('told what cannot be', 'contradiction');
    const { outcome } = status;
    const at = timestamp(this.clock);
    const mayEnd = isAfter(at, facts.expires_at);
    return {
      ...status,
      outcome:
        outcome?.kind === 'failed' ? { ...outcome, reason: outcome.reason.slice(0, MOST_REASON) } : outcome,
      completeUntil: mayEnd && !(await this.clockHolds()) ? null : status.completeUntil,
      at,
    };
  }

  private async clockHolds(): Promise<boolean> {
    try {
      await this.clockCheck.check();
      return true;
    } catch (error) {
      if (error instanceof ClockOff) return false;
      throw error;
    }
  }
}

/** Without the deposits of a claim that another order has. */
function withoutClaimed(observation: ProviderObservation, { key }: Claim): ProviderObservation {
  const deposits = observation.deposits.filter(({ claim }) => claim !== key);
  return { ...observation, deposits, hasForeignDeposit: true };
}

/** Of the deposits that are about to be recorded. */
function claimsOf({ deposits }: ProviderObservation, events: readonly OrderEvent[]): Claim[] {
  const recorded = new Set(events.flatMap(({ data }) => ('deposit_id' in data ? [data.deposit_id] : [])));
  const keys = deposits.flatMap(({ id, claim }) => (claim === undefined || !recorded.has(id) ? [] : [claim]));
  return [...new Set(keys)].map((key) => ({
    category: 'deposit',
    key,
    field: 'transaction_hash',
    message: 'is a deposit of another order',
  }));
}

function isPlausible({ deposits, completeUntil, outcome }: ProviderStatus): boolean {
  return (
    deposits.every(({ amount, at }) => isDecimal(amount) && isTime(at)) &&
    (completeUntil === null || isTime(completeUntil)) &&
    (outcome?.kind !== 'completed' || outcome.amountTo === null || isDecimal(outcome.amountTo))
  );
}

function isTime(text: string): boolean {
  return !Number.isNaN(Date.parse(text));
}
