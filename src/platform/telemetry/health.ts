import { withTimeout } from '../timeout.js';
import { sharedMeasurement } from './metrics.js';

interface HealthCheck {
  /** The name in the report, such as `database`. */
  readonly name: string;
  /** Resolves for a working dependency, with an optional detail for operators; otherwise rejects. */
  check(): Promise<string | void>;
}

/** The error of a failed check, with a message for the public health report. */
export class NotReady extends Error {
  override readonly name: string = 'NotReady';
}

interface CheckResult {
  readonly status: 'ok' | 'unavailable';
  readonly detail?: string;
}

const CHECK_TIMEOUT_MS = 2000;

/** The registered dependencies of all parts of the service, which GET /health/ready checks. */
export class HealthRegistry {
  private readonly checks: HealthCheck[] = [];
  private draining = false;
  private readonly measure = sharedMeasurement(() =>
    Promise.all(this.checks.map((check) => this.run(check))),
  );

  register(check: HealthCheck): void {
    this.checks.push(check);
  }

  /** Makes all later reports not ready, so that load balancers send no more requests. */
  drain(): void {
    this.draining = true;
  }

  async report() {
    const results = [...(await this.measure())];
    if (this.draining)
      results.push(['shutdown', { status: 'unavailable', detail: 'shutting down' }] as const);
    const status = results.every(([, result]) => result.status === 'ok') ? 'ok' : 'unavailable';
    return { status, checks: Object.fromEntries(results) };
  }

  private async run(check: HealthCheck): Promise<readonly [string, CheckResult]> {
    try {
      const detail = await withTimeout(CHECK_TIMEOUT_MS, Promise.resolve(check.check()), () => {
        throw new NotReady(`no response within ${CHECK_TIMEOUT_MS} ms`);
      });
      return [check.name, detail === undefined ? { status: 'ok' } : { status: 'ok', detail }];
    } catch (error) {
      // A driver's message may contain addresses and names: the public report omits it.
      const detail = error instanceof NotReady ? error.message : 'not reachable';
      return [check.name, { status: 'unavailable', detail }];
    }
  }
}
