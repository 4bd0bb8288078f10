import { withTimeout } from '../timeout.js';
import { sharedMeasurement } from './metrics.js';

/** One thing the service cannot work without. */
interface HealthCheck {
  /** The name in the report: `database`, `event_store`, `queue`, `chain`, `clock`, `views`. */
  readonly name: string;
  /** Resolves when it works, with what an operator should know all the same; rejects when it does not. */
  check(): Promise<string | void>;
}

/** The reason for a failed check, in words that are public. */
export class NotReady extends Error {
  override readonly name: string = 'NotReady';
}

interface HealthReport {
  readonly status: 'ok' | 'unavailable';
  readonly checks: Readonly<
    Record<string, { readonly status: 'ok' | 'unavailable'; readonly detail?: string }>
  >;
}

/** The timeout of a check. */
const CHECK_TIMEOUT_MS = 2000;

/** Every part of the service registers its dependencies here; GET /health/ready checks all of them. */
export class HealthRegistry {
  private readonly checks: HealthCheck[] = [];
  private draining = false;
  private readonly measure = sharedMeasurement(() =>
    Promise.all(this.checks.map((check) => this.run(check))),
  );

  register(check: HealthCheck): void {
    this.checks.push(check);
  }

  /** Reports not ready from now on, so that load balancers send requests elsewhere. */
  drain(): void {
    this.draining = true;
  }

  async report(): Promise<HealthReport> {
    const results = [...(await this.measure())];
    if (this.draining)
      results.push(['shutdown', { status: 'unavailable', detail: 'shutting down' }] as const);
    const status = results.every(([, result]) => result.status === 'ok') ? 'ok' : 'unavailable';
    return { status, checks: Object.fromEntries(results) };
  }

  private async run(check: HealthCheck): Promise<readonly [string, HealthReport['checks'][string]]> {
    const unavailable = (detail: string) => ({ status: 'unavailable', detail }) as const;
    const outcome = Promise.resolve()
      .then(() => check.check())
      .then(
        (detail) =>
          detail === undefined ? ({ status: 'ok' } as const) : ({ status: 'ok', detail } as const),
        // A driver's message may contain addresses and names. It goes to the log, not to the public report.
        (error: unknown) => unavailable(error instanceof NotReady ? error.message : 'not reachable'),
      );
    const late = `no response within ${CHECK_TIMEOUT_MS} ms`;
    const result = await withTimeout(CHECK_TIMEOUT_MS, outcome, () => unavailable(late));
    return [check.name, result];
  }
}
