import { DomainError } from '../../../kernel/domain-error.js';
import { Logger, type LoggerService } from '@nestjs/common';
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
} from '../application/ports.js';
import { providerDuration, providerErrors } from '../metrics.js';

/** The same sentence of the same operation is logged so often at most: while a provider is away every order asks it. */
const LOG_AGAIN_MS = 60_000;
const MOST_REMEMBERED = 1000;

type Operation = 'quote' | 'create' | 'status' | 'settle' | 'cancel' | 'ping';

/** A provider whose calls are measured, and whose errors are logged: whatever it says stays as it is. */
export class ObservedProvider implements ExchangeProvider {
  readonly name: string;
  private readonly logged = new Map<string, number>();

  constructor(
    private readonly provider: ExchangeProvider,
    private readonly now: () => number = Date.now,
    private readonly log: Pick<LoggerService, 'warn' | 'error'> = new Logger(ObservedProvider.name),
  ) {
    this.name = provider.name;
  }

  get pairIds(): readonly string[] {
    return this.provider.pairIds;
  }

  quote(pairId: string, amountFrom: string | null): Promise<Quote> {
    return this.observed('quote', null, () => this.provider.quote(pairId, amountFrom));
  }

  create(order: NewProviderOrder): Promise<ProviderOrder> {
    return this.observed('create', order.orderId, () => this.provider.create(order));
  }

  status(order: ProviderReference): Promise<ProviderStatus> {
    return this.observed('status', order.orderId, () => this.provider.status(order));
  }

  settle(order: ProviderReference, settlement: Settlement): Promise<void> {
    return this.observed('settle', order.orderId, () => this.provider.settle(order, settlement));
  }

  cancel(order: ProviderReference): Promise<void> {
    return this.observed('cancel', order.orderId, () => this.provider.cancel(order));
  }

  ping(): Promise<void> {
    return this.observed('ping', null, () => this.provider.ping());
  }

  private async observed<T>(
    operation: Operation,
    orderId: string | null,
    call: () => Promise<T>,
  ): Promise<T> {
    const stop = providerDuration.startTimer({ provider: this.name, operation });
    try {
      return await call();
    } catch (error) {
      const kind = kindOf(error);
      providerErrors.inc({ provider: this.name, operation, kind });
      if (isTold(error)) this.tell(operation, kind, orderId, error);
      throw error;
    } finally {
      stop();
    }
  }

  private tell(operation: Operation, kind: string, orderId: string | null, error: unknown): void {
    const message = (error as Error).message;
    // What concerns one order alone must be found under its id; that a provider is away concerns all of them.
    const what = `${operation} ${kind === 'away' ? '' : orderId} ${message}`;
    const now = this.now();
    if (now - (this.logged.get(what) ?? -Infinity) < LOG_AGAIN_MS) return;
    if (this.logged.size >= MOST_REMEMBERED) this.logged.clear();
    this.logged.set(what, now);
    const fields = { provider: this.name, operation, kind, order_id: orderId };
    this.log[kind === 'away' || kind === 'refused' ? 'warn' : 'error']({
      msg: 'the exchange provider gave nothing',
      ...fields,
      ...(kind === 'unexpected' ? { err: error } : { why: message, err: (error as Error).cause }),
    });
  }
}

/** What is the caller's own fault, or only a matter of time, is not for the operator. */
function isTold(error: unknown): boolean {
  if (error instanceof ProviderUnavailable) return error.kind !== 'later';
  return !(error instanceof DomainError || (error instanceof ProviderRefused && error.parameter !== null));
}

function kindOf(error: unknown): ProviderUnavailable['kind'] | 'refused' | 'invalid' | 'unexpected' {
  if (error instanceof ProviderUnavailable) return error.kind;
  if (error instanceof ProviderRefused) return 'refused';
  return error instanceof DomainError ? 'invalid' : 'unexpected';
}
