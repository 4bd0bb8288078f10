import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { BenchEnvironment } from '../../../bench/support/environment.js';
import { spawnService, startService, type Service } from '../../../bench/support/service.js';
import { ServiceProcess } from './service-process.js';

const DATABASE = 'chaos';

/** A PostgreSQL and a dev chain of the run's own, and any number of service processes that share them. */
export class Shared {
  private constructor(
    readonly environment: BenchEnvironment,
    private readonly masterKey: string,
    readonly pool: pg.Pool,
  ) {}

  static async start(): Promise<Shared> {
    const environment = await BenchEnvironment.start();
    return new Shared(environment, randomBytes(32).toString('hex'), await environment.pool(DATABASE));
  }

  chain(): Promise<{ readonly rpcUrl: string; readonly usdcAddress: string }> {
    return this.environment.chain();
  }

  databaseUrl(name = DATABASE): Promise<string> {
    return this.environment.database(name);
  }

  /** A service process, ready. A name used before gets that one's folder, and so its merchants. */
  service(name: string, env: Readonly<Record<string, string>> = {}): Promise<Service> {
    return startService(this.environment, this.optionsOf(name, env));
  }

  /** A service process that is not started yet. */
  process(name: string, env: Readonly<Record<string, string>>): ServiceProcess {
    return new ServiceProcess(name, (more) =>
      spawnService(this.environment, this.optionsOf(name, { ...env, ...more })),
    );
  }

  close(): Promise<void> {
    return this.environment.close();
  }

  private optionsOf(name: string, env: Readonly<Record<string, string>>) {
    return { name, database: DATABASE, env: { MASTER_KEY: this.masterKey, ...env } };
  }
}

export function portOf({ baseUrl }: { readonly baseUrl: string }): number {
  return Number(new URL(baseUrl).port);
}
