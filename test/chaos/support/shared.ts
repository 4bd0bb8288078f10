import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import type { Child } from '../../../bench/support/children.js';
import { BenchEnvironment } from '../../../bench/support/environment.js';
import { spawnService, startService, type Service } from '../../../bench/support/service.js';

const DATABASE = 'chaos';

/** A PostgreSQL and a dev chain of the run's own, and any number of service processes that share them. */
export class Shared {
  private constructor(
    private readonly environment: BenchEnvironment,
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

  /** A database of that name with the contents of `from`, which by default is the one of the services: none may run. */
  copyDatabase(name: string, from = DATABASE): Promise<void> {
    return this.environment.copyDatabase(from, name);
  }

  dropDatabase(name: string): Promise<void> {
    return this.environment.dropDatabase(name);
  }

  /** A service process, ready. A name used before gets that one's folder, and so its merchants. */
  service(name: string, env: Readonly<Record<string, string>> = {}): Promise<Service> {
    return startService(this.environment, {
      name,
      database: DATABASE,
      env: { MASTER_KEY: this.masterKey, ...env },
    });
  }

  /** Starts a service process and waits for nothing: it may never be ready. */
  async spawn(
    name: string,
    env: Readonly<Record<string, string>>,
  ): Promise<{ readonly child: Child; readonly port: number; readonly dir: string }> {
    return spawnService(this.environment, {
      name,
      database: DATABASE,
      env: { MASTER_KEY: this.masterKey, ...env },
    });
  }

  close(): Promise<void> {
    return this.environment.close();
  }
}

export function portOf({ baseUrl }: { readonly baseUrl: string }): number {
  return Number(new URL(baseUrl).port);
}
